"""A topic's route, and its configuration with what brokers say differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.gateway.topic_questions import TopicAnswers
from rmqcore.model.topic import Perm, TopicConfig


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: what each broker says (None: no answer), and whether all agree."""

    name: str
    values: Sequence[str | None]
    differs: bool


@dataclass(frozen=True, slots=True)
class RouteLine:
    """A topic on one broker, as the name server tells clients."""

    broker: str
    read: int
    write: int
    readable: bool
    writable: bool
    addresses: Sequence[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """A place where a logical queue is or was; `first` marks a queue's first line.

    `broker` is empty where no broker that answered has the queue.
    """

    queue_id: int
    first: bool
    broker: str = ""
    there: int | None = None
    leads: bool = False
    begin: int | None = None
    end: int | None = None
    low: int | None = None
    high: int | None = None


def logical_lines(answers: TopicAnswers) -> list[LogicalLine]:
    """Return the places of each logical queue of a static topic, the newest first."""
    found = []
    for queue_id, pieces in answers.logical.items():
        if not pieces:
            found.append(LogicalLine(queue_id, first=True))
        for at, piece in enumerate(reversed(pieces)):
            found.append(
                LogicalLine(
                    queue_id,
                    at == 0,
                    piece.item.broker_name,
                    piece.item.queue_id,
                    at == 0,
                    piece.begin,
                    piece.end,
                    piece.low,
                    piece.physical_end,
                )
            )
    return found


def compared(answers: TopicAnswers) -> list[Setting]:
    """Return the settings, those that differ first; brokers are in the route's order.

    A broker that did not answer is compared with none.
    """
    tables = {name: _settings(each) for name, each in answers.configs.items()}
    brokers = [each.broker_name for each in answers.route.brokers]
    names = dict.fromkeys(name for table in tables.values() for name in table)
    found = []
    for name in names:
        told = {table.get(name, "") for table in tables.values()}
        values = [
            tables[each].get(name, "") if each in tables else None for each in brokers
        ]
        found.append(Setting(name, values, len(told) > 1))
    return sorted(found, key=lambda setting: not setting.differs)


def route_lines(answers: TopicAnswers) -> list[RouteLine]:
    """Return the brokers of a topic as clients learn of them."""
    found = []
    for data in answers.route.queues:
        broker = answers.route.broker(data.broker_name)
        found.append(
            RouteLine(
                data.broker_name,
                data.read_queue_nums,
                data.write_queue_nums,
                Perm.READ in data.perm,
                Perm.WRITE in data.perm,
                sorted(broker.addresses.items()) if broker else (),
            )
        )
    return sorted(found, key=lambda line: line.broker)


def _settings(config: TopicConfig) -> dict[str, str]:
    return {
        "readQueueNums": str(config.read_queue_nums),
        "writeQueueNums": str(config.write_queue_nums),
        "perm": str(int(config.perm)),
        "topicFilterType": config.topic_filter_type,
        "topicSysFlag": str(config.topic_sys_flag),
        "order": str(config.order).lower(),
        **{f"+{name}": value for name, value in sorted(config.attributes.items())},
    }
