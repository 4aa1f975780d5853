"""The definition of a lab, and how one is run.

A lab is a coroutine function of a stage and its parameters that returns a typed result.
It runs on a cluster given by its name server, or on one of its own, which uses a
hurried clock where the lab is about long timers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from rmqcore.cluster import LocalCluster
from rmqcore.errors import ArgumentError
from rmqcore.transport import Clock, SystemClock

from .clock import HurriedClock
from .results import LabResult
from .stage import Stage
from .steps import Observer, ignore

LONGEST_LINGER_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Lab:
    """One lab: its name, title, the behaviours it is about, and how it is played.

    `texts` are its sentences by key: steps and claims. `parameters` is a frozen class
    of whole numbers with defaults. `pace` is how fast its own cluster's clock runs.
    """

    name: str
    title: str
    rules: tuple[str, ...]
    texts: Mapping[str, str]
    parameters: Callable[..., Any]
    play: Callable[[Stage, Any], Awaitable[LabResult]]
    pace: float = 1.0

    def parameters_of(self, given: Mapping[str, int]) -> Any:
        """Return the lab's parameters; raise `ArgumentError` for any other."""
        known = [field.name for field in fields(self.parameters())]
        for name in given:
            if name not in known:
                raise ArgumentError(f"lab {self.name} has no {name!r}, it has {known}")
        return self.parameters(**given)

    async def run(
        self,
        *,
        nameservers: str | None = None,
        parameters: Mapping[str, int] | None = None,
        observer: Observer = ignore,
        clean_up: bool = True,
        linger_s: float = 0.0,
        label: str = "",
    ) -> LabResult:
        """Play the lab and return what was seen.

        Without `nameservers`, it makes a cluster of its own and removes it at the end.
        On a given cluster it takes as long as RocketMQ's timers do, and deletes its
        topics and groups at the end unless `clean_up` is false. At each division it
        pauses for `linger_s` of the machine's time, for those who watch; nothing that
        it shows depends on that. The names of everything it makes there begin with
        `run_prefix(name, label)`. Raises `LabError` when something it waits for does
        not happen, and `ArgumentError` for bad parameters.
        """
        check_linger(linger_s)
        chosen = self.parameters_of(parameters or {})
        if nameservers is not None:
            return await self._play(
                chosen,
                nameservers,
                observer,
                clock=SystemClock(),
                clean_up=clean_up,
                linger_s=linger_s,
                label=label,
            )
        clock = HurriedClock(self.pace) if self.pace > 1 else SystemClock()
        async with LocalCluster(clock=clock) as cluster:
            return await self._play(
                chosen,
                cluster.nameserver_address,
                observer,
                clock=clock,
                clean_up=False,
                linger_s=linger_s,
                label=label,
            )

    async def _play(
        self,
        parameters: Any,
        nameservers: str,
        observer: Observer,
        *,
        clock: Clock,
        clean_up: bool,
        linger_s: float,
        label: str,
    ) -> LabResult:
        with tempfile.TemporaryDirectory(prefix="rmqcore-lab-") as directory:
            stage = Stage(
                self.name,
                self.texts,
                nameservers,
                clock=clock,
                pace=self.pace if isinstance(clock, HurriedClock) else 1.0,
                directory=Path(directory),
                observer=observer,
                linger_s=linger_s,
                label=label,
            )
            try:
                return await self.play(stage, parameters)
            finally:
                await stage.close(clean_up=clean_up)


def check_linger(seconds: float) -> None:
    """Raise `ArgumentError` for a pause at divisions that is out of its range."""
    if not 0 <= seconds <= LONGEST_LINGER_S:
        raise ArgumentError(
            f"linger_s is {seconds:g}, allowed 0 to {LONGEST_LINGER_S:g}"
        )


def check_range(name: str, value: int, least: int, most: int) -> None:
    """Raise `ArgumentError` when a parameter is out of its range."""
    if not least <= value <= most:
        raise ArgumentError(f"{name} is {value}, allowed {least} to {most}")
