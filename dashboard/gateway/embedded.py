"""Whether the embedded cluster runs, is being started, or can be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from django.conf import settings

from .embedded_request import ask, why_not
from .present import cluster_now
from .settings import EMBEDDED


class Standing(StrEnum):
    """How the embedded cluster stands."""

    RUNNING = "running"
    STARTING = "starting"
    FAILED = "failed"
    OFFERED = "offered"
    NOT_OFFERED = "not_offered"
    """Nothing here could start it: RocketScope was not started by `up`."""


@dataclass(frozen=True, slots=True)
class EmbeddedState:
    """How the embedded cluster stands; `why` says why it could not be started."""

    standing: Standing
    why: str = ""

    @property
    def may_be_asked(self) -> bool:
        return self.standing in {Standing.OFFERED, Standing.FAILED}


def embedded_state() -> EmbeddedState:
    """Return how the embedded cluster stands now. Raise DatabaseError."""
    if cluster_now(EMBEDDED) is not None:
        return EmbeddedState(Standing.RUNNING)
    if not settings.ROCKETSCOPE_EMBEDDED_REQUEST:
        return EmbeddedState(Standing.NOT_OFFERED)
    why = why_not(Path(settings.ROCKETSCOPE_EMBEDDED_REQUEST))
    if why is None:
        return EmbeddedState(Standing.OFFERED)
    return EmbeddedState(Standing.FAILED if why else Standing.STARTING, why)


def ask_for_embedded() -> None:
    """Ask for the embedded cluster; raise OSError if the request cannot be written."""
    ask(Path(settings.ROCKETSCOPE_EMBEDDED_REQUEST))
