"""The clients for code without asyncio: a loop in a thread, and calls that wait for it.

Each class has the name, arguments, methods and errors of its counterpart in
`rmqcore.client`, whose coroutines are plain methods here; `async with` becomes `with`.
There is no second implementation: every call is handed to one event loop, which a
daemon thread of the process runs from the first call on, and all clients share it.

`send_async` returns a `concurrent.futures.Future` and costs no trip to the loop and
back. As always, plain listeners run in threads, and may call any of these clients; code
on the loop itself (a coroutine, an observer) may not, and gets `StateError`, as it
would wait for itself. A client that is never shut down ends with the process as in a
crash.

Cost: two thread switches for each call that waits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Concatenate, Final, Generic, ParamSpec, Self, TypeVar

from rmqcore.allocation import AllocateStrategy
from rmqcore.client.consumer.lite_pull_consumer import LITE_BATCH, POLL_TIMEOUT_S
from rmqcore.client.producer.selectors import Selector
from rmqcore.client.producer.sending import SendResult
from rmqcore.loop_thread import LoopThread
from rmqcore.model import Message, MessageExt, MessageQueue

from .consumer import lite_pull_consumer, push_consumer
from .producer import producer

__all__ = ["LitePullConsumer", "Producer", "PushConsumer"]

T = TypeVar("T")
P = ParamSpec("P")
C = TypeVar(
    "C",
    producer.Producer,
    push_consumer.PushConsumer,
    lite_pull_consumer.LitePullConsumer,
)
G = TypeVar("G", push_consumer.PushConsumer, lite_pull_consumer.LitePullConsumer)


PROCESS_LOOP: Final = LoopThread("rmqcore-loop", starts_itself=True)


def _arguments_of(
    client: Callable[P, object],
) -> Callable[[Callable[..., None]], Callable[Concatenate[Any, P], None]]:
    """Give a constructor the signature of the asyncio client's."""

    def same(init: Callable[..., None]) -> Callable[Concatenate[Any, P], None]:
        init.__doc__ = client.__doc__
        return init

    return same


class _Face(Generic[C]):
    """The common part of all three: identity and life cycle."""

    _client: C

    @property
    def group(self) -> str:
        """The group that it sends or consumes for."""
        return self._client.group

    @property
    def client_id(self) -> str:
        """The client id, by which brokers know it."""
        return self._client.client_id

    def start(self) -> None:
        """Join the cluster."""
        PROCESS_LOOP.call(self._client.start())

    def shutdown(self) -> None:
        """Leave the cluster; may be called twice."""
        PROCESS_LOOP.call(self._client.shutdown())

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.shutdown()


class Producer(_Face[producer.Producer]):
    """Sends messages for one producer group, from any thread."""

    @_arguments_of(producer.Producer)
    def __init__(self, *args: Any, **options: Any) -> None:
        self._client = producer.Producer(*args, **options)
        under_way = options.get("max_under_way", producer.MAX_UNDER_WAY)
        self._under_way = threading.Semaphore(under_way)

    def send(
        self,
        message: Message,
        *,
        queue: MessageQueue | None = None,
        select: Selector | None = None,
    ) -> SendResult:
        """Send a message and return where it went."""
        return PROCESS_LOOP.call(self._client.send(message, queue=queue, select=select))

    def send_batch(
        self,
        messages: Sequence[Message],
        *,
        queue: MessageQueue | None = None,
        select: Selector | None = None,
    ) -> SendResult:
        """Send messages of one topic in one request; all are stored, or none."""
        return PROCESS_LOOP.call(
            self._client.send_batch(messages, queue=queue, select=select)
        )

    def send_async(
        self,
        message: Message,
        *,
        queue: MessageQueue | None = None,
        select: Selector | None = None,
    ) -> Future[SendResult]:
        """Send a message; the future ends with where it went, or with the error.

        Waits only while too many sends are under way.
        """

        async def work() -> SendResult:
            sent = await self._client.send_async(message, queue=queue, select=select)
            return await sent

        self._under_way.acquire()
        future = PROCESS_LOOP.submit(work())
        future.add_done_callback(lambda _: self._under_way.release())
        return future

    def send_oneway(
        self,
        message: Message,
        *,
        queue: MessageQueue | None = None,
        select: Selector | None = None,
    ) -> None:
        """Send a message without asking for an answer; it may be lost unnoticed."""
        PROCESS_LOOP.call(self._client.send_oneway(message, queue=queue, select=select))

    def publish_queues(self, topic: str) -> list[MessageQueue]:
        """Return the writable queues of a topic; `RouteError` when there is none."""
        return PROCESS_LOOP.call(self._client.publish_queues(topic))


