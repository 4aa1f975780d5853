"""The rates at which one member pulls and consumes, per topic, over the last minute.

Counts go into buckets of ten seconds; a reading adds up the six that are complete or
under way. Failed messages are also counted over the last hour, as admin tools show it.
Times come in as milliseconds. Cost: one dictionary look-up per batch.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

BUCKET_MS: Final = 10_000
BUCKETS: Final = 6
_HOUR_BUCKET_MS: Final = 600_000
_HOUR_BUCKETS: Final = 6


class Window:
    """Sums of a count and an amount over a sliding span of buckets."""

    __slots__ = ("_bucket_ms", "_buckets", "_keep")

    def __init__(self, bucket_ms: int = BUCKET_MS, keep: int = BUCKETS) -> None:
        self._bucket_ms = bucket_ms
        self._keep = keep
        self._buckets: deque[list[float]] = deque(maxlen=keep)

    def add(self, now_ms: int, count: int, amount: float = 0.0) -> None:
        """Count `count` things that amount to `amount` together."""
        number = now_ms // self._bucket_ms
        if not self._buckets or self._buckets[-1][0] != number:
            self._buckets.append([number, 0, 0.0])
        bucket = self._buckets[-1]
        bucket[1] += count
        bucket[2] += amount

    def sums(self, now_ms: int) -> tuple[int, float]:
        """Return count and amount of the span that ends at `now_ms`."""
        oldest = now_ms // self._bucket_ms - self._keep + 1
        recent = [bucket for bucket in self._buckets if bucket[0] >= oldest]
        return int(sum(b[1] for b in recent)), sum(b[2] for b in recent)

    def per_second(self, now_ms: int) -> float:
        """Return the count per second over the whole span."""
        return self.sums(now_ms)[0] / (self._bucket_ms * self._keep / 1000)

    def mean(self, now_ms: int) -> float:
        """Return the amount per thing counted, 0 when there was none."""
        count, amount = self.sums(now_ms)
        return amount / count if count else 0.0


@dataclass(frozen=True, slots=True)
class TopicRates:
    """Rates per second and mean times in ms over the last minute."""

    pull_rt: float
    pull_tps: float
    consume_rt: float
    consume_ok_tps: float
    consume_failed_tps: float
    consume_failed_msgs: int
    """Failed messages of the last hour."""


class TopicStatistics:
    """The counts of one member for one topic.

    Calls of the listener are summed up in plain numbers until the next bucket begins.
    """

    __slots__ = (
        "_bucket",
        "_bucket_ms",
        "_calls",
        "_calls_ms",
        "_consume_time",
        "_failed",
        "_failed_hour",
        "_failed_now",
        "_ok",
        "_ok_now",
        "_pull_time",
        "_pulled",
    )

    def __init__(self) -> None:
        self._pulled = Window()
        self._pull_time = Window()
        self._ok = Window()
        self._failed = Window()
        self._consume_time = Window()
        self._failed_hour = Window(_HOUR_BUCKET_MS, _HOUR_BUCKETS)
        self._bucket = self._bucket_ms = 0
        self._ok_now = self._failed_now = self._calls = 0
        self._calls_ms = 0.0

    def pulled(self, now_ms: int, messages: int, took_ms: float) -> None:
        """Count one pull that found messages."""
        self._pulled.add(now_ms, messages)
        self._pull_time.add(now_ms, 1, took_ms)

    def consumed(self, now_ms: int, ok: int, failed: int, took_ms: float) -> None:
        """Count one call of the listener."""
        bucket = now_ms // BUCKET_MS
        if bucket != self._bucket:
            self._close_bucket()
            self._bucket, self._bucket_ms = bucket, now_ms
        self._ok_now += ok
        self._failed_now += failed
        self._calls += 1
        self._calls_ms += took_ms

    def rates(self, now_ms: int) -> TopicRates:
        """Return the rates of the minute that ends now."""
        self._close_bucket()
        return TopicRates(
            pull_rt=self._pull_time.mean(now_ms),
            pull_tps=self._pulled.per_second(now_ms),
            consume_rt=self._consume_time.mean(now_ms),
            consume_ok_tps=self._ok.per_second(now_ms),
            consume_failed_tps=self._failed.per_second(now_ms),
            consume_failed_msgs=self._failed_hour.sums(now_ms)[0],
        )

    def _close_bucket(self) -> None:
        at_ms = self._bucket_ms
        self._ok.add(at_ms, self._ok_now)
        self._failed.add(at_ms, self._failed_now)
        self._failed_hour.add(at_ms, self._failed_now)
        self._consume_time.add(at_ms, self._calls, self._calls_ms)
        self._ok_now = self._failed_now = self._calls = 0
        self._calls_ms = 0.0
