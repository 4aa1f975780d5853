"""A client instance: one client id of one process, shared by its groups.

It owns the channels, the routes, the heartbeats and the timers; every producer and
every group member of the client id registers here. It does not know how messages are
consumed: members do their own work when called.

Invariants. A group is registered at most once (A5c). Heartbeats always go to masters,
to slaves only when there is a consumer, and at once to a broker that a new route names:
it refuses pulls of groups that it does not know. The instance stops when its last user
leaves, and cannot be started again.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from random import Random
from typing import Any, TypeVar

from rmqcore.errors import ResponseError, RmqError, RouteError, StateError
from rmqcore.model import BrokerData, HeartbeatData, MessageQueue
from rmqcore.model.route import MASTER_ID
from rmqcore.model.topic import AUTO_CREATE_TOPIC
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand, SerializeType
from rmqcore.timers import Timer
from rmqcore.transport import (
    Channel,
    ChannelPool,
    Clock,
    NameServers,
    RequestHook,
    SystemClock,
)

from .calls import BrokerCalls
from .member import GroupMember
from .processors import answer_broker
from .routes import DEFAULT_TOPIC_QUEUE_NUMS, RouteTable

T = TypeVar("T")

logger = logging.getLogger(__name__)


class ClientInstance:
    """One client id. Belongs to one event loop; get it from `InstanceRegistry`."""

    def __init__(
        self,
        client_id: str,
        nameservers: Sequence[str],
        *,
        clock: Clock | None = None,
        tls: ssl.SSLContext | None = None,
        hooks: Sequence[RequestHook] = (),
        rng: Random | None = None,
        serialize_type: SerializeType = SerializeType.JSON,
    ) -> None:
        self.client_id = client_id
        self.clock: Clock = clock or SystemClock()
        self.rng = rng or Random()  # noqa: S311 - spreads load, guards nothing
        self.pool = ChannelPool(
            handler=self._answer, tls=tls, hooks=hooks, on_close=self._channel_ended
        )
        self.calls = BrokerCalls(self.pool, serialize_type)
        self.nameservers = NameServers(
            nameservers, self.pool, first=self.rng.randrange(len(nameservers))
        )
        self.routes = RouteTable()
        self.members: dict[str, GroupMember] = {}
        self.producers: set[str] = set()
        self.notices: Counter[str] = Counter()
        """How often brokers have said that a group changed (E4), by group."""
        self.stopped = False
        self.epoch_ms = self.clock.time_ms() - self.clock.monotonic() * 1000
        """The base that monotonic time is added to, for a wall time that never steps.

        Ages of locks and pulls are taken from that time.
        """
        self._background: set[asyncio.Task[Any]] = set()
        self._greeted: set[str] = set()

    def now_ms(self) -> int:
        """Return milliseconds since the epoch that never step back."""
        return int(self.epoch_ms + self.clock.monotonic() * 1000)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something in the background; it ends with the instance at the latest."""
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._forget)
        return task

    # Groups

    async def add_member(self, member: GroupMember) -> None:
        """Register a consumer group, fetch its routes and tell the brokers.

        Raises `StateError` when the group is already registered (A5c), and
        `ConnectError` when no name server answers.
        """
        if member.group in self.members:
            raise StateError(
                f"group {member.group} has been started on client {self.client_id}"
            )
        self.members[member.group] = member
        try:
            await self._fetch_routes(member.topics())
            await self.heartbeat()
            # Brokers make a group's retry topic when they first hear of the group.
            await self._fetch_routes(
                topic for topic in member.topics() if not self.routes.known(topic)
            )
        except BaseException:
            del self.members[member.group]
            raise

    async def remove_member(self, group: str) -> None:
        """Leave a consumer group; brokers tell the other members, which take over."""
        if self.members.pop(group, None) is None:
            return
        await self._at_brokers(
            lambda address: self.calls.unregister(
                address, self.client_id, consumer_group=group
            )
        )

    async def add_producer(self, group: str) -> None:
        """Register a producer group; raise `StateError` when it is registered."""
        if group in self.producers:
            raise StateError(
                f"producer group {group} has been started on client {self.client_id}"
            )
        self.producers.add(group)

    async def remove_producer(self, group: str) -> None:
        """Leave a producer group."""
        if group not in self.producers:
            return
        self.producers.remove(group)
        await self._at_brokers(
            lambda address: self.calls.unregister(
                address, self.client_id, producer_group=group
            )
        )

    # The six pieces of work

    async def run_timer(self, timer: Timer) -> None:
        """Do one piece of periodic work for every member of this client."""
        members = list(self.members.values())
        match timer:
            case Timer.HEARTBEAT:
                await self.heartbeat()
            case Timer.REFRESH_ROUTES:
                await self.refresh_routes()
            case Timer.REBALANCE:
                await asyncio.gather(*(member.rebalance() for member in members))
            case Timer.RENEW_LOCKS:
                await asyncio.gather(*(member.renew_locks() for member in members))
            case Timer.PERSIST_OFFSETS:
                await asyncio.gather(*(member.persist_offsets() for member in members))
            case Timer.EXPIRE_STUCK:
                await asyncio.gather(*(member.expire_stuck() for member in members))

    async def heartbeat(self) -> None:
        """Send a heartbeat to every broker it should go to."""
        await asyncio.gather(*(self.greet(broker) for broker in self.routes.brokers))

    async def greet(self, broker: BrokerData) -> None:
        """Send a heartbeat to one broker; the next one makes up for a failure."""
        if not self.members and not self.producers:
            return
        data = self._heartbeat_data()
        for address in self._addresses(broker):
            await self._send_heartbeat(address, data)

    async def greet_broker_of(self, queue: MessageQueue) -> None:
        """Send a heartbeat to the broker of a queue, if any route names it."""
        broker_name = self.routes.broker_name(queue)
        for broker in self.routes.brokers:
            if broker.broker_name == broker_name:
                await self.greet(broker)

    async def refresh_routes(self) -> None:
        """Fetch the routes of every topic in use; greet brokers that are new.

        Raises `ConnectError` when no name server answers.
        """
        topics = {
            topic for member in self.members.values() for topic in member.topics()
        }
        topics.update(self.routes.publish_topics())
        await self._fetch_routes(topics)
        new = [
            broker
            for broker in self.routes.brokers
            if not self._greeted.issuperset(self._addresses(broker))
        ]
        await asyncio.gather(*(self.greet(broker) for broker in new))

    # Questions of members and producers

    async def fetch_route(self, topic: str, *, for_publish: bool = False) -> bool:
        """Fetch one topic's route; return True when the topic exists.

        For publishing, a topic that does not exist gets the route of the default topic,
        whose brokers will create it at the first message.
        """
        route = await self.nameservers.route(topic)
        if route is not None:
            self.routes.update(topic, route)
            return True
        if for_publish and not self.routes.known(topic):
            default = await self.nameservers.route(AUTO_CREATE_TOPIC)
            if default is not None:
                self.routes.publish_like(topic, default, DEFAULT_TOPIC_QUEUE_NUMS)
        return False

    async def consumer_ids(self, topic: str, group: str) -> list[str] | None:
        """Return the client ids of a group as a broker of the topic lists them.

        Return None when no broker could say: the caller keeps what it has.
        """
        brokers = list(self.routes.brokers_of(topic))
        self.rng.shuffle(brokers)
        for broker in brokers:
            if (address := broker.any_address) is None:
                continue
            try:
                return await self.calls.consumer_ids(address, group)
            except RmqError as error:
                logger.warning(
                    "group=%s topic=%s broker=%s lists no members: %s",
                    group,
                    topic,
                    broker.broker_name,
                    error,
                )
        return None

    async def master(self, queue: MessageQueue) -> str:
        """Return the address of a queue's master; fetch the route when it is unknown.

        Of a logical queue, that is the master of the broker that leads it.
        """
        try:
            return self.routes.master(queue)
        except RouteError:
            await self.fetch_route(queue.topic)
            return self.routes.master(queue)

    async def at_master(
        self, queue: MessageQueue, call: Callable[[str], Awaitable[T]]
    ) -> T:
        """Return what a call to the queue's master returns.

        When a logical queue has moved to another broker, that one is called instead.
        """
        try:
            return await call(await self.master(queue))
        except ResponseError as error:
            if error.code != ResponseCode.NOT_LEADER_FOR_QUEUE:
                raise
        await self.fetch_route(queue.topic)
        return await call(await self.master(queue))

    async def stop(self) -> None:
        """Close everything; members and producers must have left."""
        self.stopped = True
        tasks = list(self._background)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.pool.close()

    # Private

    def _answer(self, channel: Channel, command: RemotingCommand) -> Any:
        return answer_broker(self, channel, command)

    def _channel_ended(self, channel: Channel) -> None:
        # The broker forgets a client with its channel: it has to be greeted again.
        self._greeted.discard(channel.remote_address)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._background.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error(
                "client=%s background work failed", self.client_id, exc_info=error
            )

    def _heartbeat_data(self) -> HeartbeatData:
        return HeartbeatData(
            self.client_id,
            producers=tuple(sorted(self.producers)),
            consumers=tuple(m.consumer_data() for m in self.members.values()),
        )

    def _addresses(self, broker: BrokerData) -> list[str]:
        return [
            address
            for broker_id, address in broker.addresses.items()
            if broker_id == MASTER_ID or self.members
        ]

    async def _send_heartbeat(self, address: str, data: HeartbeatData) -> None:
        try:
            await self.calls.heartbeat(address, data)
            self._greeted.add(address)
        except RmqError as error:
            self._greeted.discard(address)
            logger.warning(
                "client=%s broker=%s heartbeat failed: %s",
                self.client_id,
                address,
                error,
            )

    async def _fetch_routes(self, topics: Iterable[str]) -> None:
        async def fetch(topic: str) -> None:
            fresh = not self.routes.known(topic)
            if await self.fetch_route(topic) and fresh:
                for member in self.members.values():
                    if topic in member.topics():
                        member.rebalance_soon()

        await asyncio.gather(*(fetch(topic) for topic in topics))

    async def _at_brokers(self, call: Any) -> None:
        async def attempt(address: str) -> None:
            try:
                await call(address)
            except RmqError as error:
                logger.warning(
                    "client=%s broker=%s did not hear that we leave: %s",
                    self.client_id,
                    address,
                    error,
                )

        addresses = {
            address
            for broker in self.routes.brokers
            for address in broker.addresses.values()
        }
        await asyncio.gather(*(attempt(address) for address in addresses))
