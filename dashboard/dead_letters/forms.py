"""What is looked at and what is resent, as addresses and forms have it.

| parameter | meaning |
| --- | --- |
| `last` | `1h`, `24h` or `7d`; without it and without `begin`, everything kept |
| `begin`, `end` | a span of store times, in the reader's zone unless they name one |
| `only` | `chosen` for those that `letter` names; else all that match |
| `letter` | a chosen dead letter's id; several may be given |
| `again` | `on` to include those that were resent before |

The parameters of the table (`q`, `f.tag`, …) say which letters are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

from django import forms

from dashboard.frame.messages.moments import SpanForm, as_ms
from dashboard.frame.reasons import MAX_REASON, NEEDED
from dashboard.gateway.queue_search import Span
from dashboard.models import ResendRun

LASTS: Final[Mapping[str, int]] = MappingProxyType(
    {"1h": 3_600_000, "24h": 86_400_000, "7d": 7 * 86_400_000}
)
"""The spans that have a button, in ms."""

FIRST_RATE: Final = 10
MOST_RATE: Final = 100


class StoredForm(SpanForm):
    """A span of store times; what cannot be read is said, and the rest is shown."""

    last = forms.ChoiceField(choices=[(each, each) for each in LASTS], required=False)


@dataclass(frozen=True, slots=True)
class Asked:
    """A span that was asked for; `problem` says what of it could not be read."""

    span: Span
    last: str = ""
    problem: str = ""

    @classmethod
    def of(cls, params: Mapping[str, Any], now_ms: int) -> Asked:
        """Read the parameters of an address; errors stand for the whole span."""
        form = StoredForm(params)
        if not form.is_valid():
            name, errors = next(iter(form.errors.items()))
            return cls(Span(), problem=f"{name}: {errors[0]}")
        given = form.cleaned_data
        if last := given["last"]:
            return cls(Span(now_ms - LASTS[last], None), last)
        return cls(Span(as_ms(given["begin"]), as_ms(given["end"])))

    @property
    def kept(self) -> list[tuple[str, str]]:
        """The parameters that stand for this span in links of the page."""
        if self.last:
            return [("last", self.last)]
        return pairs_of(self.span)

    def pinned(self, now_ms: int) -> list[tuple[str, str]]:
        """The parameters that mean the same span tomorrow."""
        end = self.span.end_ms
        return pairs_of(Span(self.span.begin_ms, now_ms if end is None else end))


def pairs_of(span: Span) -> list[tuple[str, str]]:
    """Return the ends of a span as parameters, to the millisecond and with a zone."""
    ends = (("begin", span.begin_ms), ("end", span.end_ms))
    return [(name, _iso(value)) for name, value in ends if value is not None]


def _iso(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


class ResendForm(forms.Form):
    """How to resend, and why."""

    target = forms.ChoiceField(choices=ResendRun.Target.choices)
    rate = forms.IntegerField(min_value=1, max_value=MOST_RATE)
    token = forms.CharField(max_length=64)
    reason = forms.CharField(max_length=MAX_REASON, error_messages={"required": NEEDED})
