"""Findings in words: a document's keys and values as people read them.

`static/js/groups/findings.js` says the same in the browser; in both, the end of a
value's name is its unit, and a number or list that may be more is marked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dashboard.live.documents import FindingState
from dashboard.wording.numbers import (
    clock,
    count,
    duration,
    rate,
)
from dashboard.wording.words import word


@dataclass(frozen=True, slots=True)
class SaidFinding:
    """A finding's texts; evidence is name and value. `as_of` if it is not current."""

    title: str
    text: str
    advice: str
    evidence: tuple[tuple[str, str], ...]
    since: str
    as_of: str


def say_finding(finding: FindingState) -> SaidFinding:
    """Return a finding's words in the language of the request."""
    key, since, as_of = finding["key"], finding["since"], finding.get("as_of")
    partly = finding.get("at_least", [])
    values = {
        name: shown(name, value, at_least=name in partly)
        for name, value in finding["values"].items()
    }
    return SaidFinding(
        title=word("finding", f"{key}.title"),
        text=word("finding", f"{key}.{finding['text']}", **values),
        advice=word("finding", f"{key}.{finding['advice']}"),
        evidence=tuple(
            (
                word("finding", f"seen.{name}"),
                shown(name, value, at_least=name in partly),
            )
            for name, value in finding["evidence"]
        ),
        since="" if since is None else word("finding", "since", time=clock(since)),
        as_of="" if as_of is None else word("finding", "as_of", time=clock(as_of)),
    )


def shown(name: str, value: Any, *, at_least: bool = False) -> str:
    """Write one value with the unit that its name ends in."""
    if isinstance(value, list):
        return ", ".join([*map(str, value), *(["…"] if at_least else [])])
    if isinstance(value, str):
        return value
    return f"≥ {_figure(name, value)}" if at_least else _figure(name, value)


def _figure(name: str, value: float) -> str:
    if name.endswith("_ms"):
        return duration(value)
    if name.endswith("_at"):
        return clock(value)
    if name.endswith("_rate"):
        return rate(value)
    return count(value)
