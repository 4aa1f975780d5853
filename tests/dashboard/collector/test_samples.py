from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from analytics import contracts as c
from dashboard.collector.ownership import Ownership, RowOwners
from dashboard.collector.samples import FIELDS, SampleColumns, Sampler
from rmqcore.model.columns import Reason
from rmqcore.model.snapshot import QueueTable

from .sights import keys, table

QUEUES = keys(2)
QUIET = table(QUEUES)
LAGGING = table(QUEUES, high=[105, 105])
SILENT = table(QUEUES, high=[Reason.NO_ANSWER] * 2, committed=[Reason.NO_ANSWER] * 2)


def claims(looks: Iterable[tuple[int, QueueTable]]) -> list[tuple[int, float]]:
    """Return (second, claim) of each sample of the first queue."""
    sampler = Sampler()
    return [
        (second, weight)
        for second, seen in looks
        for row, weight in sampler.take(seen, second * 1000)
        if row == 0
    ]


def test_the_first_sweep_samples_everything_and_claims_nothing() -> None:
    assert Sampler().take(QUIET, 0) == [(0, 0.0), (1, 0.0)]


def test_quiet_queues_are_sampled_before_a_minute_has_passed() -> None:
    quiet = [(second, QUIET) for second in range(0, 130, 10)]
    assert claims(quiet) == [(0, 0.0), (50, 50.0), (100, 50.0)]
    slow = [(second, QUIET) for second in range(0, 130, 25)]
    assert claims(slow) == [(0, 0.0), (50, 50.0), (100, 50.0)]
    slower = [(second, QUIET) for second in range(0, 130, 40)]
    assert claims(slower) == [(0, 0.0), (40, 40.0), (80, 40.0), (120, 40.0)]


@given(
    st.lists(
        st.tuples(st.sampled_from((0, 1, 2, 3, 4)), st.sampled_from((1, 9, 10, 11, 70)))
    )
)
def test_a_table_that_is_the_same_is_sampled_as_an_equal_one(
    looks: list[tuple[int, int]],
) -> None:
    drained = table(QUEUES, high=[105, 105], committed=[105, 105])
    tables = [QUIET, LAGGING, SILENT, drained, table(keys(3))]
    same, equal, at_ms = Sampler(), Sampler(), 0
    for number, apart_s in looks:
        at_ms += apart_s * 1000
        seen, epoch = tables[number], len(looks) // 3
        again = replace(seen)
        assert same.take(seen, at_ms, epoch) == equal.take(again, at_ms, epoch)


def test_lag_or_traffic_is_sampled_each_time() -> None:
    sampler = Sampler()
    sampler.take(QUIET, 0)
    lagging = table(QUEUES, high=[105, 100])
    assert sampler.take(lagging, 10_000) == [(0, 10.0)]
    assert sampler.take(lagging, 20_100) == [(0, 10.1)]
    drained = table(QUEUES, high=[105, 100], committed=[105, 100])
    assert sampler.take(drained, 30_100) == [(0, 10.0)]
    assert sampler.take(drained, 40_100) == []


def test_a_sweep_slightly_early_is_not_missed() -> None:
    sampler = Sampler()
    sampler.take(LAGGING, 0)
    assert sampler.take(LAGGING, 9_400) == [(0, 9.4), (1, 9.4)]
    assert sampler.take(LAGGING, 10_400) == []


def test_of_a_late_sweep_a_minute_is_claimed_and_no_more() -> None:
    assert claims([(0, LAGGING), (45, LAGGING)])[1] == (45, 45.0)
    assert claims([(0, LAGGING), (100, LAGGING)])[1] == (100, 60.0)
    assert claims([(0, QUIET), (20, QUIET), (100, QUIET)])[1] == (100, 60.0)


def test_a_silent_broker_s_time_is_not_claimed_when_it_answers_again() -> None:
    looks = [(0, QUIET), *((second, SILENT) for second in range(10, 60, 10))]
    assert claims([*looks, (60, LAGGING)]) == [(0, 0.0), (10, 10.0), (60, 10.0)]


def test_a_queue_that_was_not_named_claims_nothing_when_it_is_back() -> None:
    looks = [(0, LAGGING), (10, table(())), (20, LAGGING), (30, LAGGING)]
    assert claims(looks) == [(0, 0.0), (20, 0.0), (30, 10.0)]


def test_a_clock_set_back_claims_nothing_twice() -> None:
    assert claims([(100, LAGGING), (95, LAGGING), (110, LAGGING)]) == [
        (100, 0.0),
        (110, 10.0),
    ]


def test_the_time_before_an_epoch_belongs_to_the_one_before_it() -> None:
    sampler, samples = Sampler(), SampleColumns()
    rows = (RowOwners(("c1",), "reported"),) * 3
    joined = table(keys(3))
    for second, seen, epoch in ((0, QUIET, 7), (20, joined, 8), (80, joined, 8)):
        chosen = sampler.take(seen, second * 1000, epoch)
        samples.add(
            "g",
            seen,
            chosen,
            epoch=epoch,
            ownership=Ownership(rows, True, 1),
            span_epoch=sampler.span_epoch,
        )
    told = samples.columns
    names = (c.QUEUE_ID, c.WEIGHT, c.EPOCH, c.OWNER)
    assert list(zip(*(told[name] for name in names), strict=True)) == [
        *((queue, 0.0, 7, "c1") for queue in range(2)),
        # Quiet, and sampled all the same: what passed by then was in epoch 7.
        *((queue, 20.0, 7, None) for queue in range(2)),
        (2, 0.0, 8, "c1"),
        *((queue, 60.0, 8, "c1") for queue in range(3)),
    ]


