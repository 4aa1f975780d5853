from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dashboard.jobs.child import AnalyticsChild

MakeChild = Callable[..., AnalyticsChild]


class GivenTime:
    """The settled clock of the tasks: the machine's time, unless told otherwise."""

    def __init__(self) -> None:
        self.settled = True

    def now_ms(self) -> int | None:
        return int(time.time() * 1000) if self.settled else None


@pytest.fixture
def given_time(monkeypatch: pytest.MonkeyPatch) -> GivenTime:
    """A clock that has gone evenly for an hour."""
    given = GivenTime()
    monkeypatch.setattr("dashboard.jobs.tasks.SETTLED", given)
    monkeypatch.setattr("dashboard.reports.tasks.SETTLED", given)
    return given


@pytest.fixture
def make_child() -> Iterator[MakeChild]:
    """Return a maker of children that behave as told, by job id."""
    made: list[AnalyticsChild] = []

    def make(**behaviours: str) -> AnalyticsChild:
        spelled = {name.removeprefix("job"): each for name, each in behaviours.items()}
        child = AnalyticsChild(
            {**os.environ, "BEHAVIOURS": json.dumps(spelled)},
            command=(sys.executable, str(Path(__file__).with_name("scripted.py"))),
        )
        made.append(child)
        return child

    yield make
    for child in made:
        child.kill()
