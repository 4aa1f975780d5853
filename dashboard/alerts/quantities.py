"""Figures of rules as people write them: `5 min`, `100,000`, `4`."""

from __future__ import annotations

import math
import re
from typing import Final

from django.utils.translation import gettext as _

from dashboard.wording.numbers import DAY, HOUR, MINUTE, SECOND, ratio

from .refusals import AlertRefusedError

UNITS: Final = {
    **dict.fromkeys(("s", "sec", "second", "seconds", "秒"), SECOND),
    **dict.fromkeys(("m", "min", "minute", "minutes", "分", "分钟"), MINUTE),
    **dict.fromkeys(("h", "hour", "hours", "小时"), HOUR),
    **dict.fromkeys(("d", "day", "days", "天"), DAY),
}
_NUMBER: Final = r"([0-9][0-9,]*(?:\.[0-9]+)?)"
_SPAN: Final = re.compile(rf"{_NUMBER}\s*([a-z秒分钟小时天]*)", re.IGNORECASE)
_PLAIN: Final = re.compile(rf"{_NUMBER}\s*[×x]?")
_SHORT: Final = ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s"))


def read_span(text: str, field: str) -> int:
    """Read a span with its unit and return milliseconds."""
    found = _SPAN.fullmatch(text.strip())
    unit = UNITS.get(found[2].lower()) if found else None
    if found is None or unit is None:
        raise AlertRefusedError(
            _("“%(text)s” is not a span of time; write it as 30 s, 5 min, 2 h or 1 d.")
            % {"text": text.strip()[:20]},
            field,
        )
    return round(float(found[1].replace(",", "")) * unit)


def read_number(text: str, field: str) -> float:
    """Read a number, which may have commas and end in ×."""
    found = _PLAIN.fullmatch(text.strip())
    value = float(found[1].replace(",", "")) if found else math.inf
    if not math.isfinite(value):
        raise AlertRefusedError(
            _("“%(text)s” is not a number such as 100,000.")
            % {"text": text.strip()[:20]},
            field,
        )
    return value


def written_span(milliseconds: float) -> str:
    """Write a span so that it can be read again: 5 min, 90 s."""
    for size, unit in _SHORT:
        if milliseconds and milliseconds % size == 0:
            return f"{round(milliseconds / size):,} {unit}"
    return f"{milliseconds / SECOND:g} s"


def written(unit: str, value: float | None) -> str:
    """Write a figure in a rule's unit so that it can be read again."""
    if value is None:
        return ""
    if unit == "ms":
        return written_span(value)
    if unit == "ratio":
        return ratio(value) if value == round(value, 1) else f"{value:g}"
    return f"{round(value):,}" if value == round(value) else f"{value:,}"
