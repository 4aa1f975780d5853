"""The table that the campaign prints, and whether its goals are met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.soak.verdict import Goal

from .campaign import Result


@dataclass(slots=True)
class Losses:
    """What was acknowledged, and what of it was lost: each with the kill before it."""

    messages: int = 0
    failed_sends: int = 0
    writes: Counter[str] = field(default_factory=Counter)
    failed_writes: int = 0
    lost: list[tuple[int, str]] = field(default_factory=list)
    """After which kill, and what."""
    contradictions: list[str] = field(default_factory=list)
    accounts: int = 0
    """Of how many queues each second was looked for in the lake."""
    broke_off: int = 0
    """Whether the campaign failed before its end."""


def table(results: Sequence[Result], losses: Losses) -> list[str]:
    """Return the lines of the table, one for each kind."""
    kinds = {each.number: each.kind for each in results}
    lost = Counter(kinds.get(after, "") for after, _ in losses.lost)
    head = (
        f"{'killed':12} {'kills':>5} {'median':>8} {'slowest':>8} "
        f"{'wrong after 30 s':>17} {'wrong again':>12} {'lost':>5}"
    )
    rows = (
        _row(kind, [each for each in results if each.kind == kind], lost[kind])
        for kind in sorted(set(kinds.values()))
    )
    lines = [head, *rows]
    if lost[""]:
        lines.append(f"{'before any':12} {'':55} {lost['']:5}")
    lines.append(_row("all", results, len(losses.lost)))
    return lines


def _row(name: str, results: Sequence[Result], lost: int) -> str:
    times = [each.right_s for each in results if each.right_s is not None]
    middle = f"{median(times):.1f} s" if times else "never"
    never = not times or len(times) < len(results)
    slowest = "never" if never else f"{max(times):.1f} s"
    wrong = sum(len(each.wrong) for each in results)
    again = sum(len(each.relapses) for each in results)
    return (
        f"{name:12} {len(results):5} {middle:>8} {slowest:>8} {wrong:17} "
        f"{again:12} {lost:5}"
    )


def told(losses: Losses) -> Iterable[str]:
    """Yield how much was acknowledged, and what was lost."""
    writes = ", ".join(f"{n} {what}" for what, n in sorted(losses.writes.items()))
    yield (
        f"acknowledged: {losses.messages} messages ({losses.failed_sends} sends "
        f"failed); writes: {writes} ({losses.failed_writes} failed)"
    )
    for after, what in losses.lost[:20]:
        yield f"lost after kill {after}: {what}"
    for what in losses.contradictions[:20]:
        yield f"contradiction: {what}"


def goals(results: Sequence[Result], losses: Losses) -> list[Goal]:
    """Return what a campaign is judged by; one without kills has shown nothing."""
    return [
        Goal("kills that were not made", losses.broke_off if results else 1),
        Goal("acknowledged and lost", len(losses.lost)),
        Goal("never right again", sum(r.right_s is None for r in results)),
        Goal("pages wrong after 30 s", sum(len(r.wrong) for r in results)),
        Goal("pages wrong again later", sum(len(r.relapses) for r in results)),
        Goal("offsets beyond consumed", sum(len(r.ahead) for r in results)),
        Goal("contradictions kept", len(losses.contradictions)),
    ]
