"""A stand-in for Spark's session that runs tasks here, one after another.

Jobs are the same with it, except for what Spark does: a few tests of each go through
Spark. Roll-ups need the session itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any


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

    def parallelize(self, pieces: Iterable[Any], _count: int) -> _Tasks:
        return _Tasks(list(pieces))


@dataclass
class InProcess:
    """Takes the place of a session."""

    sparkContext: _Context = field(default_factory=_Context)  # noqa: N815  Spark's name


def session() -> Any:
    """Return a session, as `run_job` takes what starts one."""
    return InProcess()
