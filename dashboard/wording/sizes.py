"""Numbers of bytes, and parts of a whole, as people read them."""

from __future__ import annotations

from typing import Final

_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def size(value: float) -> str:
    """Write bytes in the largest unit that leaves a whole part: 512 B, 1.5 MiB."""
    amount, unit = float(value), _UNITS[0]
    for unit in _UNITS:
        # 1,023.96 would be written as 1024.0 of the smaller unit.
        if abs(amount) < 1023.95 or unit == _UNITS[-1]:
            break
        amount /= 1024
    whole = unit == "B" or amount >= 100
    return f"{round(amount):,} {unit}" if whole else f"{amount:.1f} {unit}"


def percent(ratio: float) -> str:
    """Write a part of a whole: 42 %, and 0.4 % where that is more than nothing."""
    value = ratio * 100
    return f"{value:.1f} %" if 0 < value < 1 else f"{round(value)} %"
