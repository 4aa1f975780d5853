"""What members would have had, against the scores and drain times of `rmqcore`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import chain
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics import contracts as c
from analytics.division import IN_USE, MEMBER_IDS, NOBODY, Candidate
from analytics.spread import TABLES, Changes, EpochNames, StepRows, spread_tables
from analytics.spread.totals import SCORES, ranks_of
from rmqcore.allocation import NEVER, member_drain_time, scores, worst_drain_time

Row = dict[str, Any]

SINCE: Final = pa.timestamp("us", tz="UTC")
SCHEMA: Final = pa.schema(
    [
        (c.GROUP_NO, pa.int32()),
        (c.EPOCH, pa.int64()),
        (c.SINCE, SINCE),
        (c.SECONDS, pa.float64()),
        (c.UNKNOWN_SECONDS, pa.float64()),
        (c.LAG_MEAN, pa.float64()),
        (c.IN_RATE, pa.float64()),
        (c.OUT_RATE, pa.float64()),
        *((f"owner_{name}", pa.int32()) for name in ("PLAIN", "MORE", "LESS", IN_USE)),
    ]
)
CANDIDATES: Final = (
    Candidate("PLAIN", "AVG"),
    Candidate("MORE", IN_USE, added=2),
    Candidate("LESS", IN_USE, added=-1),
    Candidate(IN_USE, IN_USE),
)
IDS: Final = {
    (1, 7): ["one", "two", "three"],
    (1, 9): ["two", "three"],
    (4, 7): ["four", "five"],
}

CHANGES: Final = Changes(
    {
        "PLAIN": np.array([np.nan, 3.0, np.nan, np.nan, np.nan]),
        "MORE": np.array([np.nan, 1.0, np.nan, np.nan, 0.0]),
        "LESS": np.array([np.nan, 2.0, np.nan, np.nan, 4.0]),
    },
    {(1, "PLAIN"): "reported", (4, "PLAIN"): None},
)
"""By group number, which are 1 and 4 here."""

whole: st.SearchStrategy[float | None] = st.none() | st.integers(0, 9).map(float)


@st.composite
def rows(draw: st.DrawFn) -> list[Row]:
    """Draw queues of a few steps, in any order, with owners by every candidate."""
    found = []
    for group_no, epoch in draw(st.lists(st.sampled_from(sorted(IDS)), unique=True)):
        size = len(IDS[group_no, epoch])
        for since in draw(st.lists(st.integers(0, 3), min_size=1, unique=True)):
            length = draw(st.integers(1, 60))
            for _queue in range(draw(st.integers(1, 4))):
                seconds = draw(st.integers(0, length))
                row: Row = {
                    c.GROUP_NO: group_no,
                    c.EPOCH: epoch,
                    c.SINCE: since * 60_000_000,
                    c.SECONDS: float(seconds),
                    c.UNKNOWN_SECONDS: float(length - seconds),
                    c.LAG_MEAN: draw(whole),
                    c.IN_RATE: draw(whole),
                    c.OUT_RATE: draw(whole),
                }
                for candidate in CANDIDATES:
                    last = size - 1 + max(candidate.added, 0)
                    place = st.none() | st.integers(NOBODY, last)
                    row[candidate.column] = draw(place)
                found.append(row)
    return draw(st.permutations(found))


def spread(given_rows: Iterable[Row]) -> dict[str, list[Row]]:
    table = pa.Table.from_pylist(list(given_rows), schema=SCHEMA)
    names = EpochNames(
        pa.table(
            {
                c.GROUP_NO: pa.array([key[0] for key in IDS], pa.int32()),
                c.CLUSTER: ["hangzhou"] * len(IDS),
                c.GROUP: [f"group-{key[0]}" for key in IDS],
                c.EPOCH: [key[1] for key in IDS],
                MEMBER_IDS: list(IDS.values()),
            }
        )
    )
    found: dict[str, list[Row]] = {name: [] for name in TABLES}
    for name, part in spread_tables(
        StepRows(table, names, 2), names, CANDIDATES, CHANGES, TABLES
    ):
        assert part.schema == TABLES[name]
        found[name] += part.to_pylist()
    return found


def step_of(row: Row) -> tuple[int, int, int]:
    return row[c.GROUP_NO], row[c.EPOCH], row[c.SINCE]


def known_sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def mean_of(rows: Iterable[Row], column: str) -> float:
    values = [row[column] for row in rows]
    return sum(values) / len(values)


def capacities(given_rows: list[Row]) -> dict[int, float | None]:
    """Return the most that a member of each group was seen to take."""
    taken: dict[tuple[Any, ...], list[float | None]] = {}
    for row in given_rows:
        owner = row[CANDIDATES[-1].column]
        if owner is not None and owner >= 0:
            taken.setdefault((*step_of(row), owner), []).append(row[c.OUT_RATE])
    found: dict[int, float | None] = {}
    for (group_no, *_rest), values in taken.items():
        total = known_sum(values)
        if total is not None:
            found[group_no] = max(found.get(group_no) or 0.0, total)
    return found


def expected_skew(given_rows: list[Row]) -> dict[tuple[Any, ...], Row]:
    """Return the figures of each step and candidate, one member at a time."""
    capacity_of = capacities(given_rows)
    found = {}
    for candidate in CANDIDATES[:-1]:
        steps: dict[tuple[int, int, int], dict[int, list[Row]]] = {}
        for row in given_rows:
            owner = row[candidate.column]
            if owner is not None:
                steps.setdefault(step_of(row), {}).setdefault(owner, []).append(row)
        for step, held in steps.items():
            count = len(IDS[step[:2]]) + candidate.added
            members = {place: held[place] for place in held if place >= 0}
            idle = count - len(members)
            capacity = capacity_of.get(step[0])
            drains = [
                member_drain_time(
                    [row[c.LAG_MEAN] for row in queues],
                    [row[c.IN_RATE] for row in queues],
                    capacity,
                )
                for queues in members.values()
            ]
            drains += [left_over(held[NOBODY])] if NOBODY in held else []
            worst = worst_drain_time(drains)
            row = {
                c.MEMBER_COUNT: count,
                c.IDLE_COUNT: idle,
                c.UNOWNED_COUNT: len(held.get(NOBODY, ())),
                c.SECONDS: mean_of(chain(*held.values()), c.SECONDS),
                c.UNKNOWN_SECONDS: mean_of(chain(*held.values()), c.UNKNOWN_SECONDS),
                c.DRAIN_SECONDS: None if worst == NEVER else worst,
                c.NEVER_DRAINS: None if worst is None else worst == NEVER,
            }
            for quantity, column in (("lag", c.LAG_MEAN), ("load", c.IN_RATE)):
                queues = [each for queues in members.values() for each in queues]
                is_whole = all(each[column] is not None for each in queues)
                sums = [
                    known_sum(each[column] for each in queues)
                    for queues in members.values()
                ]
                known = [each for each in sums if each is not None]
                even = scores([0.0] * max(0, idle) + known)
                for name, score in (
                    ("max_to_mean", even.max_over_mean),
                    ("variation", even.variation),
                    ("gini", even.gini),
                ):
                    is_even = is_whole and NOBODY not in held
                    row[f"{quantity}_{name}"] = score if is_even else None
            busiest = max(known, default=None)
            row[c.LOAD_PEAK] = busiest if is_whole else None
            row[c.OVERLOAD] = None
            if busiest is not None and capacity is not None:
                if busiest > capacity:
                    row[c.OVERLOAD] = True
                elif is_whole:
                    row[c.OVERLOAD] = False
            found[candidate.name, *step] = row
    return found


def left_over(queues: list[Row]) -> float | None:
    """Return when queues that nobody owns are done: never, or they are empty."""
    values = [row[name] for row in queues for name in (c.LAG_MEAN, c.IN_RATE)]
    if any(values):
        return NEVER
    return None if None in values else 0.0


def microseconds(row: Row) -> int:
    return round(row[c.SINCE].timestamp() * 1_000_000)


@given(rows())
def test_scores_and_drain_times_are_those_of_rmqcore(given_rows: list[Row]) -> None:
    # As many members less as there are busy ones make no sense to either side.
    given_rows = [
        {**row, "owner_LESS": min(row["owner_LESS"] or 0, 0)} for row in given_rows
    ]
    expected = expected_skew(given_rows)
    found = spread(given_rows)[c.SKEW_BY_TIME]
    assert len(found) == len(expected)
    for row in found:
        group_no = int(row[c.GROUP].removeprefix("group-"))
        key = (row[c.STRATEGY], group_no, row[c.EPOCH], microseconds(row))
        for name, value in expected[key].items():
            near = isinstance(value, float)
            wanted = pytest.approx(value, abs=1e-9) if near else value
            assert row[name] == wanted, (key, name)


@given(rows())
def test_members_have_what_their_queues_have(given_rows: list[Row]) -> None:
    found = spread(given_rows)
    expected: dict[tuple[Any, ...], list[Row]] = {}
    for row in given_rows:
        for candidate in CANDIDATES[:-1]:
            owner = row[candidate.column]
            if owner is not None and owner >= 0:
                key = (candidate.name, *step_of(row), owner)
                expected.setdefault(key, []).append(row)
    told = {}
    for (name, group_no, epoch, since, owner), queues in expected.items():
        ids = IDS[group_no, epoch]
        told[name, group_no, epoch, since, owner] = (
            ids[owner] if owner < len(ids) else None,
            mean_of(queues, c.SECONDS),
            mean_of(queues, c.UNKNOWN_SECONDS),
            len(queues),
            sum(None not in (each[c.LAG_MEAN], each[c.IN_RATE]) for each in queues),
            known_sum(each[c.LAG_MEAN] for each in queues),
            known_sum(each[c.IN_RATE] for each in queues),
        )
    by_time = found[c.MEMBER_BY_TIME]
    columns = (
        *(c.CLIENT_ID, c.SECONDS, c.UNKNOWN_SECONDS),
        *(c.QUEUE_COUNT, c.KNOWN_QUEUES, c.LAG_MEAN, c.LOAD),
    )
    assert sorted(
        str((row[c.STRATEGY], row[c.EPOCH], microseconds(row), *map(row.get, columns)))
        for row in by_time
    ) == sorted(
        str((name, epoch, since, *values))
        for (name, _no, epoch, since, _owner), values in told.items()
    )
    lags_known = {
        (key[0], f"group-{key[1]}", key[2], told[key][0], key[3])
        for key, queues in expected.items()
        if None not in [each[c.LAG_MEAN] for each in queues]
    }
    check_loads(found[c.LOAD_BY_MEMBER], by_time, given_rows, lags_known)


def check_loads(
    loads: list[Row],
    by_time: list[Row],
    given_rows: list[Row],
    lags_known: set[tuple[Any, ...]],
) -> None:
    """Compare what members had over the period with what they had in its steps."""
    computed = {
        (candidate.name, row[c.GROUP_NO], row[c.EPOCH])
        for row in given_rows
        for candidate in CANDIDATES[:-1]
        if row[candidate.column] is not None
    }
    everyone = {
        (name, f"group-{group_no}", epoch, client_id)
        for name, group_no, epoch in computed
        for client_id in IDS[group_no, epoch]
    }
    keys = (c.STRATEGY, c.GROUP, c.EPOCH, c.CLIENT_ID)
    assert {tuple(map(row.get, keys)) for row in loads} == everyone
    assert len(loads) == len(everyone)
    for row in loads:
        steps = [each for each in by_time if all(each[k] == row[k] for k in keys)]
        counts = [each[c.QUEUE_COUNT] for each in steps]
        assert row[c.QUEUE_COUNT] == max(counts, default=0)
        if not steps:
            assert row[c.SECONDS] is None
            assert (row[c.LAG_MEAN], row[c.LAG_PEAK], row[c.LOAD]) == (0, 0, 0)
            continue
        for name in (c.SECONDS, c.UNKNOWN_SECONDS):
            assert row[name] == pytest.approx(sum(each[name] for each in steps))
        known = [
            each
            for each in steps
            if (*(row[key] for key in keys), microseconds(each)) in lags_known
        ]
        assert row[c.LAG_PEAK] == max((r[c.LAG_MEAN] for r in known), default=None)
        seconds = sum(each[c.SECONDS] for each in known)
        total = sum(each[c.LAG_MEAN] * each[c.SECONDS] for each in known)
        mean = pytest.approx(total / seconds) if seconds else None
        assert row[c.LAG_MEAN] == mean


@given(rows())
def test_totals_are_those_of_the_steps(given_rows: list[Row]) -> None:
    found = spread(given_rows)
    steps: dict[tuple[str, str], list[Row]] = {}
    for row in found[c.SKEW_BY_TIME]:
        steps.setdefault((row[c.GROUP], row[c.STRATEGY]), []).append(row)
    totals = {(row[c.GROUP], row[c.STRATEGY]): row for row in found[c.STRATEGIES]}
    assert len(totals) == len(found[c.STRATEGIES])
    assert totals.keys() == steps.keys()
    for (group, strategy), row in totals.items():
        of_steps = steps[group, strategy]
        group_no = int(group.removeprefix("group-"))
        moves = float(CHANGES.moves[strategy][group_no])
        epochs = len({each[c.EPOCH] for each in of_steps})
        mean = partial(weighted, of_steps)
        shares = [mean(name) for name in (c.IDLE_COUNT, c.MEMBER_COUNT)]
        expected = {
            c.CLUSTER: "hangzhou",
            c.SECONDS: sum(each[c.SECONDS] for each in of_steps),
            c.UNKNOWN_SECONDS: sum(each[c.UNKNOWN_SECONDS] for each in of_steps),
            c.EPOCH_COUNT: epochs,
            c.IDLE_SHARE: shares[0] / shares[1] if all(shares) else shares[0],
            **{name: mean(name) for name in SCORES},
            c.OVERLOAD_SECONDS: held(of_steps, c.OVERLOAD),
            c.NEVER_SECONDS: held(of_steps, c.NEVER_DRAINS),
            c.DRAIN_PEAK: highest(of_steps, c.DRAIN_SECONDS),
            c.UNOWNED_COUNT: highest(of_steps, c.UNOWNED_COUNT),
            c.MOVES: None if np.isnan(moves) else moves,
            c.MOVES_PER_CHANGE: None
            if np.isnan(moves) or epochs == 1
            else moves / (epochs - 1),
            c.IN_USE: strategy == "PLAIN",
            c.STRATEGY_SOURCE: CHANGES.in_use.get((group_no, strategy)),
        }
        for name, value in expected.items():
            near = isinstance(value, float)
            wanted = pytest.approx(value, abs=1e-9) if near else value
            assert row[name] == wanted, (group, strategy, name)
        is_even = row["load_max_to_mean"] is not None and not row[c.UNOWNED_COUNT]
        assert (row[c.RANK] is not None) == is_even


def weighted(rows: list[Row], name: str) -> float | None:
    """Return a mean over the time in which a column is known."""
    known = [row for row in rows if row[name] is not None]
    seconds = sum(row[c.SECONDS] for row in known)
    total = sum(row[name] * row[c.SECONDS] for row in known)
    return total / seconds if seconds else None


def held(rows: list[Row], flag: str) -> float | None:
    if all(row[flag] is None for row in rows):
        return None
    return float(sum(row[c.SECONDS] for row in rows if row[flag]))


def highest(rows: list[Row], name: str) -> Any:
    return max((row[name] for row in rows if row[name] is not None), default=None)


def test_ranks_go_by_evenness_then_moves_then_name() -> None:
    even = {"A": 1.5, "B": 1.2, "C": 1.2 + 1e-12, "D": 1.2, "E": None, "in_use+1": 1.0}
    moves = {"A": 0, "B": 7, "C": 2, "D": 2, "E": 0, "in_use+1": 0}
    columns = {
        c.STRATEGY: list(even),
        "load_max_to_mean": np.array(list(even.values()), np.float64),
        c.UNOWNED_COUNT: np.zeros(len(even)),
        c.MOVES: np.array(list(moves.values()), np.float64),
    }
    ranks = ranks_of(np.zeros(len(even), np.int64), columns)
    assert dict(zip(even, map(float, ranks), strict=True)) == pytest.approx(
        {"A": 4, "B": 3, "C": 1, "D": 2, "E": np.nan, "in_use+1": np.nan}, nan_ok=True
    )


def test_no_rows_have_no_figures() -> None:
    assert spread([]) == {name: [] for name in TABLES}
