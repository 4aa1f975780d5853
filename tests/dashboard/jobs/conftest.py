from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dashboard.jobs.child import AnalyticsChild

MakeChild = Callable[..., AnalyticsChild]


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
