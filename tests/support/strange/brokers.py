"""Brokers and name servers that answer from a truth, and fail as a step says.

They are the scripted ones of the admin room's tests, served by a `Network`: what they
say passes through the project's own encoders, frames and channels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rmqcore.model.queue import MessageQueue
from rmqcore.model.route import BrokerData
from rmqcore.model.subscription import ConsumeType, MessageModel, SubscriptionData
from rmqcore.model.topic import TopicConfig
from rmqcore.protocol.bodies import (
    ClientConnection,
    ConsumerConnection,
    ConsumerRunningInfo,
    ProcessQueueInfo,
    encode_consumer_running_info,
)
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport.channel import Channel
from tests.rmqcore.admin import scripted
from tests.rmqcore.admin.scripted import Answer, Contents, ScriptedBroker

from .histories import NAME_SERVERS, Fault, NameServer, Step
from .network import Network
from .truth import Group, Process, Truth

NEVER_S: Final = 100.0
"""Later than anybody waits."""

LAG_MS: Final = 10
"""So many milliseconds for each message that waits is the age of the oldest."""

NAME_SERVER_ADDRESSES: Final = tuple(f"10.1.0.{n}:9876" for n in range(NAME_SERVERS))

_FAULTS: Final = {
    "silent": scripted.silent,
    "late": scripted.late(NEVER_S),
    "busy": scripted.busy,
    "denied": scripted.denied,
    "failed": scripted.failed,
    "garbage": scripted.garbage,
}


class StrangeBroker(ScriptedBroker):
    """One address of a broker; answers to `unseen` codes are from `before`."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.before = self.after = Truth({})
        self.unseen: tuple[int, ...] = ()
        self.answers[RequestCode.GET_CONSUMER_RUNNING_INFO] = self._told

    def handle(self, channel: Channel, request: RemotingCommand) -> Answer:
        """Answer one request."""
        truth = self.before if request.code in self.unseen else self.after
        self.contents = contents_of(truth, self.name)
        return self._handle(channel, request)

    def _told(self, request: RemotingCommand) -> Answer:
        truth = self.before if request.code in self.unseen else self.after
        group = truth.groups.get(request.ext_fields["consumerGroup"])
        client_id = request.ext_fields.get("clientId", "")
        for each in () if group is None else group.processes:
            listed = each.brokers is None or self.name in each.brokers
            if group and each.client_id == client_id and listed and each.answers:
                return request.response(
                    body=encode_consumer_running_info(running_info(each))
                )
        return request.response(ResponseCode.SYSTEM_ERROR, "client not online")


class StrangeCluster:
    """All addresses of a cluster on one network, changed from step to step."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._masters: dict[str, StrangeBroker] = {}
        self._slaves: dict[str, StrangeBroker] = {}
        self._name_servers = [
            scripted.ScriptedNameServer() for _ in NAME_SERVER_ADDRESSES
        ]

    async def play(
        self, step: Step, before: Truth, after: Truth, behind: Truth
    ) -> None:
        """Let every address answer from now on as the step says; slaves are behind."""
        faults = {}
        for place, name in enumerate(after.brokers):
            faults[name] = step.faults.get(name)
            await self._set(place, name, faults[name], step, (before, after, behind))
        for number, at in enumerate(NAME_SERVER_ADDRESSES):
            naming = step.naming.get(number, NameServer())
            self._name_servers[number].brokers = _named(after, naming, faults)
            if naming.down:
                await self._network.cut(at)
            else:
                self._network.serve(at, self._name_servers[number]._handle)

    async def _set(
        self,
        place: int,
        name: str,
        fault: Fault | None,
        step: Step,
        truths: tuple[Truth, Truth, Truth],
    ) -> None:
        master = self._masters.setdefault(name, StrangeBroker(name))
        slave = self._slaves.setdefault(name, StrangeBroker(name))
        master.before, master.after, behind = truths
        master.unseen = step.unseen
        slave.before = slave.after = behind
        master.faults = {} if fault is None else _faults(fault)
        ill = None if fault is None else fault.ill
        await self._serve(_address(place, 0), master, ill not in ("cut", "slave"))
        await self._serve(_address(place, 1), slave, ill in ("slave", "headless"))

    async def _serve(self, address: str, broker: StrangeBroker, up: bool) -> None:
        if up:
            self._network.serve(address, broker.handle)
        else:
            await self._network.cut(address)


def contents_of(truth: Truth, broker: str) -> Contents:
    """Return what one broker holds of a truth."""
    topics = truth.brokers.get(broker, {})
    contents = Contents(
        topics={name: dict(enumerate(topic.offsets)) for name, topic in topics.items()},
        configs={
            name: TopicConfig(name, topic.listed_queues, topic.listed_queues)
            for name, topic in topics.items()
        },
        groups={name for name in truth.groups if name},
    )
    for group in truth.groups.values():
        connection = _connection(group, broker)
        if connection.connections:
            contents.members[group.name] = connection
        for (topic, at, queue_id), offset in group.committed.items():
            if at != broker:
                continue
            contents.committed.setdefault(f"{topic}@{group.name}", {})[queue_id] = (
                offset
            )
            lag = truth.value(group.name, (topic, at, queue_id), "lag")
            delays = contents.delays.setdefault((group.name, topic), {})
            delays[queue_id] = (lag or 0) * LAG_MS
            contents.pulled.setdefault(group.name, {})[topic, queue_id] = offset + 1
    return contents


def running_info(process: Process) -> ConsumerRunningInfo:
    """Return what a member says of itself (307)."""
    held = {MessageQueue(*key): ProcessQueueInfo() for key in process.holds}
    told = scripted.running_info(topics=dict(process.reads))
    strategy = process.strategy
    properties = {
        name: value
        for name, value in told.properties.items()
        if name != "allocateMessageQueueStrategy"
    }
    if strategy is not None:
        properties["allocateMessageQueueStrategy"] = strategy
    return replace(
        told,
        properties=properties,
        queues={} if process.shares else held,
        pop_queues={queue: {} for queue in held} if process.shares else {},
    )


def _connection(group: Group, broker: str) -> ConsumerConnection:
    here = [p for p in group.processes if p.brokers is None or broker in p.brokers]
    return ConsumerConnection(
        tuple(
            ClientConnection(f"10.2.0.{number}:1000", each.client_id, "JAVA", 513)
            for number, each in enumerate(here)
        ),
        # The heartbeat that came last is the group's, whatever the others read.
        {
            topic: SubscriptionData(topic, expression, sub_version=1)
            for each in here
            for topic, expression in each.reads.items()
        },
        ConsumeType(group.consume_type),
        MessageModel(group.mode_at.get(broker, group.mode)),
    )


def _faults(fault: Fault) -> dict[int, scripted.Fault]:
    wrong = _FAULTS.get(fault.ill)
    if wrong is None:
        return {}
    return dict.fromkeys(fault.codes or map(int, RequestCode), wrong)


def _named(
    truth: Truth, naming: NameServer, faults: dict[str, Fault | None]
) -> list[BrokerData]:
    named = []
    for place, name in enumerate(truth.brokers):
        if name in naming.lacks:
            continue
        fault = faults[name]
        ids = (1,) if fault is not None and fault.ill == "headless" else (0, 1)
        named.append(BrokerData("C", name, {n: _address(place, n) for n in ids}))
    return named


def _address(place: int, number: int) -> str:
    return f"10.0.{place}.{number}:10911"
