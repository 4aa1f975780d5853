"""The lines that a soak prints, and whether it has met its goals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .accounting import Account
from .figures import Tally
from .growth import Growth
from .memory import MB, Course, Look


@dataclass(frozen=True, slots=True)
class Goal:
    """One thing that must hold, and what was found; `more` says of what."""

    name: str
    found: int
    more: str = ""

    def __str__(self) -> str:
        word = "met" if not self.found else f"MISSED {self.more}".rstrip()
        return f"{self.name:28} {self.found:6}  goal 0: {word}"


def goals(
    counted: Tally,
    accounts: Sequence[Account],
    courses: Sequence[Course],
    growths: Sequence[Growth],
) -> list[Goal]:
    """Return what a run is judged by.

    Holes are missed as well where no queue could be accounted for: nothing is known.
    """
    unbounded = [each.name for each in growths if each.fault]
    holes = [each for each in accounts if not each.balances]
    growing = [each.name for each in courses if each.is_steady and not each.is_level]
    worst = max(holes, key=lambda each: abs(each.missing_s), default=None)
    return [
        Goal("sweeps lost", counted.failed if counted.sweeps else 1),
        Goal("leads lost", counted.leads_lost + counted.lapses),
        Goal("tracebacks", counted.tracebacks),
        Goal("processes that ended", counted.restarts),
        Goal(
            "queues with a hole",
            len(holes) if accounts else 1,
            f"{worst.queue}: {worst.missing_s:.1f} s" if worst else "",
        ),
        Goal("processes that grow", len(growing), ", ".join(growing)),
        Goal("rows beyond their bounds", len(unbounded), ", ".join(unbounded)),
    ]


def counted_line(minutes: float, load: float, counted: Tally) -> str:
    """Return one line of what happened so far."""
    return (
        f"{minutes:5.1f} min  load {load:4.1f}  sweeps {counted.sweeps} "
        f"lost {counted.failed} left out {counted.late} "
        f"last {counted.sweep_seconds:.3f} s  "
        f"leads lost {counted.leads_lost} lapses {counted.lapses}  "
        f"tracebacks {counted.tracebacks}  ended {counted.restarts}  "
        f"group faults {counted.faults}  rows dropped {counted.dropped_rows}"
    )


def accounts_line(accounts: Sequence[Account]) -> str:
    """Return one line of how much of the queues' time is known."""
    period = sum(each.period_s for each in accounts)
    if not period:
        return "      no queue could be accounted for yet"
    known = sum(each.known_s for each in accounts)
    unknown = sum(each.unknown_s for each in accounts)
    holes = [each for each in accounts if not each.balances]
    return (
        f"      {len(accounts)} queues, {period / len(accounts):.0f} s each in the "
        f"mean: known {known / period:.1%}, unknown {unknown / period:.1%}, "
        f"not accounted for {sum(abs(each.missing_s) for each in holes):.0f} s "
        f"in {len(holes)} queues"
    )


def memory_line(look: Look) -> str:
    """Return one line of what each process keeps."""
    parts = (f"{name} {size / MB:.0f}" for name, size in sorted(look.bytes.items()))
    return f"      MB: {', '.join(parts)}"


def visits_line(looked: Iterable[Counter[str]], failed: Iterable[Counter[str]]) -> str:
    """Return one line of how many pages were looked at."""
    total = sum(sum(each.values()) for each in looked)
    wrong = sum(failed, Counter[str]())
    words = ", ".join(f"{kind} ({n})" for kind, n in wrong.most_common(5))
    return f"      pages: {total} looked at, {sum(wrong.values())} failed {words}"


def memory_table(courses: Iterable[Course]) -> list[str]:
    """Return what each process kept over the run."""
    lines = [f"{'memory in MB':20} {'first':>6} {'last':>6} {'most':>6} {'grows':>6}"]
    for each in courses:
        word = "level" if each.is_level else "GROWS"
        numbers = (each.first, each.last, each.most, each.growth)
        text = " ".join(f"{number / MB:6.0f}" for number in numbers)
        steady = word if each.is_steady else "comes and goes"
        lines.append(f"{each.name:20} {text}  {steady}")
    return lines
