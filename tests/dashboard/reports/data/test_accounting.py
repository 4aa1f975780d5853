"""Random holes in the rows of queues, up to the figure that is drawn of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from analytics import contracts as c
from dashboard.models import Grouping
from dashboard.reports.data.accounting import known_by_step
from dashboard.reports.data.results import QUEUE_KEY
from dashboard.reports.data.series import lines_of
from dashboard.reports.data.steps import STEP_COLUMNS, steps_of
from dashboard.reports.data.values import Part
from dashboard.reports.figures.lag import lag_over_time
from dashboard.reports.request.axis import Axis
from tests.dashboard.reports.drawn import hatched, values

SINCE = datetime(2026, 3, 13, tzinfo=UTC)
STEP = timedelta(seconds=10)
STEPS = 24
AXIS = Axis(SINCE, SINCE + STEPS * STEP, STEP, UTC)

_TYPES = {c.SINCE: pa.timestamp("us", tz="UTC"), c.QUEUE_COUNT: pa.int64()} | {
    name: pa.float64() for name in (c.SECONDS, c.UNKNOWN_SECONDS, c.LAG_MEAN, c.IN_RATE)
}


def row(queue: int, step: int, lag: float | None, **more: Any) -> dict[str, Any]:
    seconds = 0.0 if lag is None else 10.0
    return {
        c.GROUP: "g",
        c.TOPIC: "T",
        c.BROKER: f"b{queue % 2}",
        c.QUEUE_ID: queue // 2,
        c.SINCE: AXIS.steps()[step],
        c.SECONDS: seconds,
        c.UNKNOWN_SECONDS: 10.0 - seconds,
        c.LAG_MEAN: lag,
        **more,
    }


def table(*rows: dict[str, Any]) -> pa.Table:
    names = (*QUEUE_KEY, *STEP_COLUMNS, c.IN_RATE)
    kinds = {name: _TYPES.get(name) for name in names}
    kinds |= {name: pa.string() for name in (c.GROUP, c.TOPIC, c.BROKER)}
    fields = [(name, kinds[name] or pa.int64()) for name in names]
    return pa.Table.from_pylist(list(rows), schema=pa.schema(fields))


lags = st.none() | st.floats(0, 1e9)


@given(
    st.integers(1, 5).flatmap(
        lambda queues: st.lists(
            st.lists(lags, min_size=queues, max_size=queues) | st.none(),
            min_size=STEPS,
            max_size=STEPS,
        )
    ),
    st.randoms(use_true_random=False),
)
def test_no_drawn_point_comes_from_a_part(
    seen: list[list[float | None] | None], chance: Any
) -> None:
    rows = [
        row(queue, step, lag)
        for step, of in enumerate(seen)
        for queue, lag in enumerate(of or [])
    ]
    chance.shuffle(rows)
    steps = steps_of(table(*rows), QUEUE_KEY, AXIS)
    figure = lag_over_time(AXIS, steps, [])
    whole = {
        AXIS.local(AXIS.steps()[step]): sum(lag for lag in of if lag is not None)
        for step, of in enumerate(seen)
        if of and None not in of
    }
    drawn = values(figure["data"][0])
    assert drawn.keys() == whole.keys()
    assert all(abs(drawn[at] - whole[at]) <= 1e-6 * whole[at] for at in whole)
    for step, of in enumerate(seen):
        at = AXIS.steps()[step].replace(tzinfo=None)
        words = [h.text for h in hatched(figure) if h.since <= at < h.until]
        lacking = None if of is None else of.count(None)
        if of is None or lacking == len(of):
            assert words == ["not collected"]
        elif lacking:
            assert len(words) == 1
            assert words[0].endswith(f"from {len(of) - lacking} of {len(of)} queues")
        else:
            assert words == []


def test_a_quiet_queue_s_row_stands_for_the_steps_before_it() -> None:
    """Results of before had one row a minute of a quiet queue, with its 60 seconds."""
    busy = [row(0, step, 5.0) for step in range(STEPS)]
    quiet = [row(1, step, 0.0, seconds=60.0, unknown_seconds=0.0) for step in (5, 11)]
    steps = steps_of(table(*busy, *quiet), QUEUE_KEY, AXIS)
    assert [(step.known, step.queues) for step in steps[:12]] == [(2, 2)] * 12
    assert hatched(lag_over_time(AXIS, steps, [])) == []


def test_what_was_not_known_for_a_minute_is_a_part_all_the_while() -> None:
    busy = [row(0, step, 5.0) for step in range(STEPS)]
    silent = row(1, 11, None, seconds=0.0, unknown_seconds=60.0)
    steps = steps_of(table(*busy, silent), QUEUE_KEY, AXIS)
    assert [step.since for step in steps if step.is_part] == AXIS.steps()[5:12]


def test_a_hole_between_quiet_samples_stays_one() -> None:
    """Of a hundred seconds a sample tells sixty."""
    quiet = [row(0, step, 0.0, seconds=60.0, unknown_seconds=0.0) for step in (5, 15)]
    steps = steps_of(table(*quiet), QUEUE_KEY, AXIS)
    (first, last) = hatched(lag_over_time(AXIS, steps, []))
    seconds = (first.until - first.since).total_seconds()
    assert 30 <= seconds <= 50
    assert last.since == AXIS.steps()[16].replace(tzinfo=None)


def test_rows_that_fill_their_step_stand_for_no_other() -> None:
    rows = [row(0, step, 5.0) for step in (3, 4, 7)]
    steps = steps_of(table(*rows), QUEUE_KEY, AXIS)
    assert [step.since for step in steps] == [AXIS.steps()[n] for n in (3, 4, 7)]


def test_time_unknown_within_a_step_is_kept() -> None:
    (step,) = steps_of(
        table(row(0, 0, 5.0), row(1, 0, 5.0, seconds=2.0, unknown_seconds=8.0)),
        QUEUE_KEY,
        AXIS,
    )
    assert (step.lag, step.unknown) == (10, timedelta(seconds=8))


def test_rates_are_counted_by_themselves() -> None:
    rows = table(row(0, 0, 5.0, in_rate=3.0), row(1, 0, 5.0), row(2, 0, 5.0, in_rate=0))
    found = known_by_step(rows, QUEUE_KEY, AXIS, c.IN_RATE)
    assert found == {SINCE: Part(2, 3, 3.0)}


def test_lines_of_one_name_are_summed_not_mixed_up() -> None:
    """Two groups read one topic: its line is of both."""
    rows = table(row(0, 0, 5.0), {**row(0, 0, 7.0), c.GROUP: "h"}, row(1, 1, None))
    (line,) = lines_of(rows, QUEUE_KEY, Grouping.TOPIC, AXIS)
    at = AXIS.steps()
    assert line.values == {at[0]: 12, at[1]: None}
    assert line.parts == {}


def test_the_worst_lines_are_kept_also_where_only_a_part_is_known() -> None:
    rows = [
        {**row(0, 0, lag), c.GROUP: group}
        for group, lag in (("a", 1.0), ("b", 90.0), ("c", 50.0))
    ]
    rows.append({**row(1, 0, None), c.GROUP: "b"})
    found = lines_of(table(*rows), QUEUE_KEY, Grouping.GROUP, AXIS, most=2)
    assert [line.label for line in found] == ["b", "c"]
    assert found[0].parts == {SINCE: Part(1, 2, 90.0)}
