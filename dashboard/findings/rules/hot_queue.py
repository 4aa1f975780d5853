"""One queue of a topic holds most of its lag.

Members share queues, not messages: one queue is one member's work, however many others
wait idle. Either one queue receives more than the rest, mostly because one key does, or
its owner is slower. Judged per topic and on messages, never on a ratio alone: five
messages against one are nothing. A topic is compared only where all its lags are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from dashboard.findings.evidence import NEEDS_COMMITS, Evidence, Unchecked
from dashboard.findings.finding import Finding
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _

from .stalled import CAUSES

KEY: Final = "hot_queue"
LAG_FLOOR: Final = 1_000
TIMES_THE_OTHERS: Final = 5
TIMES_THE_SECOND: Final = 2
TIMES_THE_RATE: Final = 3
HOT_FOR_MS: Final = 30_000


@dataclass(frozen=True, slots=True)
class _Hot:
    row: int
    lag: int
    others: float


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Look at each topic for a queue that lags far more than all others."""
    group = evidence.group
    if not group.members or not evidence.commits_tell:
        return None
    missing = _missing(evidence, explained)
    if max(group.queues.lag.values, default=0) < LAG_FLOOR:
        return missing
    hot = [found for rows in _by_topic(evidence) if (found := _hottest(evidence, rows))]
    hot = [each for each in hot if group.queues.keys[each.row] not in explained]
    if not hot:
        return missing
    worst = max(hot, key=lambda each: each.lag)
    key = group.queues.keys[worst.row]
    owners = list(dict.fromkeys(evidence.rows[worst.row].owners))
    rate, usual = _rates(evidence, worst.row)
    text = _text(rate, usual, owners)
    return Finding(
        KEY,
        "warn",
        text=text,
        advice="more_sent_advice" if text == "more_sent" else "slower_advice",
        values={
            "queue": f"{key[1]} / {key[2]}",
            "topic": key[0],
            "lag": worst.lag,
            **({"owner": owners[0]} if owners else {}),
        },
        evidence=(
            ("lag", worst.lag),
            ("others_mean_lag", round(worst.others)),
            *((("in_rate", round(rate, 1)),) if rate is not None else ()),
            *((("others_in_rate", round(usual, 1)),) if usual is not None else ()),
            *((("held_by", owners),) if owners else ()),
        ),
        queues=evidence.keys_of([each.row for each in hot]),
        members=tuple(owners),
    )


def _missing(evidence: Evidence, explained: Queues) -> Unchecked | None:
    """Return what comparing all queues would take, None when all can be compared."""
    table = evidence.group.queues
    if table.lag.complete:
        return None
    if missing := evidence.needs_offsets(explained):
        return missing
    hidden = any(
        table.waiting(row) is None and table.keys[row] not in explained
        for row in range(len(table))
    )
    return NEEDS_COMMITS if hidden else None


def _text(rate: float | None, usual: float | None, owners: Sequence[str]) -> str:
    if rate is None or usual is None:
        return "lags"
    if rate > usual * TIMES_THE_RATE:
        return "more_sent"
    return "slower" if owners else "lags"


def _by_topic(evidence: Evidence) -> list[list[int]]:
    keys = evidence.group.queues.keys
    rows = groupby(range(len(keys)), key=lambda row: keys[row][0])
    return [list(of_topic) for _topic, of_topic in rows]


def _hottest(evidence: Evidence, rows: list[int]) -> _Hot | None:
    """Return the queue that stands out; None if not all can be compared."""
    table = evidence.group.queues
    known = sorted(
        (lag, row) for row in rows if (lag := table.waiting(row)) is not None
    )
    if len(known) < max(2, len(rows)):
        return None
    lag, row = known[-1]
    others = sum(each for each, _row in known[:-1]) / (len(known) - 1)
    second = known[-2][0]
    hot = lag >= max(LAG_FLOOR, others * TIMES_THE_OTHERS, second * TIMES_THE_SECOND)
    return _Hot(row, lag, others) if hot else None


def _rates(evidence: Evidence, hot: int) -> tuple[float | None, float | None]:
    """Return the rate into the queue, and the mean rate into its topic's others."""
    keys, flow = evidence.group.queues.keys, evidence.flow
    if flow is None or not flow.rows_in:
        return None, None
    others = [
        flow.rows_in[row]
        for row, key in enumerate(keys)
        if key[0] == keys[hot][0] and row != hot
    ]
    known = [rate for rate in others if rate is not None]
    mean = sum(known) / len(known) if known and len(known) == len(others) else None
    return flow.rows_in[hot], mean


SAYS: Final = {
    "state": _("Hot queue"),
    "title": _("One queue holds most of the lag"),
    "more_sent": _(
        "{lag} messages wait in {queue} of {topic}: far more is sent to it than to the "
        "others. More members do not help, for one queue is one member's work."
    ),
    "slower": _(
        "{lag} messages wait in {queue} of {topic}, far more than in the others, "
        "although it is not sent more. Its owner is {owner}."
    ),
    "lags": _(
        "{lag} messages wait in {queue} of {topic}, far more than in the others."
    ),
    "more_sent_advice": _(
        "Check how producers choose the queue: often one key has most of "
        "the messages. Split that key, or choose the queue by another."
    ),
    "slower_advice": _(
        "Compare its owner with the other members: its host, its "
        "threads, and the work that its messages cause."
    ),
}

RULE: Final = Rule(
    KEY, check, SAYS, settle_ms=HOT_FOR_MS, yields_to=(*CAUSES, "stalled", "rewound")
)
