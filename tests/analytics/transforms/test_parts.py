"""Roll-ups as arrays are those of a plain loop, whatever the samples are like."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any, Final

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics import contracts as c
from analytics.lake.ladder import FAMILIES, PEAKS, QUEUES
from analytics.schemas import SAMPLES
from analytics.transforms.parts import SCHEMAS, merged_table, rolled_up
from tests.analytics.drawn import drawn_rows
from tests.analytics.rolled import merged_by_hand, parts_by_hand, peaks_by_hand
from tests.analytics.rows import START_MS

STEP_MS: Final = 60_000
BY_HAND: Final = {QUEUES: parts_by_hand, PEAKS: peaks_by_hand}
KEYS: Final = {
    QUEUES: (*c.QUEUE_KEY, c.EPOCH, c.TIME),
    PEAKS: (c.CLUSTER, c.GROUP, c.TOPIC, c.TIME),
}

_offset = st.none() | st.integers(0, 5)


@st.composite
def samples(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw samples of few queues, with what may be unknown; no two of one moment."""
    key = st.tuples(*(st.sampled_from(["a", "b"]) for _ in range(4)), st.integers(0, 1))
    drawn = draw(
        st.lists(st.tuples(key, st.integers(0, 250_000)), max_size=30, unique=True)
    )
    # Sweeps of a group have one moment: some are the same.
    coarse = draw(st.sampled_from([1, 1000, 30_000]))
    seen = {(queue, START_MS + at // coarse * coarse) for queue, at in drawn}
    return [
        {
            **dict(zip(c.QUEUE_KEY, queue, strict=True)),
            c.TIME: at,
            c.WEIGHT: draw(st.integers(0, 90_000)) / 1000,
            c.MAX: draw(_offset),
            c.COMMITTED: draw(_offset),
            c.LAG_MS: draw(st.none() | st.sampled_from([0, c.OVER_MS, c.OVER_MS + 1])),
            c.EPOCH: draw(st.none() | st.integers(0, 2)),
        }
        for queue, at in sorted(seen)
    ]


def table_of(rows: list[dict[str, Any]]) -> Any:
    whole = [dict.fromkeys(SAMPLES.names) | row for row in rows]
    return pa.Table.from_pylist(whole, schema=SAMPLES)


def alike(found: Any, wanted: list[dict[str, Any]], family: str) -> None:
    """Hold a table to rows; sums in another order differ in the last digits."""
    assert found.schema.equals(SCHEMAS[family], check_metadata=True)
    ours, theirs = (
        {tuple(row[name] for name in KEYS[family]): row for row in rows}
        for rows in (found.to_pylist(), wanted)
    )
    assert found.num_rows == len(ours)
    assert ours.keys() == theirs.keys()
    for key, row in theirs.items():
        for name, value in row.items():
            if isinstance(value, float):
                assert math.isclose(ours[key][name], value, abs_tol=1e-9), (key, name)
            else:
                assert ours[key][name] == value, (key, name)


@given(samples())
def test_samples_are_rolled_up_as_by_a_plain_loop(rows: list[dict[str, Any]]) -> None:
    table = table_of(rows)
    for family, found in rolled_up(table, STEP_MS).items():
        alike(found, BY_HAND[family](table.to_pylist()), family)


@given(samples(), st.randoms(use_true_random=False), st.sampled_from([60, 600]))
def test_what_was_rolled_up_apart_is_merged_as_by_a_plain_loop(
    rows: list[dict[str, Any]], chance: Any, step: int
) -> None:
    """Moments of a group stay together, as in landing files."""
    part = {key: chance.randrange(3) for key in {(r[c.GROUP], r[c.TIME]) for r in rows}}
    tables = [
        table_of([row for row in rows if part[row[c.GROUP], row[c.TIME]] == number])
        for number in range(3)
    ]
    whole = table_of(rows)
    for family in FAMILIES:
        apart = pa.concat_tables(
            [rolled_up(table, STEP_MS)[family] for table in tables]
        )
        long = timedelta(seconds=step)
        wanted = merged_by_hand(BY_HAND[family](whole.to_pylist()), long, family)
        alike(merged_table(family, apart, step * 1000), wanted, family)


@pytest.mark.parametrize("seed", range(3))
def test_lakes_that_were_drawn_are_rolled_up_as_by_a_plain_loop(seed: int) -> None:
    table = table_of(drawn_rows(seed)[0])
    for family, found in rolled_up(table, STEP_MS).items():
        alike(found, BY_HAND[family](table.to_pylist()), family)


def test_names_that_are_dictionaries_give_the_same() -> None:
    table = table_of(drawn_rows(1)[0])
    half = table.num_rows // 2
    coded = pa.concat_tables(
        [
            each.set_column(at, name, each[name].dictionary_encode())
            for each in (table.slice(0, half), table.slice(half))
            for name in (c.GROUP,)
            for at in (table.schema.get_field_index(name),)
        ]
    )
    assert rolled_up(coded, STEP_MS) == rolled_up(table, STEP_MS)
