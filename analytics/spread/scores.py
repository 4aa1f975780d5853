"""How even a share is, and when the slowest member finishes: a value for each step.

The same scores and drain times as those of `rmqcore.allocation`, for many steps at
once; members without queues are included. Where the load (or lag) of a queue is not
known, the evenness of its division is not known either. NaN stands for unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from analytics import contracts as c
from rmqcore.allocation.drain import HORIZON_S, ROUNDING

from .shares import Flags, Floats, Ints, Share, StepRows, summed

LAG: Final = "lag"
SCORES: Final = (c.MAX_TO_MEAN, c.VARIATION, c.GINI)


def score_names(quantity: str) -> tuple[str, ...]:
    """Return the columns that hold the scores of `LAG` or `LOAD`."""
    return tuple(f"{quantity}_{score}" for score in SCORES)


def scored(
    share: Share, rows: StepRows, capacity: Floats, added: int
) -> Mapping[str, Floats | Ints]:
    """Return figures for each step in which the candidate divided anything.

    `c.SINCE` holds the positions of those steps in `rows`; flags are 0, 1 or NaN.
    `overload` says that the busiest member would have had more load than any member of
    the group was ever seen to take. The known part of a load can be enough to affirm
    this, but never to deny it. The evenness of a division is undefined while queues
    have no owner, as in `rmqcore.allocation.scores`.
    """
    steps = _Steps(share.step)
    at = steps.ids
    owned = share.is_owned
    members = rows.members[at] + added
    idle = members - steps.sum(owned)
    drain = _drain(share, capacity[share.step])
    never = steps.any(drain == np.inf)
    partial = steps.any(np.isnan(drain))
    unowned = steps.sum(np.where(owned, 0, share.queues))
    found: dict[str, Floats | Ints] = {
        c.SINCE: at,
        c.SECONDS: steps.mean(share.seconds, share.queues),
        c.UNKNOWN_SECONDS: steps.mean(share.unknown, share.queues),
        c.MEMBER_COUNT: members,
        c.IDLE_COUNT: idle,
        c.UNOWNED_COUNT: unowned,
    }
    whole = {
        LAG: ~steps.any(owned & ~share.lag_whole),
        c.LOAD: ~steps.any(owned & ~share.load_whole),
    }
    for name, values in ((LAG, share.lag), (c.LOAD, share.load)):
        known = owned & ~np.isnan(values)
        found |= {
            score: np.where(whole[name] & (unowned == 0), values_, np.nan)
            for score, values_ in _evenness(
                name, steps.of(known), values[known], idle
            ).items()
        }
    busiest = steps.max(np.where(owned, share.load, np.nan))
    found[c.LOAD_PEAK] = np.where(whole[c.LOAD], busiest, np.nan)
    overload = busiest > capacity[at] * (1 + ROUNDING)
    is_told = ~np.isnan(busiest) & (overload | whole[c.LOAD])
    found[c.OVERLOAD] = _known_flag(overload, unknown=~is_told | np.isnan(capacity[at]))
    worst = steps.max(drain)
    found[c.DRAIN_SECONDS] = np.where(never | partial, np.nan, worst)
    found[c.NEVER_DRAINS] = _known_flag(never, unknown=partial & ~never)
    return found


class _Steps:
    """Sums over the members of each step, which are stored contiguously."""

    def __init__(self, step: Ints) -> None:
        self.ids, self._first, self._number = np.unique(
            step, return_index=True, return_inverse=True
        )

    def of(self, chosen: Flags) -> _Chosen:
        return _Chosen(self._number[chosen], len(self.ids))

    def sum(self, values: Flags | Ints) -> Ints:
        return np.bincount(self._number, values, len(self.ids)).astype(np.int64)

    def mean(self, values: Floats, counts: Ints) -> Floats:
        """Return the mean of each step's values, each counted `counts` times."""
        steps = len(self.ids)
        total = np.bincount(self._number, values * counts, steps)
        found: Floats = total / np.bincount(self._number, counts, steps)
        return found

    def max(self, values: Floats) -> Floats:
        """Return the greatest known value of each step."""
        if not len(values):
            return values
        return np.fmax.reduceat(values, self._first)

    def any(self, flags: Flags) -> Flags:
        return np.bincount(self._number, flags, len(self.ids)) > 0


class _Chosen:
    """Some of the members, by the number of their step."""

    def __init__(self, number: Ints, steps: int) -> None:
        self.number = number
        self.steps = steps
        self.count = np.bincount(number, minlength=steps)

    def sum(self, values: Floats) -> Floats:
        return summed(self.number, values, self.steps)

    def top(self, values: Floats) -> Floats:
        found = np.zeros(self.steps)
        np.maximum.at(found, self.number, values)
        return found

    def places(self, values: Floats) -> Ints:
        """Return the rank of each value within its step, from 1 for the least."""
        order = np.lexsort((values, self.number))
        first = np.concatenate([[0], np.cumsum(self.count)[:-1]])
        found = np.empty(len(values), np.int64)
        found[order] = np.arange(len(values)) - first[self.number[order]] + 1
        return found


def _evenness(
    name: str, busy: _Chosen, values: Floats, idle: Ints
) -> dict[str, Floats | Ints]:
    """Return the three scores over the busy members and the idle ones, which are 0.

    The variance of all members follows from that of the busy ones and, since the idle
    ones are all 0, the distance of the two means.
    """
    total = busy.sum(values)
    count = busy.count + idle
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / count
        busy_mean = total / busy.count
        apart = values - busy_mean[busy.number]
        squares = busy.sum(apart * apart)
        squares += np.where(busy.count > 0, busy_mean**2 * busy.count * idle / count, 0)
        # Idle members stand before the others.
        ranked = busy.sum(values * busy.places(values)) + idle * total
        gini = 2 * ranked / total / count - (count + 1) / count
        scores = {
            c.MAX_TO_MEAN: (busy.top(values) / mean, 1.0),
            c.VARIATION: (np.sqrt(squares / count) / mean, 0.0),
            c.GINI: (np.maximum(gini, 0.0), 0.0),
        }
    return {
        f"{name}_{score}": np.where(
            count > 0, np.where(total > 0, values_, even), np.nan
        )
        for score, (values_, even) in scores.items()
    }


def _drain(share: Share, capacity: Floats) -> Floats:
    """Return the seconds until each member is done, as `member_drain_time` has it.

    Infinity means never. A queue without an owner never drains, unless it is empty.
    """
    lag, load = share.lag, share.load
    with np.errstate(divide="ignore", invalid="ignore"):
        too_much = load > capacity * (1 + ROUNDING)
        spare = capacity - np.fmin(load, capacity)
        lasting = np.where(lag <= spare * HORIZON_S, lag / spare, np.inf)
        owned = np.select(
            [too_much, ~share.is_known, lag == 0, np.isnan(capacity)],
            [np.inf, np.nan, 0.0, np.nan],
            lasting,
        )
        left_over = np.select(
            [(lag > 0) | (load > 0), share.is_known], [np.inf, 0.0], np.nan
        )
    return np.where(share.is_owned, owned, left_over)


def _known_flag(flag: Flags, *, unknown: Flags) -> Floats:
    return np.where(unknown, np.nan, flag.astype(np.float64))
