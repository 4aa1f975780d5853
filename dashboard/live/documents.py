"""The two documents that pages show, as in the cache and on the socket.

`GroupState` is everything known about one consumer group now; `Overview` is one row per
group, worst first. Both are plain JSON values: they are written by the one collector
that leads the cluster, kept as encoded text, and read by pages, by the API and by
scripts. Rules that hold for every field:

- A number is known or `None`; never -1, 0 or NaN in the place of unknown. Where it is
  None for a queue, `unknown` names the reason under the field's name.
- Times are milliseconds since the epoch by the clock of the collector; ages and
  durations end in `_ms`; rates are messages per second.
- Words meant for people are keys, translated where they are shown.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

# Python 3.11's own TypedDict cannot be turned into a schema of the API.
from typing_extensions import TypedDict

Level = Literal["ok", "warn", "crit", "unk"]

Word = Literal[
    "no_owner",
    "falling_behind",
    "stalled",
    "catching_up",
    "healthy",
    "unknown",
    "no_members",
    "not_measured",
]

FindingLevel = Literal["crit", "warn", "info"]

Kind = Literal[
    "owned", "shared_pop", "assigned_by_hand", "broadcasting", "mixed", "offline"
]

OwnerSource = Literal["reported", "inferred", "assumed"]

BrokerCondition = Literal["answered", "slave", "partial", "silent", "missing"]
"""How a broker stands: it answers; a slave answers for it; it refuses some requests;
the name servers name it but it does not answer; they no longer name it."""


class Subscription(TypedDict):
    """One topic that a member says it reads, and which of its messages."""

    topic: str
    expression: str


class Strategy(TypedDict):
    """How the group divides its queues, and how that is known."""

    name: str | None
    source: Literal["reported", "assumed"] | None


class Status(TypedDict):
    """The state of a group in one word, and how bad it is.

    The word is a key: of the status rules, or of the worst finding.
    """

    level: Level
    word: str


class Text(TypedDict):
    """A sentence to be translated: its key and what to fill in."""

    at: int
    text_key: str
    params: dict[str, Any]


class Member(TypedDict):
    """One consumer of a group. `slot` is its hue and letter, kept while on screen.

    `connection` counts the connections of one client id, from 0: two processes that
    share an id are two members. `missing_since` is set while no broker that would know
    the member can be heard. `lag_partial` and `rate_partial` say that there may be
    more. `busy_since` is when a listener hosted here was called that has not returned
    for a minute or more.
    """

    client_id: str
    label: str
    address: str | None
    language: str | None
    version: str | None
    strategy: str | None
    subscriptions: list[Subscription]
    slot: int
    queues: int
    idle: str | None
    lag: int | None
    lag_partial: NotRequired[bool]
    rate_out: float | None
    rate_partial: NotRequired[bool]
    in_hand: int | None
    reported_at: NotRequired[int | None]
    managed: NotRequired[bool]
    busy_since: NotRequired[int | None]
    connection: NotRequired[int]
    missing_since: NotRequired[int | None]


class LastKnown(TypedDict):
    """The last known values of a queue that is not known now, and their time."""

    at: int
    min: int | None
    max: int | None
    committed: int | None
    lag: int | None
    owners: list[str]
    owner_source: OwnerSource | None


class Queue(TypedDict):
    """One queue as the group sees it. Its key on the socket is topic|broker|id.

    `last` is set if offsets are not known now but were before; it is part of no sum.
    """

    topic: str
    broker: str
    queue_id: int
    min: int | None
    max: int | None
    committed: int | None
    pulled: int | None
    lag: int | None
    lag_ms: int | None
    owners: list[str]
    owner_source: OwnerSource | None
    expected: NotRequired[str | None]
    moved_at: int | None
    rate_in: float | None
    rate_out: float | None
    unknown: dict[str, str]
    last: NotRequired[LastKnown | None]


class QueueTrend(TypedDict):
    """The lag of each queue over the last 15 minutes, by topic|broker|id.

    The points of `lag` belong to the times of `at`, oldest first, about 30 s apart.
    None where the lag was not known.
    """

    at: list[int]
    lag: dict[str, list[int | None]]


class GroupTotals(TypedDict):
    """Sums over the known values of a group's queues.

    `lag_partial` and `rate_partial` say that there may be more. `queues_known` counts
    the queues whose lag is known; skew needs all of them, and an owner of each.
    `members` is None if no broker could tell who is connected.
    """

    members: int | None
    queues: int
    owned: int
    unowned: int
    lag: int | None
    lag_partial: bool
    oldest_ms: int | None
    oldest_partial: NotRequired[bool]
    rate_in: float | None
    rate_out: float | None
    skew: float | None
    retry_lag: NotRequired[int | None]
    reporting: NotRequired[int]
    queues_known: NotRequired[int]
    rate_partial: NotRequired[bool]


class BrokerAge(TypedDict):
    """How a broker of the group stands, and how long ago it answered.

    `since` is when `state` began, None while it answers. `last_lag` is the last known
    lag of those of its queues that are not known now.
    """

    name: str
    answered: bool
    age_ms: int | None
    state: NotRequired[BrokerCondition]
    since: NotRequired[int | None]
    address: NotRequired[str | None]
    error: NotRequired[str | None]
    queues: NotRequired[int]
    last_lag: NotRequired[int | None]


class Held(TypedDict):
    """Since when and until when status, findings and epoch of a group are held.

    They are those of `as_of`, when everything was known; from `until` on, the group is
    judged by what is left.
    """

    as_of: int
    until: int


class NameServerState(TypedDict):
    """One name server, and the known brokers that it does not list.

    `since` is when it was first seen not to answer; None while it answers.
    """

    address: str
    answered: bool
    error: str | None
    unlisted: list[str]
    since: NotRequired[int | None]


class EpochMark(TypedDict):
    """The running epoch: its number within the group, and when it was first seen."""

    number: int
    began_at: int


class FindingState(TypedDict):
    """One finding about a group; words are looked up by `key`, `text` and `advice`.

    `since` is when it was first seen to hold. The end of a value's name is its unit:
    `_ms` a span, `_at` a time, `_rate` messages a second. `queues` (topic|broker|id)
    and `members` are the first of those it concerns; the counts cover all. `at_least`
    names the values and the evidence that may be more, as not all was known; `as_of` is
    when it was last found, if it could not be checked since. `cause` is the key of the
    finding from which this one follows; it stands before it.
    """

    key: str
    level: FindingLevel
    since: int | None
    text: str
    advice: str
    values: dict[str, Any]
    evidence: list[tuple[str, Any]]
    queues: list[str]
    queue_count: int
    members: list[str]
    member_count: int
    at_least: NotRequired[list[str]]
    as_of: NotRequired[int]
    cause: NotRequired[str]


class UncheckedRule(TypedDict):
    """A rule of findings that could not be checked, and what checking would take."""

    key: str
    why: Literal["brokers", "members", "not_asked", "commits", "time"]
    names: list[str]


class FailedRule(TypedDict):
    """A rule of findings that raised, which is a fault of ours."""

    key: str
    error: str


class RulesState(TypedDict):
    """Which rules could be checked at the look that the findings come from."""

    checked: int
    unchecked: list[UncheckedRule]
    failed: list[FailedRule]


class FindingMark(TypedDict):
    """One finding of a group in the list of groups."""

    key: str
    level: FindingLevel


class TeamMark(TypedDict):
    """The team that owns a group, which the API adds to what was collected."""

    pk: int
    name: str
    contact: str


class GroupState(TypedDict):
    """Everything shown about one consumer group, from one set of facts.

    `past_slots` are hues of members that left and are still on the timeline. `complete`
    says that every broker of the group is named and answered everything; values
    computed from less are marked. `fault` is set when this program failed to judge the
    group: the rest is then as old as `taken_at` says. `nameservers` is set while one of
    them does not answer or does not list every broker. Only the API adds `team` and
    `note`, what people keep of the group here.
    """

    run: str
    seq: int
    cluster: str
    group: str
    taken_at: int
    mode: str | None
    kind: Kind
    consume_type: str | None
    orderly: bool | None
    strategy: Strategy
    managed: bool
    members: list[Member]
    queues: list[Queue]
    totals: GroupTotals
    status: Status
    brokers: list[BrokerAge]
    epoch: EpochMark | None
    last_change: Text | None
    findings: list[FindingState]
    rules: NotRequired[RulesState]
    trend: NotRequired[QueueTrend]
    past_slots: NotRequired[dict[str, int]]
    complete: NotRequired[bool]
    held: NotRequired[Held | None]
    fault: NotRequired[str | None]
    nameservers: NotRequired[list[NameServerState]]
    team: NotRequired[TeamMark | None]
    note: NotRequired[str]


class OverviewBroker(TypedDict):
    """One broker of a cluster, as the last sweep met it; see `BrokerAge`."""

    name: str
    cluster: str | None
    address: str | None
    version: str | None
    answered: bool
    took_ms: float | None
    age_ms: int | None
    error: str | None
    state: NotRequired[BrokerCondition]
    since: NotRequired[int | None]


class OverviewRow(TypedDict):
    """One group in the list of groups.

    `lag_trend` holds the peak lag of each two minutes of the last hour, oldest first.
    `complete` is as in the group's document; `as_of` is the time of a held status.
    `fault` says that this program failed to judge the group. `brokers` have its queues;
    `versions` are those of its members. The API adds `team` where any team owns groups
    of the cluster.
    """

    group: str
    kind: Kind
    mode: str | None
    consume_type: str | None
    managed: bool
    topics: list[str]
    members: int | None
    queues: int
    unowned: int
    idle: int
    lag: int | None
    lag_partial: bool
    oldest_ms: int | None
    oldest_partial: NotRequired[bool]
    rate_in: float | None
    rate_out: float | None
    rate_partial: NotRequired[bool]
    skew: float | None
    strategy: Strategy
    orderly: bool | None
    status: Status
    findings: list[FindingMark]
    lag_trend: list[int | None]
    complete: NotRequired[bool]
    as_of: NotRequired[int | None]
    fault: NotRequired[str | None]
    brokers: NotRequired[list[str]]
    versions: NotRequired[list[str]]
    team: NotRequired[TeamMark | None]


class OverviewTotals(TypedDict):
    """Sums over a cluster; `by_level` counts the groups of each level.

    `members` are those known, and `members_partial` says that there may be more.
    """

    groups: int
    by_level: dict[str, int]
    topics: int
    members: int
    queues: int
    lag: int | None
    lag_partial: bool
    oldest_ms: int | None
    oldest_partial: NotRequired[bool]
    oldest_group: str | None
    rate_in: float | None
    rate_out: float | None
    brokers: int
    brokers_answered: int
    members_partial: NotRequired[bool]
    rate_partial: NotRequired[bool]


class LakeFault(TypedDict):
    """Why samples cannot be written, and how many wait in memory or were discarded."""

    error: str
    pending_rows: int
    dropped_rows: int


class DatabaseFault(TypedDict):
    """Why epochs cannot be written, and how many rows wait in memory."""

    error: str
    pending_rows: int


class Lateness(TypedDict):
    """How far the collector was behind its clock with a sweep of all groups.

    The sweep began `late_ms` after its time; `skipped` sweeps were left out since the
    previous one; for `held_ms` on end nothing in the collector ran.
    """

    late_ms: int
    skipped: int
    held_ms: int


class LakeGap(TypedDict):
    """Landing files that were deleted before a roll-up had read them.

    Written from `first_at` to `last_at`, the last deleted at `at`; all in ms.
    """

    files: int
    first_at: int
    last_at: int
    at: int


class Overview(TypedDict):
    """Everything shown about one cluster.

    `error` is why the last sweep failed as a whole, such as a name server that cannot
    be reached; the rest is then as old as `taken_at` says. `lake` is set while samples,
    from which reports are made, cannot be written; `database` while epochs cannot be;
    `late` while the collector is behind its clock.
    """

    run: str
    seq: int
    cluster: str
    taken_at: int
    brokers: list[OverviewBroker]
    totals: OverviewTotals
    groups: list[OverviewRow]
    error: NotRequired[str | None]
    lake: NotRequired[LakeFault | None]
    database: NotRequired[DatabaseFault | None]
    nameservers: NotRequired[list[NameServerState]]
    late: NotRequired[Lateness | None]


def queue_key(queue: Queue) -> str:
    """Return the key of a queue's change in an update."""
    return f"{queue['topic']}|{queue['broker']}|{queue['queue_id']}"
