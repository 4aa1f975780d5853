"""Steps as arrays are those of a plain loop, whatever the samples are like."""

from __future__ import annotations

import math
import random
from typing import Any, Final

import numpy as np
import pytest

from analytics import contracts as c
from analytics.presence import Period
from analytics.transforms.steps import (
    AT,
    BEGAN,
    CLAIM,
    NONE,
    OVER,
    QUEUE,
    Columns,
    in_order,
    joined,
    of_epochs,
    parts_of_samples,
    steps_of,
    steps_there,
)
from tests.analytics.lag_by_hand import LOOK_BACK_MS, REACH_MS, LagByHand
from tests.analytics.rows import MINUTE, START_MS

QUEUES: Final = 6
EPOCHS: Final = 4
LASTS: Final = 40 * MINUTE
VALUES: Final = (
    c.SECONDS,
    c.UNKNOWN_SECONDS,
    c.LAG_MEAN,
    c.IN_RATE,
    c.OUT_RATE,
)


def drawn(seed: int) -> Columns:
    """Draw samples: gaps, unknown offsets and epochs, offsets that go back."""
    chance = random.Random(seed)
    rows: list[tuple[int, ...]] = []
    for queue in range(QUEUES):
        at, top = START_MS - MINUTE, 100
        while at < START_MS + LASTS:
            waited = chance.choice([10, 10, 10, 60, 300]) * 1000 + chance.randrange(9)
            at, top = at + waited, top + chance.randrange(500)
            if chance.random() < 0.02:
                top = 0
            epoch = 1 + (at - START_MS) * EPOCHS // LASTS
            known = [NONE if chance.random() < 0.1 else top, top - 10]
            known[1] = NONE if chance.random() < 0.1 else max(0, known[1])
            if chance.random() < 0.05:
                epoch = NONE
            claim = min(waited, 60_000) if chance.random() < 0.9 else 0
            rows.append((queue, max(epoch, NONE), at, claim, *known))
    chance.shuffle(rows)
    names = (QUEUE, c.EPOCH, AT, CLAIM, c.MAX, c.COMMITTED)
    return dict(zip(names, np.array(rows, np.int64).T, strict=True))


def spans() -> Columns:
    """Return epochs of all queues but the last, of which nothing is told.

    The first epoch ends late, the last one runs, and one is without a queue's sample.
    """
    each = LASTS // EPOCHS
    rows = [
        (
            queue,
            number + 1,
            START_MS + number * each,
            START_MS + (number + 1) * each + 5000 if number < EPOCHS - 1 else NONE,
        )
        for queue in range(QUEUES - 1)
        for number in range(EPOCHS)
    ]
    names = (QUEUE, c.EPOCH, BEGAN, OVER)
    return dict(zip(names, np.array(rows, np.int64).T, strict=True))


def found_by_arrays(samples: Columns, period: Period) -> dict[tuple[int, ...], Any]:
    ordered = in_order(in_order(samples, QUEUE, AT), QUEUE, c.EPOCH)
    parts = parts_of_samples(ordered, period.step_ms, period.until_ms)
    return keyed(of_epochs(steps_of(parts, steps_there(spans(), period), period)))


def keyed(steps: Columns) -> dict[tuple[int, ...], Any]:
    keys = zip(
        *(steps[name].tolist() for name in (QUEUE, c.EPOCH, c.SINCE)), strict=True
    )
    values = zip(*(steps[name].tolist() for name in VALUES), strict=True)
    return dict(zip(keys, values, strict=True))


def same(
    found: dict[tuple[int, ...], Any], expected: dict[tuple[int, ...], Any]
) -> None:
    assert found.keys() == expected.keys()
    assert found
    for key, values in expected.items():
        assert found[key] == pytest.approx(values, nan_ok=True), key


@pytest.mark.parametrize("step_ms", [10_000, 60_000, 600_000])
def test_arrays_have_the_steps_of_a_plain_loop(step_ms: int) -> None:
    period = Period(START_MS, START_MS + LASTS - 7000, step_ms)
    samples = drawn(step_ms)
    rows = [
        {
            **key(queue),
            c.EPOCH: None if epoch == NONE else epoch,
            c.TIME: at,
            c.WEIGHT: claim / 1000,
            c.MAX: None if top == NONE else top,
            c.COMMITTED: None if done == NONE else done,
        }
        for queue, epoch, at, claim, top, done in zip(
            *(values.tolist() for values in samples.values()), strict=True
        )
    ]
    # No more is read than this, however long ago a queue was sampled.
    read = samples[AT] >= START_MS - LOOK_BACK_MS
    read &= samples[AT] < period.until_ms + REACH_MS
    samples = {name: values[read] for name, values in samples.items()}
    expected = {
        (
            row[c.QUEUE_ID],
            NONE if row[c.EPOCH] is None else row[c.EPOCH],
            row[c.SINCE],
        ): tuple(math.nan if row[name] is None else row[name] for name in VALUES)
        for row in LagByHand(rows, epoch_rows(), period).steps
        if row["length"] > 0
    }
    same(found_by_arrays(samples, period), expected)


def epoch_rows() -> list[dict[str, Any]]:
    names = (c.CLUSTER, c.GROUP)
    queue = (c.TOPIC, c.BROKER, c.QUEUE_ID)
    return [
        {
            **{name: key(number)[name] for name in names},
            c.EPOCH: epoch,
            c.BEGAN: began,
            "over": None if over == NONE else over,
            c.QUEUES: [{name: key(number)[name] for name in queue}],
        }
        for number, epoch, began, over in zip(
            *(values.tolist() for values in spans().values()), strict=True
        )
    ]


def key(queue: int) -> dict[str, Any]:
    return {
        c.CLUSTER: "hangzhou",
        c.GROUP: "settlement",
        c.TOPIC: "orders",
        c.BROKER: "broker-a",
        c.QUEUE_ID: queue,
    }


@pytest.mark.parametrize("seed", range(5))
def test_parts_of_some_samples_add_up_to_those_of_all(seed: int) -> None:
    period = Period(START_MS, START_MS + LASTS, 60_000)
    samples = drawn(seed)
    half = np.random.default_rng(seed).random(len(samples[AT])) < 0.5
    parts = joined(
        [
            parts_of_samples(
                in_order({n: v[mask] for n, v in samples.items()}, QUEUE, c.EPOCH, AT),
                period.step_ms,
                period.until_ms,
            )
            for mask in (half, ~half)
        ]
    )
    steps = of_epochs(steps_of(parts, steps_there(spans(), period), period))
    same(keyed(steps), found_by_arrays(samples, period))


def test_nothing_has_no_steps() -> None:
    period = Period(START_MS, START_MS + LASTS, 60_000)
    nothing = {name: values[:0] for name, values in drawn(1).items()}
    parts = parts_of_samples(nothing, period.step_ms, period.until_ms)
    assert len(steps_of(parts, joined([parts]), period)[QUEUE]) == 0


def test_keys_too_large_for_one_number_are_sorted_all_the_same() -> None:
    rows = {
        QUEUE: np.array([1, 0, 1, 0]),
        c.EPOCH: np.array([5, 1 << 61, 0, 7]),
        AT: np.array([3, 2, 1, 0]),
    }
    assert in_order(rows, QUEUE, c.EPOCH, AT)[AT].tolist() == [0, 2, 1, 3]
