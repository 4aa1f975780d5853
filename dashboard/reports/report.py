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

from dashboard.accounts.owners import Owner, owners
from dashboard.models import Grouping, JobRun

from .request.axis import Axis
from .request.periods import axis_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class View:
    """A reader's choice of what to see; empty means as the run was requested.

    `strategy` is the one whose members are shown.
    """

    by: str = ""
    topic: str = ""
    consumer: str = ""
    strategy: str = ""


class Report:
    """A run, a reader's choice, and the zone that times are shown in.

    The run stays as it was requested. `zone_name` is the zone's name for people.
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

    @cached_property
    def owner(self) -> Owner | None:
        """The team that owns its group now; None for nobody, or for all groups."""
        return owners(self.cluster).of(self.group) if self.group else None

    @property
    def grouping(self) -> Grouping:
        """The kind of item that its rows stand for."""
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
        """Return the result of `make` for this report, calling it only once."""
        if make not in self._kept:
            self._kept[make] = make(self)
        return self._kept[make]  # type: ignore[no-any-return]


def once(make: Callable[[Report], T]) -> Callable[[Report], T]:
    """Decorate a function so that each report keeps the function's result for it."""

    @wraps(make)
    def kept(report: Report) -> T:
        return report.kept(make)

    return kept
