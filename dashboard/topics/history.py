"""A topic's traffic over a day or a week, read from the roll-ups of the lake.

The lake records the queues of groups. Of a queue on which no group has an offset it
knows nothing, and of a topic that no group reads there is no history.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.utils.translation import gettext as _

from analytics.errors import AnalyticsError
from dashboard.wording import numbers
from dashboard.wording.numbers import DAY, HOUR, MINUTE

if TYPE_CHECKING:
    from analytics.lake.traffic import TopicTraffic

logger = logging.getLogger(__name__)

LABELS: Final = 5


@dataclass(frozen=True, slots=True)
class Span:
    """A span that can be chosen, and the length of a bar."""

    key: str
    title: str
    length_ms: int
    step: str
    step_ms: int


SPANS: Final = (
    Span("24h", "24 h", DAY, "10 min", 10 * MINUTE),
    Span("7d", "7 d", 7 * DAY, "1 h", HOUR),
)


class NoHistoryError(Exception):
    """The lake could not be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One step of a chart: its rate, and whether there may be more."""

    since_ms: int
    rate: float | None
    partial: bool

    @property
    def told(self) -> str:
        """The bar in words: when, and how much."""
        time = numbers.day_and_time(self.since_ms)
        if self.rate is None:
            return f"{time}: " + _("not measured")
        least = "≥ " if self.partial else ""
        return f"{time}: {least}{numbers.rate(self.rate)}/s"


@dataclass(frozen=True, slots=True)
class History:
    """The bars of a span; `groups` are those from which they are known.

    `queues` counts the queues that were recorded in the span.
    """

    span: Span
    bars: tuple[Bar, ...]
    groups: tuple[str, ...]
    rolled_ms: int | None
    queues: int

    @property
    def known(self) -> list[float]:
        return [bar.rate for bar in self.bars if bar.rate is not None]

    @property
    def partial(self) -> bool:
        """Whether a bar may be too low."""
        return any(bar.partial for bar in self.bars)

    @property
    def unknown_ms(self) -> int:
        """How much of the span is not known."""
        return (len(self.bars) - len(self.known)) * self.span.step_ms

    @property
    def labels(self) -> list[str]:
        """The times below the chart, evenly spread from its begin to its end."""
        begin, length = self.bars[0].since_ms, self.span.length_ms
        return [
            numbers.day_and_time(begin + length * at // (LABELS - 1))
            for at in range(LABELS)
        ]


def span_named(key: str | None) -> Span:
    """Return the span of that key, or the first one."""
    return next((each for each in SPANS if each.key == key), SPANS[0])


def read_history(cluster: str, topic: str, span: Span, now_ms: int) -> History:
    """Read the bars of a span that ends with the last whole step.

    Raises NoHistoryError.
    """
    # Imported late: pages that show no history need no Arrow.
    import pyarrow as pa

    from analytics.lake.storage import open_storage
    from analytics.lake.traffic import read_traffic

    until_ms = now_ms - now_ms % span.step_ms
    try:
        found = read_traffic(
            open_storage(settings.ROCKETSCOPE_LAKE_URL),
            cluster=cluster,
            topic=topic,
            since_ms=until_ms - span.length_ms,
            until_ms=until_ms,
            step_seconds=span.step_ms // 1000,
        )
    except (AnalyticsError, OSError, pa.ArrowException) as error:
        logger.warning(
            "cluster=%s topic=%s history not read: %s", cluster, topic, error
        )
        raise NoHistoryError(str(error)) from error
    bars, groups = tuple(_bars(found)), tuple(found.groups)
    return History(span, bars, groups, found.rolled_ms, found.queues)


def _bars(found: TopicTraffic) -> Iterator[Bar]:
    for at, (rate, partial) in enumerate(zip(found.rates, found.partial, strict=True)):
        yield Bar(found.since_ms + at * found.step_ms, rate, partial)
