"""Findings in words: what documents carry as keys and values, as people read it.

`static/js/findings.js` says the same in the browser; the end of a value's name is its
unit in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from dashboard.live.documents import FindingState

from .figures import count, duration, rate
from .words import word


@dataclass(frozen=True, slots=True)
class SaidFinding:
    """A finding's texts; evidence is name and value."""

    title: str
    text: str
    advice: str
    evidence: tuple[tuple[str, str], ...]
    since: str


def say_finding(finding: FindingState) -> SaidFinding:
    """Return a finding's words in the language of the request."""
    key, since = finding["key"], finding["since"]
    values = {name: shown(name, value) for name, value in finding["values"].items()}
    return SaidFinding(
        title=word("finding", f"{key}.title"),
        text=word("finding", f"{key}.{finding['text']}", **values),
        advice=word("finding", f"{key}.{finding['advice']}"),
        evidence=tuple(
            (word("finding", f"seen.{name}"), shown(name, value))
            for name, value in finding["evidence"]
        ),
        since="" if since is None else word("finding", "since", time=_clock(since)),
    )


def shown(name: str, value: Any) -> str:
    """Write one value with the unit that its name ends in."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, str):
        return value
    if name.endswith("_ms"):
        return duration(value)
    if name.endswith("_at"):
        return _clock(value)
    if name.endswith("_rate"):
        return rate(value)
    return count(value)


def _clock(milliseconds: float) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return f"{timezone.localtime(moment):%H:%M:%S}"
