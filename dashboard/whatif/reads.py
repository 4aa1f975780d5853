"""The rows of the what-if page, from a comparison.

Figures stay raw here; the template writes them. The best value of a column gets a star,
among the divisions that give each queue to exactly one process and, as long as the
scenario changes nothing else, are better than now in some way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import orjson

from dashboard.whatif.model.query import LENGTH_LIMIT
from dashboard.whatif.model.scenario import QUEUE_LIMIT
from rmqcore.errors import ArgumentError

from .model import (
    NEVER,
    NOW,
    STRATEGY_NAMES,
    Comparison,
    Figures,
    Note,
    Row,
    Scenario,
    from_lists,
    from_query,
    joined,
    to_query,
)

BALANCED: Final = "BALANCED"
MOVES_SHOWN: Final = 200
MARKS_SHOWN: Final = 12
SHOW: Final = "show"
LISTS: Final = "lists"
VIEW: Final = "view"
ONLY: Final = "only"
# Parameters in the page's own links besides the scenario.
BESIDE: Final = frozenset({"saved", "format", VIEW, ONLY})
LISTED: Final = "p"
STAYS: Final = "y"
JOINED: Final = frozenset({"m/", "B/", "C/", "q/", "t/"})
# Values this close are written the same, so they share the star.
SAME: Final = 1.005


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One line of the comparison; `best` names the columns in which it leads."""

    key: str
    title: str
    figures: Figures | None
    reason: Note | None
    assumed: Mapping[str, Any]
    best: frozenset[str]
    chosen: bool

    @property
    def is_now(self) -> bool:
        return self.key == NOW

    @property
    def is_balanced(self) -> bool:
        return self.key == BALANCED

    @property
    def changes(self) -> int | None:
        """How many queues would have a different owner than now, as far as is known."""
        return None if self.figures is None else len(self.figures.changed)

    @property
    def changes_partial(self) -> bool:
        """True while some queues' owners are not known, so more may change hands."""
        return self.figures is not None and bool(self.figures.unheard)

    @property
    def drains_never(self) -> bool:
        drain_s = self.figures.worst_drain_s if self.figures else None
        return drain_s == NEVER

    @property
    def drain_ms(self) -> float | None:
        if self.figures is None or self.figures.worst_drain_s is None:
            return None
        if self.drains_never:
            return None
        return self.figures.worst_drain_s * 1000

    @property
    def loads(self) -> Sequence[float]:
        """The members' loads, in their order."""
        return [each.load for each in self.figures.members] if self.figures else []

    @property
    def shares(self) -> str:
        """Queues per member, such as 6/5/5; long lists are cut."""
        if self.figures is None:
            return ""
        counts = [str(member.queues) for member in self.figures.members]
        cut = "/…" if len(counts) > MARKS_SHOWN else ""
        return "/".join(counts[:MARKS_SHOWN]) + cut


@dataclass(frozen=True, slots=True)
class ShownMove:
    """One queue that would change hands, by client ids."""

    topic: str
    broker: str
    queue_id: int
    before: Sequence[str]
    after: Sequence[str]


Measure = Callable[[ShownRow], float | None]
# In every column, lower is better.
MOVES: Final = "changes"
COLUMNS: Final[Mapping[str, Measure]] = {
    MOVES: lambda row: None if row.changes_partial else row.changes,
    "balance": lambda row: row.figures.by_load.max_over_mean if row.figures else None,
    "variation": lambda row: row.figures.by_load.variation if row.figures else None,
    "gini": lambda row: row.figures.by_load.gini if row.figures else None,
    "drain": lambda row: None if row.drains_never else row.drain_ms,
}