class _ConsumerFace(_Face[G]):
    """The common part of the two consumers: subscriptions and queues."""

    def subscribe(self, topic: str, expression: str = "*") -> None:
        """Subscribe to a topic: all of it, or tags such as `TagA || TagB`."""
        PROCESS_LOOP.ask(lambda: self._client.subscribe(topic, expression))

    def unsubscribe(self, topic: str) -> None:
        """Unsubscribe from a topic; its queues are released with the next rebalance."""
        PROCESS_LOOP.ask(lambda: self._client.unsubscribe(topic))

    @property
    def queues(self) -> list[MessageQueue]:
        """The queues held now, sorted; empty when not running."""
        return PROCESS_LOOP.ask(lambda: self._client.queues)


class PushConsumer(_ConsumerFace[push_consumer.PushConsumer]):
    """A member of a consumer group, whose listener is called in threads."""

    @_arguments_of(push_consumer.PushConsumer)
    def __init__(self, *args: Any, **options: Any) -> None:
        self._client = push_consumer.PushConsumer(*args, **options)

    @property
    def paused(self) -> bool:
        """Whether pulling is paused."""
        return PROCESS_LOOP.ask(lambda: self._client.paused)

    def pause(self) -> None:
        """Stop pulling; what has been pulled is still consumed."""
        PROCESS_LOOP.ask(self._client.pause)

    def resume(self) -> None:
        """Pull again."""
        PROCESS_LOOP.ask(self._client.resume)

    def rebalance(self) -> bool:
        """Rebalance now; return False when something has to be tried again."""
        return PROCESS_LOOP.call(self._client.rebalance())

    def switch_strategy(
        self,
        strategy: str | AllocateStrategy,
        strategy_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Divide by another strategy from now on."""
        PROCESS_LOOP.ask(
            lambda: self._client.switch_strategy(strategy, strategy_options)
        )

    def abandon(self) -> None:
        """Leave without writing anything."""
        PROCESS_LOOP.call(self._client.abandon())


class LitePullConsumer(_ConsumerFace[lite_pull_consumer.LitePullConsumer]):
    """Polls messages of subscribed topics or assigned queues, from any thread."""

    @_arguments_of(lite_pull_consumer.LitePullConsumer)
    def __init__(self, *args: Any, **options: Any) -> None:
        self._client = lite_pull_consumer.LitePullConsumer(*args, **options)

    def assign(self, queues: Iterable[MessageQueue]) -> None:
        """Take exactly these queues, whoever else has them."""
        PROCESS_LOOP.call(self._client.assign(queues))

    def poll(
        self, timeout_s: float = POLL_TIMEOUT_S, max_messages: int = LITE_BATCH
    ) -> list[MessageExt]:
        """Return messages of one queue, in order; empty when none came in time."""
        return PROCESS_LOOP.call(self._client.poll(timeout_s, max_messages))

    def commit(self) -> None:
        """Persist the positions that polling has reached."""
        PROCESS_LOOP.call(self._client.commit())

    def committed(self, queue: MessageQueue) -> int | None:
        """Return the group's committed offset of a queue, None when there is none."""
        return PROCESS_LOOP.call(self._client.committed(queue))

    def seek(self, queue: MessageQueue, offset: int) -> None:
        """Continue from an offset of a queue that is held."""
        PROCESS_LOOP.ask(lambda: self._client.seek(queue, offset))

    def seek_to_begin(self, queue: MessageQueue) -> None:
        """Continue from the oldest message that the broker has."""
        PROCESS_LOOP.call(self._client.seek_to_begin(queue))

    def seek_to_end(self, queue: MessageQueue) -> None:
        """Skip every message that is there now."""
        PROCESS_LOOP.call(self._client.seek_to_end(queue))

    def pause(self, queues: Iterable[MessageQueue]) -> None:
        """Stop pulling these queues."""
        PROCESS_LOOP.ask(lambda: self._client.pause(queues))

    def resume(self, queues: Iterable[MessageQueue]) -> None:
        """Pull these queues again."""
        PROCESS_LOOP.ask(lambda: self._client.resume(queues))

    def fetch_message_queues(self, topic: str) -> list[MessageQueue]:
        """Return the readable queues of a topic; empty when it does not exist."""
        return PROCESS_LOOP.call(self._client.fetch_message_queues(topic))

    def offset_for_timestamp(self, queue: MessageQueue, time_ms: int) -> int:
        """Return the offset of the first message stored at or after a time."""
        return PROCESS_LOOP.call(self._client.offset_for_timestamp(queue, time_ms))
