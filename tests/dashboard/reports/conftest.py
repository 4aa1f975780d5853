from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.jobs.conftest import given_time, make_child

__all__ = ["given_time", "make_child"]


@pytest.fixture
def lake(settings: Any, tmp_path: Path) -> Path:
    """The lake of this test, by its settings."""
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    # The runs are of a fixed day, and their epochs still kept.
    settings.ROCKETSCOPE_EPOCH_DAYS = 3650
    return tmp_path