KNOWN = ("quiet", "moved", "lagging")
Looks = list[tuple[int, str]]


def looks_at_one_queue(
    gaps: st.SearchStrategy[int], states: tuple[str, ...]
) -> st.SearchStrategy[Looks]:
    """Draw when one queue was looked at, and what was seen of it."""
    drawn = st.lists(st.tuples(gaps, st.sampled_from(states)), min_size=1)
    return drawn.map(
        lambda pairs: [
            (sum(gap for gap, _state in pairs[: number + 1]), state)
            for number, (_gap, state) in enumerate(pairs)
        ]
    )


def seen_as(state: str, at: int) -> QueueTable:
    if state == "not named":
        return table(())
    if state == "silent":
        return table(keys(1), high=[Reason.NO_ANSWER], committed=[100])
    high = 100 + at if state == "moved" else 100
    return table(keys(1), high=[high], committed=[0 if state == "lagging" else high])


@given(
    looks_at_one_queue(
        st.one_of(st.integers(8, 13), st.integers(1, 200)),
        (*KNOWN, "silent", "not named"),
    )
)
def test_what_is_claimed_was_looked_at_and_is_claimed_once(looks: Looks) -> None:
    states = dict(looks)
    claimed_to = looks[0][0]
    for at, weight in claims((at, seen_as(state, at)) for at, state in looks):
        since = at - weight
        assert weight <= c.MOST_WEIGHT
        if not weight:
            continue
        assert since >= claimed_to, "claimed twice, or before the first look"
        claimed_to = at
        within = [state for look, state in looks if since < look < at]
        assert "not named" not in within
        if states[at] in KNOWN:
            assert "silent" not in within


@given(looks_at_one_queue(st.integers(9, 11), KNOWN))
def test_while_sweeps_come_in_time_every_second_is_claimed(looks: Looks) -> None:
    found = claims((at, seen_as(state, at)) for at, state in looks)
    first, last = looks[0][0], found[-1][0]
    assert sum(weight for _at, weight in found) == last - first
    assert looks[-1][0] - last <= c.MOST_WEIGHT


def test_columns_hold_null_for_unknown_and_owners_only_as_reported() -> None:
    seen = table(QUEUES, committed=[Reason.NOTHING_COMMITTED, 100])
    rows = (RowOwners(("c1",), "reported"), RowOwners(("c1",), "inferred"))
    columns = SampleColumns()
    columns.add(
        "g", seen, [(0, 10.0), (1, 60.0)], epoch=3, ownership=Ownership(rows, True, 1)
    )
    assert len(columns) == 2
    assert columns.columns["committed"] == [None, 100]
    assert columns.columns["owner"] == ["c1", None]
    assert columns.columns["epoch"] == [3, 3]
    assert columns.columns["weight"] == [10.0, 60.0]
    assert {len(columns.columns[name]) for name in FIELDS} == {2}


def test_who_reads_what_is_not_divided_owns_nothing() -> None:
    rows = (RowOwners(("c1",), "reported"),) * 2
    columns = SampleColumns()
    seen = Ownership(rows, True, 1, divided=False)
    columns.add("g", table(QUEUES), [(0, 10.0), (1, 10.0)], epoch=3, ownership=seen)
    assert columns.columns["owner"] == [None, None]


def test_without_a_look_at_owners_there_is_none() -> None:
    columns = SampleColumns()
    columns.add("g", QUIET, [(0, 10.0)], epoch=None, ownership=None)
    assert columns.columns["owner"] == [None]
    assert columns.columns["epoch"] == [None]


COLUMN = st.sampled_from((100, 105, 110, Reason.NO_ANSWER))
MANY = keys(3)


@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(COLUMN, COLUMN), min_size=3, max_size=3)
            | st.tuples(COLUMN, COLUMN).map(lambda row: [row] * 3),
            st.sampled_from((1, 5, 10, 10, 10, 12, 70)),
            st.sampled_from((1, 1, 1, 1, 2)),
        ),
        max_size=14,
    )
)
def test_queues_are_sampled_together_as_they_are_one_by_one(
    looks: list[tuple[list[tuple[int | Reason, int | Reason]], int, int]],
) -> None:
    whole, single, at_ms = Sampler(), [Sampler() for _ in MANY], 0
    for rows, apart_s, epoch in looks:
        at_ms += apart_s * 1000
        high, done = [row[0] for row in rows], [row[1] for row in rows]
        seen = table(MANY, high=high, committed=done)
        one_by_one = [
            (row, weight)
            for row, sampler in enumerate(single)
            for _row, weight in sampler.take(
                table(MANY[row : row + 1], high=[high[row]], committed=[done[row]]),
                *(at_ms, epoch),
            )
        ]
        assert whole.take(seen, at_ms, epoch) == one_by_one
        chosen = [(row, float(row)) for row in range(3)]
        at_once, by_rows = SampleColumns(), SampleColumns()
        at_once.add("g", seen, chosen, epoch=epoch, ownership=None)
        for each in chosen:
            by_rows.add("g", seen, [each], epoch=epoch, ownership=None)
        assert at_once.columns == by_rows.columns
