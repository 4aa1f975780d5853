from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator

import pytest
from asgiref.sync import async_to_sync

from dashboard.audit import export
from dashboard.audit.export import COLUMNS, csv_pieces, json_pieces
from dashboard.models import AuditEntry
from dashboard.models.audit import record

pytestmark = pytest.mark.django_db


def gathered(pieces: AsyncIterator[bytes]) -> list[bytes]:
    async def gather() -> list[bytes]:
        return [piece async for piece in pieces]

    return async_to_sync(gather)()


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "CHUNK_ROWS", 3)


def test_everything_is_written_in_chunks(small_chunks: None) -> None:
    for number in range(7):
        record(None, "x", target=str(number), details={"name": "订单"})
    pieces = gathered(json_pieces(AuditEntry.objects.all()))
    rows = [json.loads(line) for line in b"".join(pieces).splitlines()]
    assert len(pieces) == 3
    assert [row["target"] for row in rows] == list("6543210")
    assert set(rows[0]) == set(COLUMNS)
    assert rows[0]["details"] == {"name": "订单"}


def test_filters_hold_in_every_chunk(small_chunks: None) -> None:
    for number in range(20):
        record(None, "x", target="even" if number % 2 == 0 else "odd")
    pieces = gathered(json_pieces(AuditEntry.objects.search("even")))
    assert b"".join(pieces).count(b"even") == 10
    assert b"odd" not in b"".join(pieces)


def test_no_text_is_a_formula() -> None:
    record(None, "x", target="=HYPERLINK(1)", reason="+1", cluster="@c")
    text = b"".join(gathered(csv_pieces(AuditEntry.objects.all()))).decode()
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["target"] == "'=HYPERLINK(1)"
    assert (row["reason"], row["cluster"]) == ("'+1", "'@c")
