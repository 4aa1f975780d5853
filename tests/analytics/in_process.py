"""A stand-in for Spark's session that runs tasks here, one after another.

Jobs are the same with it, except for what Spark does: a few tests of each go through
Spark. The stream of roll-ups needs the session itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from analytics.lake.storage import Storage
from analytics.rollup import carry_up, write_batch
from tests.analytics.rows import START_MS


@dataclass
class _Given:
    value: Any

    def destroy(self) -> None:
        self.value = None


@dataclass
class _Tasks:
    pieces: list[Any]

    def map(self, run: Callable[[Any], Any]) -> _Tasks:
        return _Tasks([run(piece) for piece in self.pieces])

    def collect(self) -> list[Any]:
        return self.pieces


class _Context:
    def broadcast(self, value: Any) -> _Given:
        return _Given(value)

    def statusTracker(self) -> _Context:  # noqa: N802  Spark's name
        return self

    def getActiveStageIds(self) -> list[int]:  # noqa: N802  Spark's name
        return []

    def cancelAllJobs(self) -> None:  # noqa: N802  Spark's name
        """Nothing can be cancelled here: what runs is waited for."""

    def parallelize(self, pieces: Iterable[Any], _count: int) -> _Tasks:
        return _Tasks(list(pieces))


@dataclass
class InProcess:
    """Takes the place of a session."""

    sparkContext: _Context = field(default_factory=_Context)  # noqa: N815  Spark's name


def session() -> Any:
    """Return a session, as `run_job` takes what starts one."""
    return InProcess()


def roll_up(storage: Storage, *batches: Sequence[str]) -> None:
    """Put batches of landing files on the ladder, and carry what is complete."""
    spark = session()
    for number, paths in enumerate(batches):
        write_batch(spark, storage, number, paths, lambda _share: None)
    carry_up(spark, storage, lambda _part, _phase: None, now_ms=START_MS)
