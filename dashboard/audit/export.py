"""The audit trail as a file, streamed in pieces, so that its size does not matter."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC
from typing import Any, Final

import orjson

from dashboard.models import AuditEntry
from dashboard.models.audit import AuditEntries
from dashboard.wording.cells import csv_lines

CHUNK_ROWS: Final = 1000
COLUMNS: Final = (
    "at",
    "actor_name",
    "action",
    "cluster",
    "target",
    "outcome",
    "times",
    "address",
    "reason",
    "details",
)

Pieces = AsyncIterator[bytes]


async def csv_pieces(entries: AuditEntries) -> Pieces:
    """Yield a line of column names, then the entries, safe to open in a spreadsheet."""
    yield csv_lines([COLUMNS], UTC)
    async for chunk in _chunks(entries):
        yield csv_lines([_cells(row) for row in chunk], UTC)


async def json_pieces(entries: AuditEntries) -> Pieces:
    """Yield one JSON object a line."""
    async for chunk in _chunks(entries):
        yield b"".join(_line(row) for row in chunk)


async def _chunks(entries: AuditEntries) -> AsyncIterator[list[AuditEntry]]:
    """Yield all entries, newest first; no query waits for a slow reader."""
    left = entries.order_by("-pk")
    while chunk := [entry async for entry in left[:CHUNK_ROWS]]:
        yield chunk
        left = left.filter(pk__lt=chunk[-1].pk)


def _cells(entry: AuditEntry) -> list[Any]:
    return [*(getattr(entry, name) for name in COLUMNS[:-1]), entry.details_text]


def _line(entry: AuditEntry) -> bytes:
    values = {name: getattr(entry, name) for name in COLUMNS}
    return orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE)


# Media type and writer by the extension of the file's name.
FORMATS: Final[dict[str, tuple[str, Callable[[AuditEntries], Pieces]]]] = {
    "csv": ("text/csv; charset=utf-8", csv_pieces),
    "jsonl": ("application/jsonl", json_pieces),
}
