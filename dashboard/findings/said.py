"""Findings in words: what documents carry as keys and values, as people read it.

`static/js/groups/findings.js` says the same in the browser; the end of a value's name
is its unit in both, and a number or list that may be more is written as that in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dashboard.live.documents import FindingState, GroupState, UncheckedRule
from dashboard.wording.numbers import (
    clock,
    count,
    duration,
    rate,
)
from dashboard.wording.words import word


@dataclass(frozen=True, slots=True)
class SaidFinding:
    """A finding's texts; evidence is name and value. `as_of` where it is not of now."""

    title: str
    text: str
    advice: str
    evidence: tuple[tuple[str, str], ...]
    since: str
    as_of: str


@dataclass(frozen=True, slots=True)
class SaidRules:
    """How the rules fared: what found nothing, what was not checked (and which rules
    these are), what failed."""

    nothing: str
    unchecked: tuple[tuple[str, str], ...]
    failed: tuple[str, ...]


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


def say_rules(state: GroupState) -> SaidRules | None:
    """Return how the rules fared at the look that the findings are of, if known."""
    rules = state.get("rules")
    if rules is None:
        return None
    fresh = sum("as_of" not in finding for finding in state["findings"])
    others = rules["checked"] - fresh
    lacking: dict[str, list[str]] = {}
    for rule in rules["unchecked"]:
        lacking.setdefault(_lacks(rule), []).append(_title(rule["key"]))
    return SaidRules(
        nothing=word("finding", f"rules.nothing_{_number(others)}", n=count(others))
        if others
        else "",
        unchecked=tuple(
            (f"{reason}: {count(len(titles))}", " · ".join(titles))
            for reason, titles in lacking.items()
        ),
        failed=tuple(
            word(
                "finding",
                "rules.failed",
                title=_title(rule["key"]),
                error=rule["error"],
            )
            for rule in rules["failed"]
        ),
    )


def _lacks(rule: UncheckedRule) -> str:
    return word("finding", f"rules.{rule['why']}", names=rule["names"])


def _title(key: str) -> str:
    return word("finding", f"{key}.title")


def _number(n: int) -> str:
    return "one" if n == 1 else "other"


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
