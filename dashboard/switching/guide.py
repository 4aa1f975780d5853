"""Instructions for the people who run a group on how to change its division.

RocketMQ has no switch for this: each client divides by the strategy it was built with,
so every member has to be started with the new one. The broker can only set whether
clients divide queues at all, by the message request mode (code 401): under POP none
does.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dashboard.whatif.model import BALANCED, to_java, to_python
from dashboard.whatif.model.options import NEARBY, prepare
from rmqcore.errors import ArgumentError

from .reads import Preview

PACKAGE: Final = "org.apache.rocketmq.client.consumer.rebalance"
CLASSES: Final[Mapping[str, str]] = {
    "AVG": "AllocateMessageQueueAveragely",
    "AVG_BY_CIRCLE": "AllocateMessageQueueAveragelyByCircle",
    "CONFIG": "AllocateMessageQueueByConfig",
    "MACHINE_ROOM": "AllocateMessageQueueByMachineRoom",
    "MACHINE_ROOM_NEARBY": "AllocateMachineRoomNearby",
    "CONSISTENT_HASH": "AllocateMessageQueueConsistentHash",
}


@dataclass(frozen=True, slots=True)
class Guide:
    """Source text for both clients; `pop` and `pull` set the mode by Apache's mqadmin.

    A line of mqadmin is for one of RocketMQ's clusters, and says CLUSTER where the
    names of the group's clusters are not known.
    Where lists are needed, `java_lists` and `python_lists` hold them; if they are too
    many for one Java file, `java_lists` is empty and `too_long` says so.
    """

    java: str
    python: str
    java_lists: str
    python_lists: str
    too_long: str
    pop: tuple[str, ...]
    pull: tuple[str, ...]


def guide_of(
    preview: Preview, name_servers: Sequence[str], clusters: Sequence[str]
) -> Guide:
    """Return the guide for the row that a preview shows.

    `clusters` are RocketMQ's names of the clusters that have the group's queues.
    """
    row = preview.row
    by_lists = row in (BALANCED, "CONFIG")
    java_lists = python_lists = too_long = ""
    plan = preview.comparison.row(row).plan
    if by_lists and plan is not None:
        python_lists = to_python(plan.as_config())
        try:
            java_lists = to_java(plan.as_config())
        except ArgumentError as error:
            too_long = str(error)
    group = preview.comparison.before.group
    topics = preview.comparison.after.topics

    def lines(*mode: str) -> tuple[str, ...]:
        ends = ["mqadmin", "setConsumeMode", "-n", ";".join(name_servers)]
        return tuple(
            shlex.join([*ends, "-c", cluster, "-t", topic, "-g", group, "-m", *mode])
            for topic in topics
            for cluster in clusters or ["CLUSTER"]
        )

    return Guide(
        "QueueConfig.apply(consumer, consumer.buildMQClientId());\n"
        if by_lists
        else _java(preview),
        _python(preview, by_lists=by_lists),
        java_lists,
        python_lists,
        too_long,
        lines("POP", "-q", "8"),
        lines("PULL"),
    )


def _java(preview: Preview) -> str:
    scenario = preview.comparison.scenario
    row = preview.row
    lines = [f"import {PACKAGE}.{CLASSES[row]};", ""]
    if row == NEARBY:
        inner = _inner(preview)
        lines[1:1] = [f"import {PACKAGE}.{CLASSES[inner]};"]
        lines += [
            "// Rooms comes from you: the room of a broker, and of a client id.",
            "consumer.setAllocateMessageQueueStrategy(new AllocateMachineRoomNearby(",
            f"    new {CLASSES[inner]}(),",
            "    new AllocateMachineRoomNearby.MachineRoomResolver() {",
            "        public String brokerDeployIn(MessageQueue queue) {",
            "            return Rooms.ofBroker(queue.getBrokerName());",
            "        }",
            "        public String consumerDeployIn(String clientId) {",
            "            return Rooms.ofClient(clientId);",
            "        }",
            "    }));",
        ]
    elif row == "MACHINE_ROOM":
        rooms = ", ".join(f'"{room}"' for room in scenario.rooms)
        lines += [
            "var strategy = new AllocateMessageQueueByMachineRoom();",
            f"strategy.setConsumeridcs(Set.of({rooms}));",
            "consumer.setAllocateMessageQueueStrategy(strategy);",
        ]
    else:
        given = ""
        if row == "CONSISTENT_HASH" and scenario.virtual_nodes is not None:
            given = str(scenario.virtual_nodes)
        made = f"new {CLASSES[row]}({given})"
        lines += [f"consumer.setAllocateMessageQueueStrategy({made});"]
    lines += ["consumer.start();", ""]
    return "\n".join(lines)


def _python(preview: Preview, *, by_lists: bool) -> str:
    if by_lists:
        options = '{"config": CONFIG}'
        name = "CONFIG"
    else:
        comparison = preview.comparison
        prepared = prepare(preview.row, comparison.scenario, comparison.after)
        options = _written(prepared.options)
        name = prepared.name
    return (
        "consumer = PushConsumer(\n"
        "    nameservers,\n"
        f"    group={preview.comparison.before.group!a},\n"
        "    listener=listener,\n"
        f"    strategy={name!a},\n"
        f"    strategy_options={options},\n"
        ")\n"
    )


def _written(options: Mapping[str, Any]) -> str:
    shown = {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in options.items()
    }
    return ascii(shown)


def _inner(preview: Preview) -> str:
    comparison = preview.comparison
    prepared = prepare(NEARBY, comparison.scenario, comparison.after)
    return prepared.name.partition("-")[2]
