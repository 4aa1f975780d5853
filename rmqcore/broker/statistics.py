"""Counts and rates: what went in and out, per topic, group and broker.

A counter is a running sum of values and of how often one was added. `sample`, called
every 10 s, notes where each counter stands; rates are differences between notes, over
the last 10, 60 and 600 s as RocketMQ shows them. No IO and no clock: times are
arguments in ms.

Cost: a count is two look-ups and two additions; a counter keeps at most 61 notes.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import fsum
from typing import Final

SAMPLE_INTERVAL_S: Final = 10
_KEPT_NOTES: Final = 61
MINUTE_S: Final = 60
HOUR_S: Final = 600
"""Sampled this way, RocketMQ's "hour" statistics reach back ten minutes."""

TOPIC_PUT_NUMS: Final = "TOPIC_PUT_NUMS"
TOPIC_PUT_SIZE: Final = "TOPIC_PUT_SIZE"
GROUP_GET_NUMS: Final = "GROUP_GET_NUMS"
GROUP_GET_SIZE: Final = "GROUP_GET_SIZE"
SEND_BACK_NUMS: Final = "SNDBCK_PUT_NUMS"
BROKER_PUT_NUMS: Final = "BROKER_PUT_NUMS"
BROKER_GET_NUMS: Final = "BROKER_GET_NUMS"
GET_FOUND: Final = "GET_FOUND"
GET_MISS: Final = "GET_MISS"
NAMES: Final = (
    TOPIC_PUT_NUMS,
    TOPIC_PUT_SIZE,
    GROUP_GET_NUMS,
    GROUP_GET_SIZE,
    SEND_BACK_NUMS,
    BROKER_PUT_NUMS,
    BROKER_GET_NUMS,
    GET_FOUND,
    GET_MISS,
)


@dataclass(frozen=True, slots=True)
class Rate:
    """Sum of values, sum per second, and mean per value counted, over one span."""

    sum: int = 0
    tps: float = 0.0
    average: float = 0.0


@dataclass(slots=True)
class Counter:
    """A running sum of values and of how often something was added."""

    sum: int = 0
    times: int = 0
    notes: deque[tuple[int, int, int]] = field(
        default_factory=lambda: deque(maxlen=_KEPT_NOTES)
    )

    def rate(self, span_s: int) -> Rate:
        """Return the rate between the newest note and the one `span_s` before it."""
        if len(self.notes) < 2:
            return Rate()
        newest = self.notes[-1]
        begin_ms = newest[0] - span_s * 1000
        oldest = next(note for note in self.notes if note[0] >= begin_ms)
        seconds = (newest[0] - oldest[0]) / 1000
        if seconds <= 0:
            return Rate()
        total, times = newest[1] - oldest[1], newest[2] - oldest[2]
        return Rate(total, total / seconds, total / times if times else 0.0)


class Statistics:
    """Counters by name (one of `NAMES`) and key."""

    def __init__(self, now_ms: int) -> None:
        self._counters: dict[str, dict[str, Counter]] = {name: {} for name in NAMES}
        self._stored: dict[tuple[str, str], list[Counter]] = {}
        self._sampled_ms = now_ms

    def add(self, name: str, key: str, value: int) -> None:
        """Count `value` once."""
        counter = self._counters[name].get(key) or self._make(name, key)
        counter.sum += value
        counter.times += 1

    def add_stored(self, topic: str, cluster: str, messages: int, size: int) -> None:
        """Count messages of one send, `size` bytes in all, for topic and broker."""
        counters = self._stored.get((topic, cluster))
        if counters is None:
            counters = self._stored[topic, cluster] = [
                self._counters[name].get(key) or self._make(name, key)
                for name, key in (
                    (TOPIC_PUT_SIZE, topic),
                    (TOPIC_PUT_NUMS, topic),
                    (BROKER_PUT_NUMS, cluster),
                )
            ]
        sizes, numbers, all_numbers = counters
        sizes.sum += size
        sizes.times += 1
        numbers.sum += messages
        numbers.times += 1
        all_numbers.sum += messages
        all_numbers.times += 1

    def sample(self, now_ms: int) -> None:
        """Note where every counter stands."""
        self._sampled_ms = now_ms
        for table in self._counters.values():
            for counter in table.values():
                counter.notes.append((now_ms, counter.sum, counter.times))

    def counter(self, name: str, key: str) -> Counter | None:
        """Return a counter, None when nothing was counted under that name and key."""
        return self._counters.get(name, {}).get(key)

    def tps(self, name: str, key: str, span_s: int = MINUTE_S) -> float:
        """Return the rate per second over the last `span_s`, 0 when nothing counted."""
        counter = self.counter(name, key)
        return 0.0 if counter is None else counter.rate(span_s).tps

    def total(self, name: str) -> int:
        """Return the sum over all keys of a name."""
        return sum(counter.sum for counter in self._counters[name].values())

    def total_tps(self, name: str, span_s: int) -> float:
        """Return the rate per second over all keys of a name."""
        counters = self._counters[name].values()
        return fsum(counter.rate(span_s).tps for counter in counters)

    def forget(self, key: str) -> None:
        """Drop the counters of a topic, a group or a pair of them."""
        self._stored.clear()
        for table in self._counters.values():
            for name in [n for n in table if n == key or key in n.split("@")]:
                del table[name]

    # Private

    def _make(self, name: str, key: str) -> Counter:
        counter = self._counters[name][key] = Counter()
        # Nothing was counted before, so the last sample would have noted 0.
        counter.notes.append((self._sampled_ms, 0, 0))
        return counter
