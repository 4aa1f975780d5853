"""Values as cells of a file that a spreadsheet may open.

Spreadsheets run text that begins with `=`, `+`, `-`, `@`, a tab or a carriage return.
Group names and client ids come from whoever connects to a broker, so in CSV such text
gets an apostrophe in front, which spreadsheets show as text. XLSX cells carry a type
and need none.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

_STARTS_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_text(text: str) -> str:
    """Return text that no spreadsheet takes for a formula."""
    if text.lstrip(" ").startswith(_STARTS_FORMULA) or text.startswith(_STARTS_FORMULA):
        return "'" + text
    return text


def csv_cell(value: Any, zone: tzinfo) -> str | int | float:
    """Return a value for the csv module; unknown is empty, times carry their zone."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return in_zone(value, zone).isoformat(timespec="seconds")
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, str):
        return safe_text(value)
    return value  # type: ignore[no-any-return]


def in_zone(moment: datetime, zone: tzinfo) -> datetime:
    """Return a moment in a zone; one without zone is UTC, as Spark means it."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(zone)


def csv_lines(rows: Iterable[Iterable[Any]], zone: tzinfo) -> bytes:
    """Write rows as lines of CSV, safe to open in a spreadsheet."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerows([csv_cell(each, zone) for each in row] for row in rows)
    return buffer.getvalue().encode()