def read_scenario(query: str) -> tuple[Scenario, str]:
    """Read the page's query: the scenario, and the row that it asks to show.

    `show` may name the balanced plan, which is not a strategy of RocketMQ and so not
    part of a scenario. Empty fields of the page's form count as not given. Three kinds
    of fields are only used by the form: `m/name=value` stands for the field m with both
    parts (also B, C, q and t), `lists` is a `CONFIG` mapping as it is exported, and a
    member that is listed (`p`) leaves unless it is ticked as well (`y`).
    Raises ArgumentError that names what cannot be read.
    """
    if len(query) > LENGTH_LIMIT:
        raise ArgumentError(
            f"scenario of {len(query):,} characters, limit {LENGTH_LIMIT:,}"
        )
    kept: list[tuple[str, str]] = []
    lists: list[tuple[str, str]] = []
    show = ""
    members: dict[str, list[str]] = {LISTED: [], STAYS: []}
    for key, value in parse_qsl(query, keep_blank_values=False):
        if key == SHOW:
            show = show or value
        elif key in BESIDE:
            continue
        elif key in members:
            members[key].append(value)
        elif key == LISTS:
            lists = _listed(value)
        elif key == "o":
            kept.extend((key, room) for room in value.replace(",", " ").split())
        elif key[:2] in JOINED:
            kept.append((key[0], f"{key[2:]}:{joined(value.strip())}"))
        elif value.strip():
            kept.append((key, value.strip()))
    staying = set(members[STAYS])
    kept.extend(("r", each) for each in members[LISTED] if each not in staying)
    if lists:
        # Lists that are entered replace those that were there.
        kept = [(key, value) for key, value in kept if key != "g"] + lists
    if show in STRATEGY_NAMES and not any(key == "s" for key, _value in kept):
        kept.append(("s", show))
    given = any(key != "v" for key, _value in kept)
    scenario = from_query(urlencode(kept) if given else "")
    return scenario, show or scenario.strategy or ""


def canonical_query(scenario: Scenario, show: str = "") -> str:
    """Return the canonical query of a scenario, with the row shown."""
    query = to_query(scenario)
    return f"{query}&{urlencode({SHOW: show})}" if show else query


def _listed(text: str) -> list[tuple[str, str]]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ArgumentError(f"the lists are not JSON: {error}") from None
    lists = from_lists("lists", value, limit=QUEUE_LIMIT)
    config = tuple((each, tuple(queues)) for each, queues in lists.items() if queues)
    return [
        (key, value)
        for key, value in parse_qsl(to_query(Scenario(config=config)))
        if key == "g"
    ]


def shown_rows(comparison: Comparison, chosen: str) -> list[ShownRow]:
    """Return the comparison's rows in its own order, with the best values marked."""
    rows = [_shown(row, chosen, frozenset()) for row in comparison.rows]
    full = [row for row in rows if row.figures and row.figures.full and not row.is_now]
    serving = full
    if comparison.scenario.changes_nothing:
        serving = [row for row in full if _serves(row, rows[0])]
    best: dict[str, set[str]] = {row.key: set() for row in rows}
    for column, measure in COLUMNS.items():
        known = [value for row in full if (value := measure(row)) is not None]
        if len(set(known)) < 2:
            continue
        if column == MOVES:
            known = [value for row in serving if (value := measure(row)) is not None]
        for row in serving:
            value = measure(row)
            if value is not None and value <= min(known) * SAME:
                best[row.key].add(column)
    return [_shown(row, chosen, frozenset(best[row.key])) for row in comparison.rows]


def _serves(row: ShownRow, now: ShownRow) -> bool:
    """Tell whether a division is of use: in some column it is better than now.

    Anything serves that gives each queue one owner where that is not so now. Moving
    no queue serves nobody.
    """
    if now.figures is None or not now.figures.full:
        return True
    if now.drains_never and not row.drains_never:
        return True
    pairs = ((m(row), m(now)) for column, m in COLUMNS.items() if column != MOVES)
    return any(
        then is not None and (before is None or then * SAME < before)
        for then, before in pairs
    )


def chosen_row(comparison: Comparison, show: str) -> str:
    """Return the key of the row to show in full: as requested, else the group's own."""
    keys = {row.key for row in comparison.rows if row.figures is not None}
    for wanted in (show, comparison.before.strategy or "", "AVG"):
        # A reported name may carry the strategy inside it: MACHINE_ROOM_NEARBY-AVG.
        key = wanted.partition("-")[0]
        if key in keys:
            return key
    return NOW


def worst_balance(rows: Sequence[ShownRow]) -> float:
    """Return the largest max / mean load of all rows, which scales the bars."""
    values = (row.figures.by_load.max_over_mean for row in rows if row.figures)
    return max((value for value in values if value is not None), default=1.0)


def shown_moves(row: ShownRow) -> list[ShownMove]:
    """Return the first of the queues that would change hands."""
    if row.figures is None:
        return []
    moves = row.figures.moves(row.figures.changed[:MOVES_SHOWN])
    return [
        ShownMove(
            move.queue.topic,
            move.queue.broker_name,
            move.queue.queue_id,
            move.from_clients,
            move.to_clients,
        )
        for move in moves
    ]


def _shown(row: Row, chosen: str, best: frozenset[str]) -> ShownRow:
    return ShownRow(
        key=row.key,
        title=row.strategy,
        figures=row.figures,
        reason=row.reason,
        assumed=dict(row.assumed),
        best=best,
        chosen=row.key == chosen,
    )
