"""The tables of a report: their columns, the order of these, and their kinds.

The kind decides how a value is written: a time gets the reader's zone, a number stays
a number, unknown stays empty. Keys are the names in CSV files and do not change with
the language; titles and labels do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from analytics import contracts as c
from dashboard.models import Alert, AlertRule, Grouping
from dashboard.wording.words import word

from .values import strategy_title

Label = str | Promise


class Kind(Enum):
    """How a column's values are written."""

    TEXT = "text"
    COUNT = "count"
    NUMBER = "number"
    TIME = "time"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name in the data, its title, its kind and its unit.

    The unit is for programs (it stands in a Parquet file's schema), so it is English.
    `say` writes a text for people, where it is a key; programs get the key.
    """

    key: str
    label: Label
    kind: Kind
    unit: str = ""
    say: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a report; `key` is the data set it comes from."""

    key: str
    title: Label
    columns: tuple[Column, ...]
    order: tuple[str, ...]


def severity_word(key: str) -> str:
    """Return how bad an alert is."""
    return _labels(AlertRule.Severity).get(key, key)


def _finding_word(key: str) -> str:
    return word("finding", f"{key}.title")


def _kind_word(key: str) -> str:
    return _labels(AlertRule.Kind).get(key, key)


def _end_word(key: str) -> str:
    return _labels(Alert.End).get(key, key)


def _labels(choices: type[TextChoices]) -> dict[str, str]:
    return {key: str(label) for key, label in choices.choices}


_CLUSTER: Final = Column(c.CLUSTER, _("Cluster"), Kind.TEXT)
_GROUP: Final = Column(c.GROUP, _("Group"), Kind.TEXT)
_SINCE: Final = Column(c.SINCE, _("Time"), Kind.TIME)
_CONSUMER: Final = Column(c.CLIENT_ID, _("Consumer"), Kind.TEXT)
_STRATEGY: Final = Column(c.STRATEGY, _("Strategy"), Kind.TEXT, say=strategy_title)
_QUEUES: Final = Column(c.QUEUE_COUNT, _("Queues"), Kind.COUNT, "queues")
_KNOWN: Final = Column(c.KNOWN_QUEUES, _("Queues known"), Kind.COUNT, "queues")
_MEAN: Final = Column(c.LAG_MEAN, _("Lag, mean"), Kind.NUMBER, "messages")
_PEAK: Final = Column(c.LAG_PEAK, _("Lag, peak"), Kind.COUNT, "messages")
_LAST: Final = Column(c.LAG_LAST, _("Lag, last"), Kind.COUNT, "messages")
_OLDEST: Final = Column(c.LAG_MS_PEAK, _("Oldest, peak (ms)"), Kind.COUNT, "ms")
_IN: Final = Column(c.IN_RATE, _("In/s"), Kind.NUMBER, "messages/s")
_OUT: Final = Column(c.OUT_RATE, _("Out/s"), Kind.NUMBER, "messages/s")
_SECONDS: Final = Column(c.SECONDS, _("Seconds known"), Kind.NUMBER, "s")
_UNKNOWN: Final = Column(c.UNKNOWN_SECONDS, _("Seconds unknown"), Kind.NUMBER, "s")

BY_GROUP: Final = Table(
    c.LAG_BY_GROUP,
    _("Groups"),
    (
        _CLUSTER,
        _GROUP,
        _SINCE,
        _QUEUES,
        _KNOWN,
        _MEAN,
        _PEAK,
        _LAST,
        _OLDEST,
        _IN,
        _OUT,
        _SECONDS,
        _UNKNOWN,
    ),
    (c.GROUP, c.SINCE),
)
BY_TOPIC: Final = Table(
    c.LAG_BY_TOPIC,
    _("Topics"),
    (
        _CLUSTER,
        _GROUP,
        Column(c.TOPIC, _("Topic"), Kind.TEXT),
        _SINCE,
        _QUEUES,
        _KNOWN,
        _MEAN,
        _LAST,
        _OLDEST,
        _IN,
        _OUT,
        _SECONDS,
        _UNKNOWN,
    ),
    (c.GROUP, c.TOPIC, c.SINCE),
)
BY_QUEUE: Final = Table(
    c.LAG_BY_QUEUE,
    _("Queues"),
    (
        _CLUSTER,
        _GROUP,
        Column(c.TOPIC, _("Topic"), Kind.TEXT),
        Column(c.BROKER, _("Broker"), Kind.TEXT),
        Column(c.QUEUE_ID, _("Queue"), Kind.COUNT),
        _SINCE,
        _MEAN,
        _PEAK,
        _LAST,
        _OLDEST,
        _IN,
        _OUT,
        _SECONDS,
        _UNKNOWN,
    ),
    (c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID, c.SINCE),
)
BY_CONSUMER: Final = Table(
    c.LAG_BY_CONSUMER,
    _("Consumers"),
    (
        _CLUSTER,
        _GROUP,
        _CONSUMER,
        _SINCE,
        _QUEUES,
        _KNOWN,
        _MEAN,
        _LAST,
        _OLDEST,
        _IN,
        _OUT,
        _SECONDS,
        _UNKNOWN,
    ),
    (c.GROUP, c.CLIENT_ID, c.SINCE),
)
_EPOCH: Final = Column(c.EPOCH, _("Epoch"), Kind.COUNT)
_LOAD: Final = Column(c.LOAD, _("Load, msg/s"), Kind.NUMBER, "messages/s")
_IDLE: Final = Column(c.IDLE_COUNT, _("Idle members"), Kind.COUNT, "members")
_UNOWNED: Final = Column(
    c.UNOWNED_COUNT, _("Queues without owner"), Kind.COUNT, "queues"
)
_EVENNESS: Final = (
    Column("load_max_to_mean", _("Load, max / mean"), Kind.NUMBER, "1"),
    Column("load_variation", _("Load, variation"), Kind.NUMBER, "1"),
    Column("load_gini", _("Load, Gini"), Kind.NUMBER, "1"),
    Column("lag_max_to_mean", _("Lag, max / mean"), Kind.NUMBER, "1"),
    Column("lag_variation", _("Lag, variation"), Kind.NUMBER, "1"),
    Column("lag_gini", _("Lag, Gini"), Kind.NUMBER, "1"),
)

MEMBERS: Final = Table(
    c.LOAD_BY_MEMBER,
    _("Members by strategy"),
    (
        _CLUSTER,
        _GROUP,
        _EPOCH,
        _STRATEGY,
        _CONSUMER,
        _QUEUES,
        _MEAN,
        Column(c.LAG_PEAK, _("Lag, peak"), Kind.NUMBER, "messages"),
        _LOAD,
        _SECONDS,
        _UNKNOWN,
    ),
    (c.GROUP, c.EPOCH, c.STRATEGY, c.CLIENT_ID),
)
MEMBERS_OVER_TIME: Final = Table(
    c.MEMBER_BY_TIME,
    _("Members over time"),
    (
        _CLUSTER,
        _GROUP,
        _EPOCH,
        _STRATEGY,
        _CONSUMER,
        _SINCE,
        _QUEUES,
        _KNOWN,
        _MEAN,
        _LOAD,
        _SECONDS,
        _UNKNOWN,
    ),
    (c.GROUP, c.STRATEGY, c.CLIENT_ID, c.SINCE, c.EPOCH),
)
SKEW: Final = Table(
    c.SKEW_BY_TIME,
    _("Skew"),
    (
        _CLUSTER,
        _GROUP,
        _EPOCH,
        _STRATEGY,
        _SINCE,
        Column(c.MEMBER_COUNT, _("Members"), Kind.COUNT, "members"),
        _IDLE,
        *_EVENNESS,
        Column(c.LOAD_PEAK, _("Load of the busiest, msg/s"), Kind.NUMBER, "messages/s"),
        Column(c.OVERLOAD, _("Overload"), Kind.FLAG),
        Column(c.DRAIN_SECONDS, _("Time to drain, seconds"), Kind.NUMBER, "s"),
        Column(c.NEVER_DRAINS, _("Never drains"), Kind.FLAG),
        _UNOWNED,
        _SECONDS,
        _UNKNOWN,
    ),
    (c.GROUP, c.STRATEGY, c.SINCE, c.EPOCH),
)
STRATEGIES: Final = Table(
    c.STRATEGIES,
    _("Strategies"),
    (
        _CLUSTER,
        _GROUP,
        _STRATEGY,
        Column(c.RANK, _("Rank"), Kind.COUNT),
        Column(c.IN_USE, _("In use"), Kind.FLAG),
        Column(c.STRATEGY_SOURCE, _("Known by"), Kind.TEXT),
        Column(c.EPOCH_COUNT, _("Epochs"), Kind.COUNT),
        *_EVENNESS,
        Column(c.IDLE_SHARE, _("Idle share"), Kind.NUMBER, "1"),
        Column(c.MOVES, _("Moves"), Kind.COUNT, "queues"),
        Column(c.MOVES_PER_CHANGE, _("Moves per change"), Kind.NUMBER, "queues"),
        Column(c.DRAIN_PEAK, _("Worst time to drain, seconds"), Kind.NUMBER, "s"),
        Column(c.NEVER_SECONDS, _("Never drains, seconds"), Kind.NUMBER, "s"),
        Column(c.OVERLOAD_SECONDS, _("Overload, seconds"), Kind.NUMBER, "s"),
        _UNOWNED,
        _SECONDS,
        _UNKNOWN,
    ),
    (c.GROUP, c.RANK, c.STRATEGY),
)

ALERTS: Final = Table(
    "alerts",
    _("Alerts"),
    (
        _CLUSTER,
        Column("alert", _("Alert"), Kind.COUNT),
        _GROUP,
        Column(c.BROKER, _("Broker"), Kind.TEXT),
        Column("opened_at", _("Opened"), Kind.TIME),
        Column("closed_at", _("Ended"), Kind.TIME),
        Column("severity", _("Severity"), Kind.TEXT, say=severity_word),
        Column("rule", _("Rule"), Kind.TEXT),
        Column("kind", _("Kind"), Kind.TEXT, say=_kind_word),
        Column("finding", _("Finding"), Kind.TEXT, say=_finding_word),
        Column("team", _("Team"), Kind.TEXT),
        Column("how_it_ended", _("How it ended"), Kind.TEXT, say=_end_word),
        Column("acknowledged_at", _("Acknowledged"), Kind.TIME),
        Column("acknowledged_by", _("Acknowledged by"), Kind.TEXT),
    ),
    ("opened_at", "alert"),
)
"""Written not by the job but with its result, from the database."""

TABLES: Final[Mapping[str, Table]] = {
    table.key: table
    for table in (
        *(BY_GROUP, BY_TOPIC, BY_QUEUE, BY_CONSUMER),
        *(STRATEGIES, MEMBERS, MEMBERS_OVER_TIME, SKEW, ALERTS),
    )
}

LAG_TABLES: Final[Mapping[str, Table]] = {
    Grouping.GROUP: BY_GROUP,
    Grouping.TOPIC: BY_TOPIC,
    Grouping.QUEUE: BY_QUEUE,
    Grouping.CONSUMER: BY_CONSUMER,
}
"""The table of lag whose rows stand for what a report is grouped by."""
