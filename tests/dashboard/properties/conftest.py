"""How properties of strange clusters are searched."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from tests.support.strange.driver import play
from tests.support.strange.histories import History
from tests.support.strange.story import Story
from tests.support.valkey import Valkey

Tell = Callable[[History], Story]
F = TypeVar("F", bound=Callable[..., None])

EXAMPLES: Final = int(os.environ.get("STRANGE_EXAMPLES", "0"))
"""How many examples to search for, by chance; without it a few, always the same."""

PATIENCE_S: Final = 600 + EXAMPLES * 2
"""Hypothesis takes up to five minutes to find the smallest example that fails."""


def strange(examples: int) -> Callable[[F], F]:
    """Make a test a property of so many histories or documents."""

    def make(test: F) -> F:
        searched: F = settings(
            max_examples=EXAMPLES or examples,
            derandomize=not EXAMPLES,
            # One database, cache and folder serve all examples.
            suppress_health_check=list(HealthCheck),
        )(test)
        limited: F = pytest.mark.timeout(PATIENCE_S)(searched)
        return limited

    return make


@pytest.fixture
def tell(
    transactional_db: None, valkey: Valkey, tmp_path_factory: pytest.TempPathFactory
) -> Tell:
    """Return what plays a history to a collector, and tells what was seen."""
    folder = tmp_path_factory.mktemp("strange")
    return partial(play, valkey_url=valkey.url, folder=folder)
