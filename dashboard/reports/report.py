"""A finished run as one reader looks at it: which part is shown, and in which zone.

Functions that compute something from a run take a `Report`, which keeps their results
(`once`): a page, a figure and a file that need the same numbers read them from the lake
once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cached_property, wraps
from typing import Any, TypeVar

from dashboard.models import Grouping, JobRun

from .request.axis import Axis
from .request.periods import axis_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class View:
    """What a reader chose to look at; empty means as the run was asked for.

    `strategy` is the one whose members are shown.
    """

    by: str = ""
    topic: str = ""
    consumer: str = ""
    strategy: str = ""


class Report:
    """A run, a reader's choice, and the zone that times are shown in.

    The run stays what it was asked for. `zone_name` is how people call the zone.
    """

    def __init__(
        self,
        run: JobRun,
        zone: tzinfo = UTC,
        zone_name: str = "UTC",
        view: View | None = None,
    ) -> None:
        self.run = run
        self.zone = zone
        self.zone_name = zone_name
        self.view = view or View()
        self._kept: dict[Callable[..., Any], Any] = {}

    @property
    def name(self) -> str:
        """Its own name, if it was given one."""
        return self.run.name

    @property
    def cluster(self) -> str:
        return self.run.cluster

    @property
    def group(self) -> str:
        """The group that it is about; empty for all of the cluster."""
        return self.run.group

    @property
    def grouping(self) -> Grouping:
        """What its rows stand for."""
        return Grouping(self.view.by or self.run.grouping)

    @property
    def topic(self) -> str:
        """The only topic that it is about; empty for all."""
        return self.run.topic or self.view.topic

    @property
    def consumer(self) -> str:
        """The only consumer that it is about; empty for all."""
        return self.run.consumer or self.view.consumer

    @property
    def since(self) -> datetime:
        return self.run.since

    @property
    def until(self) -> datetime:
        return self.run.until

    @property
    def step_seconds(self) -> int:
        return int(self.run.summary["step_seconds"])

    @cached_property
    def axis(self) -> Axis:
        """The period that was computed, in the reader's zone."""
        return axis_of(self.run, self.zone)

    def kept(self, make: Callable[[Report], T]) -> T:
        """Return what `make` returns for this report, and call it only once."""
        if make not in self._kept:
            self._kept[make] = make(self)
        return self._kept[make]  # type: ignore[no-any-return]


def once(make: Callable[[Report], T]) -> Callable[[Report], T]:
    """Let each report keep what the function returns for it."""

    @wraps(make)
    def kept(report: Report) -> T:
        return report.kept(make)

    return kept
