"""The producer: sends messages to a topic's queues, elsewhere when a broker fails.

The queue is given, chosen by a selector (then there is one attempt: another queue would
break the order), or taken in turn. In turn, a send that fails for a reason that another
broker may not have is tried again there, by default twice, within the time of the whole
send. A send that timed out is not repeated, or a slow broker would get more to do. A
refusal because of the message itself is raised at once. A message may be stored twice
when an answer was lost: RocketMQ delivers at least once.

`send` waits for the answer. `send_async` returns once the request is on its way, and
its future ends with the answer: that is the fast way, and the number under way is
limited. `send_oneway` has no answer at all.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Unpack

from rmqcore.client.instance.client_instance import ClientInstance
from rmqcore.client.instance.client_spec import ClientOptions, ClientSpec
from rmqcore.errors import (
    ArgumentError,
    RequestTimeoutError,
    ResponseError,
    RmqError,
    RouteError,
    StateError,
    TransportError,
)
from rmqcore.model import Message, MessageQueue
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand

from .faults import BrokerFaults
from .selectors import RoundRobin, Selector
from .sending import Sender, SendResult, read_send_response

logger = logging.getLogger(__name__)

SEND_TIMEOUT_S: Final = 3.0
RETRIES: Final = 2
MAX_UNDER_WAY: Final = 1024
"""How many asynchronous sends may wait for their answers."""

RETRY_ELSEWHERE: Final = frozenset(
    (
        ResponseCode.SYSTEM_ERROR,
        ResponseCode.SYSTEM_BUSY,
        ResponseCode.SERVICE_NOT_AVAILABLE,
        ResponseCode.NO_PERMISSION,
        ResponseCode.TOPIC_NOT_EXIST,
        ResponseCode.NO_BUYER_ID,
        ResponseCode.NOT_IN_CURRENT_UNIT,
        ResponseCode.GO_AWAY,
        ResponseCode.NOT_LEADER_FOR_QUEUE,
    )
)
"""Answers after which another broker may take the message."""

_Make = Callable[[MessageQueue], tuple[RemotingCommand, str]]


class Producer:
    """Sends messages for one producer group. Belongs to one event loop."""

    def __init__(
        self,
        nameservers: str | Iterable[str],
        *,
        group: str = "DEFAULT_PRODUCER",
        send_timeout_s: float = SEND_TIMEOUT_S,
        retries: int = RETRIES,
        latency_fault: bool = False,
        max_under_way: int = MAX_UNDER_WAY,
        **client: Unpack[ClientOptions],
    ) -> None:
        if not group.strip():
            raise ArgumentError("a producer needs a group, got an empty one")
        if retries < 0:
            raise ArgumentError(f"retries {retries}, must not be negative")
        self.group = group
        self._client = ClientSpec.of(nameservers, client)
        self._timeout_s = send_timeout_s
        self._retries = retries
        self._faults = BrokerFaults() if latency_fault else None
        self._under_way = asyncio.Semaphore(max_under_way)
        self._turns: dict[str, RoundRobin] = {}
        self._running: tuple[ClientInstance, Sender] | None = None

    @property
    def client_id(self) -> str:
        """The client id, by which brokers know this producer."""
        return self._client.client_id

    # Life

    async def start(self) -> None:
        """Join the cluster; raise `StateError` when it has been started."""
        if self._running is not None:
            raise StateError(f"producer {self.group} has been started")
        instance = self._client.acquire()
        try:
            await instance.add_producer(self.group)
        except BaseException:
            await self._client.release(instance)
            raise
        self._running = instance, Sender(instance.calls, self.group)

    async def shutdown(self) -> None:
        """Leave the cluster; sends still under way fail. May be called twice."""
        if self._running is None:
            return
        (instance, _), self._running = self._running, None
        await instance.remove_producer(self.group)
        await self._client.release(instance)

    async def __aenter__(self) -> Producer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.shutdown()

    # Sending

    async def send(
        self,
        message: Message,
        *,
        queue: MessageQueue | None = None,
        select: Selector | None = None,
    ) -> SendResult:
        """Send a message and return where it went.

        Raises `RouteError` for a topic without writable queues, `ResponseError` for a
        broker's refusal, and `TransportError` when no attempt got an answer in time.
        """
        instance, sender = self._started()
        now_ms = instance.now_ms()
        return await self._send(
            message.topic,
            lambda to: sender.send_command(message, to, now_ms, oneway=False),
            queue,
            select,
        )

    async def send_batch(
        self,
        messages: Sequence[Message],
        *,
        queue: MessageQueue | None = None,
        select: Selector | None = None,
    ) -> SendResult:
        """Send messages of one topic in one request; all are stored, or none."""
        instance, sender = self._started()
        if not messages:
            raise ArgumentError("a batch needs at least one message")
        now_ms = instance.now_ms()
        return await self._send(
            messages[0].topic,
            lambda to: sender.batch_command(messages, to, now_ms),
            queue,
            select,
        )

    async def send_async(
        self,
        message: Message,
        *,
        queue: MessageQueue | None = None,
        select: Selector | None = None,
    ) -> asyncio.Future[SendResult]:
        """Send a message; the future returned ends with where it went.

        Waits only while too many sends are under way, or for a route or connection.
        """
        instance, sender = self._started()
        await self._under_way.acquire()
        outcome: asyncio.Future[SendResult] = asyncio.get_running_loop().create_future()
        to = queue
        try:
            to = queue or await self._choose(message.topic, select, ())
            address = await instance.master(to)
            channel = await instance.pool.channel(address)
            began = instance.clock.monotonic()
            now_ms = instance.now_ms()
            command, unique = sender.send_command(message, to, now_ms, oneway=False)
            answer = instance.pool.send_nowait(
                channel, address, command, self._timeout_s
            )
        except TransportError as error:
            if to is not None:
                self._report(instance, to, 0.0, failed=True)
            self._elsewhere(outcome, message, queue or select, error)
            return outcome
        except BaseException:
            self._under_way.release()
            raise

        def answered(done: asyncio.Future[RemotingCommand]) -> None:
            try:
                result = read_send_response(
                    done.result(),
                    request_code=command.code,
                    address=address,
                    queue=to,
                    unique=unique,
                )
            except RmqError as error:
                self._report(instance, to, began, failed=True)
                self._elsewhere(outcome, message, queue or select, error)
            else:
                self._report(instance, to, began, failed=False)
                self._under_way.release()
                if not outcome.done():
                    outcome.set_result(result)

        answer.add_done_callback(answered)
        return outcome

    async def send_oneway(
        self,
        message: Message,
        *,
        queue: MessageQueue | None = None,
        select: Selector | None = None,
    ) -> None:
        """Send a message without asking for an answer; it may be lost unnoticed."""
        instance, sender = self._started()
        to = queue or await self._choose(message.topic, select, ())
        address = await instance.master(to)
        command, _ = sender.send_command(message, to, instance.now_ms(), oneway=True)
        await instance.pool.oneway(address, command)

    async def publish_queues(self, topic: str) -> list[MessageQueue]:
        """Return the writable queues of a topic.

        Raises `RouteError` when there is none: the topic is unknown and the brokers do
        not create topics.
        """
        instance, _ = self._started()
        queues = instance.routes.publish_queues(topic)
        if not queues:
            await instance.fetch_route(topic, for_publish=True)
            queues = instance.routes.publish_queues(topic)
            await instance.heartbeat()
        if not queues:
            raise RouteError(f"topic {topic} has no writable queue")
        return queues

    # Private

    def _started(self) -> tuple[ClientInstance, Sender]:
        if self._running is None:
            raise StateError(f"producer {self.group} is not running")
        return self._running

    async def _send(
        self,
        topic: str,
        make: _Make,
        queue: MessageQueue | None,
        select: Selector | None,
    ) -> SendResult:
        attempts = 1 if queue or select else 1 + self._retries
        monotonic = self._started()[0].clock.monotonic
        ends = monotonic() + self._timeout_s
        failed: list[str] = []
        followed = False
        while True:
            to = queue or await self._choose(topic, select, failed)
            try:
                return await self._attempt(to, make, ends - monotonic())
            except (TransportError, ResponseError, RouteError) as error:
                if _has_moved(error) and not followed:
                    # A logical queue has another broker now, which the route names.
                    followed = await self._started()[0].fetch_route(topic)
                    if followed:
                        continue
                failed.append(self._broker_name(to))
                is_last = len(failed) >= attempts or monotonic() >= ends
                if is_last or not _may_work_elsewhere(error):
                    raise
                logger.warning("topic=%s queue=%s tried again: %s", topic, to, error)

    async def _attempt(
        self, to: MessageQueue, make: _Make, timeout_s: float
    ) -> SendResult:
        instance, _ = self._started()
        began = instance.clock.monotonic()
        failed = True
        try:
            address = await instance.master(to)
            command, unique = make(to)
            response = await instance.pool.request(address, command, timeout_s)
            result = read_send_response(
                response,
                request_code=command.code,
                address=address,
                queue=to,
                unique=unique,
            )
            failed = False
            return result
        finally:
            self._report(instance, to, began, failed=failed)

    def _broker_name(self, queue: MessageQueue) -> str:
        return self._started()[0].routes.broker_name(queue)

    def _report(
        self, instance: ClientInstance, to: MessageQueue, began: float, *, failed: bool
    ) -> None:
        """Note how a send went, where slow brokers are to be avoided."""
        if self._faults is not None:
            took_ms = (instance.clock.monotonic() - began) * 1000
            self._faults.report(
                self._broker_name(to), took_ms, instance.now_ms(), failed=failed
            )

    async def _choose(
        self, topic: str, select: Selector | None, failed: Sequence[str]
    ) -> MessageQueue:
        queues = await self.publish_queues(topic)
        if select is not None:
            return select(queues)
        turn = self._turns.get(topic)
        if turn is None:
            turn = self._turns[topic] = RoundRobin(self._started()[0].rng)
        avoid = set(failed)
        if self._faults is not None:
            names = {self._broker_name(queue) for queue in queues}
            avoid |= self._faults.avoided(names, self._started()[0].now_ms())
        return turn.choose(queues, avoid, self._broker_name)

    def _elsewhere(
        self,
        outcome: asyncio.Future[SendResult],
        message: Message,
        fixed: object,
        error: RmqError,
    ) -> None:
        """Retry a failed asynchronous send where that makes sense."""
        if self._running is None or fixed or not _may_work_elsewhere(error):
            self._failed(outcome, error)
            return

        async def again() -> None:
            try:
                result = await self.send(message)
            except RmqError as last:
                self._failed(outcome, last)
            else:
                self._under_way.release()
                if not outcome.done():
                    outcome.set_result(result)

        task = self._running[0].spawn(again())
        # If shut down meanwhile, callers must not wait for the outcome for ever.
        task.add_done_callback(lambda _: outcome.cancel())

    def _failed(self, outcome: asyncio.Future[SendResult], error: RmqError) -> None:
        self._under_way.release()
        if not outcome.done():
            outcome.set_exception(error)
            # Read it here, or the loop complains when the caller never does.
            outcome.exception()


def _has_moved(error: RmqError) -> bool:
    return (
        isinstance(error, ResponseError)
        and error.code == ResponseCode.NOT_LEADER_FOR_QUEUE
    )


def _may_work_elsewhere(error: RmqError) -> bool:
    if isinstance(error, ResponseError):
        return error.code in RETRY_ELSEWHERE
    return not isinstance(error, RequestTimeoutError)
