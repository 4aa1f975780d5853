"""One Spark session for all tests that need one: it takes seconds to start."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.apache import BRIEF

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from pyspark.logger import PySparkLogger

    from analytics.session import SessionSettings, start_session

    # It makes every handler that it is given write JSON. PySpark's logger does not
    # propagate, so pytest gives it the handler from which all later tests read.
    PySparkLogger.addHandler = logging.Logger.addHandler  # type: ignore[method-assign]
    settings = SessionSettings(
        work_dir=Path(tmp_path_factory.mktemp("spark")) / "spark",
        # Java ends when the heap is full, and all tests share it, in any order.
        memory="3g",
        extra={"spark.driver.defaultJavaOptions": " ".join(BRIEF)},
    )
    session = start_session(settings)
    yield session
    session.stop()
