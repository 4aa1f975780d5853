"""Kill after kill: let one process end, and wait until everything is right again."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Final

from benchmarks.silence.watching import now_ms
from rmqcore.errors import RmqError

from .kinds import KINDS, WARM, Victim, order_of, pids_of
from .looking import MOVED, Faults, Since, look
from .surroundings import Surroundings
from .writes import STRATEGIES

LIMIT_S: Final = 30.0
GIVEN_UP_S: Final = 180.0
PAUSE_S: Final = 0.3
LONGEST_QUIET_S: Final = 4.0
WARM_S: Final = 600.0
ASK_AGAIN_S: Final = 20.0
REPORT_KINDS: Final = frozenset({"analytics", "spark"})
REPORT_SHARE: Final = 0.15
LAB_SHARE: Final = 0.15
LAB: Final = "F1"


@dataclass(slots=True)
class Result:
    """What one kill did."""

    number: int
    kind: str
    name: str = ""
    right_s: float | None = None
    """From the kill until everything was right; None when it never was."""
    wrong: Faults = field(default_factory=dict)
    """What was still wrong after 30 s."""
    relapses: Faults = field(default_factory=dict)
    """What was wrong again before the next kill, although all had been right."""
    ahead: list[str] = field(default_factory=list)
    """Committed offsets that said more than was consumed."""


class Campaign:
    """Kills on running surroundings, in an order that the seed decides."""

    def __init__(
        self,
        surroundings: Surroundings,
        kinds: Sequence[str],
        kills: int,
        seed: int,
        *,
        reports: bool = True,
        relapses: bool = True,
        pause_s: float = PAUSE_S,
    ) -> None:
        self._all = surroundings
        self._relapses = relapses
        self._pause_s = pause_s
        self._chance = Random(seed)
        self._reports = reports
        self._order = order_of(kills, kinds, self._chance)
        self.results: list[Result] = []

    def run(self, lasts_s: float) -> None:
        """Kill until the order is through, or the time is over."""
        until = time.monotonic() + lasts_s
        self._until_right(Since())
        for kind in self._order:
            if time.monotonic() > until:
                return
            self.results.append(self._kill(kind))
            _tell(self.results[-1])

    def _kill(self, kind: str) -> Result:
        result = Result(self._all.kills + 1, kind)
        self._prepare(kind)
        if self._relapses:
            self._note_relapses()
        # At a moment that nothing else is in step with.
        time.sleep(self._chance.uniform(0, LONGEST_QUIET_S))
        self._all.kills += 1
        self._wish()
        since = Since(now_ms(), kind)
        began = time.monotonic()
        victim = self._struck(kind)
        result.name = victim.name
        result.right_s, result.wrong = self._until_right(
            Since(since.at_ms, kind, victim), began
        )
        with suppress(RmqError, OSError, TimeoutError):
            result.ahead = self._all.offsets_ahead()
        self._all.check()
        return result

    def _struck(self, kind: str) -> Victim:
        """Strike; a process that ended by itself in this moment is made anew first."""
        try:
            return self._all.strike(kind, self._chance)
        except LookupError:
            self._prepare(kind)
            return self._all.strike(kind, self._chance)

    def _wish(self) -> None:
        """Ask for one of the things that a kill may meet on its way."""
        person, chance = self._all.person, self._chance
        hosted = person.hosted()
        if hosted is not None:
            if chance.random() < 0.5:
                person.change_members(hosted["members_wanted"])
            elif hosted["strategy"] in STRATEGIES:
                person.switch(hosted["strategy"])
        if chance.random() < REPORT_SHARE and self._reports:
            person.ask_for_report()
        if chance.random() < LAB_SHARE:
            person.play_lab(LAB)

    def _prepare(self, kind: str) -> None:
        """Let there be work for a kind that only exists, or only matters, at work."""
        person = self._all.person
        if kind == "files" and person.done_report() is None:
            self._work_until(
                lambda: person.done_report() is not None, person.ask_for_report
            )
        if kind in WARM:
            work = self._ask_for_file if kind == "files" else person.ask_for_report
            self._work_until(
                lambda: bool(pids_of(self._all.stack.pid, KINDS[kind])), work
            )
        elif kind in REPORT_KINDS and self._reports:
            person.ask_for_report()

    def _ask_for_file(self) -> None:
        """Ask for a file; whatever becomes of the answer, its maker is there then."""
        done = self._all.person.done_report()
        with suppress(OSError):
            self._all.session.get(f"/api/v1/reports/runs/{done}/download/pdf")

    def _work_until(self, holds: Callable[[], bool], work: Callable[[], None]) -> None:
        """Give work until something holds; once more now and then, as work is lost.

        A report is refused while another of its group waits, also one that was lost.
        """
        until = time.monotonic() + WARM_S
        work()
        again = time.monotonic() + ASK_AGAIN_S
        while not holds():
            if time.monotonic() > again:
                work()
                again = time.monotonic() + ASK_AGAIN_S
            if time.monotonic() > until:
                raise TimeoutError(f"no effect of {work.__name__} in {WARM_S:g} s")
            time.sleep(PAUSE_S)

    def _note_relapses(self) -> None:
        """Note what is wrong again without a new kill; then wait until it is right."""
        faults = self._look_at_rest()
        if not faults:
            return
        if self.results:
            self.results[-1].relapses = faults
            _tell_faults("again", faults)
        self._until_right(Since())

    def _look_at_rest(self) -> Faults:
        """Look until nothing moves meanwhile; what never rests is a fault."""
        until = time.monotonic() + GIVEN_UP_S
        while True:
            faults = look(self._all, Since())
            if MOVED not in faults or time.monotonic() > until:
                return faults

    def _until_right(
        self, since: Since, began: float | None = None
    ) -> tuple[float | None, Faults]:
        """Return after how long all was right, and what was not after 30 s."""
        began = time.monotonic() if began is None else began
        late, told = Faults(), False
        while True:
            # Within the limit it only matters whether anything is wrong.
            brief = time.monotonic() - began <= LIMIT_S
            faults = look(self._all, since, brief=brief)
            passed = time.monotonic() - began
            if brief or not told:
                # A look takes its time: what was last seen to be wrong, was until now.
                late, told = faults or late, not brief
            if not faults:
                return passed, late if passed > LIMIT_S else {}
            if passed > GIVEN_UP_S:
                return None, late
            time.sleep(self._pause_s)


def _tell(result: Result) -> None:
    right = "never" if result.right_s is None else f"{result.right_s:.1f} s"
    load = os.getloadavg()[0]
    print(
        f"{result.number:4} {result.name:16} right after {right}  load {load:.1f}",
        file=sys.stderr,
    )
    _tell_faults("wrong", result.wrong)
    for fault in result.ahead:
        print(f"     ahead: {fault}", file=sys.stderr, flush=True)


def _tell_faults(what: str, faults: Faults) -> None:
    for place, fault in faults.items():
        print(f"     {what}: {place}: {fault[:300]}", file=sys.stderr, flush=True)
