"""That an overview is read as it was written, with and without its columns."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from dashboard.live.documents import Overview
from dashboard.live.overview_rows import (
    OverviewEncoder,
    OverviewRows,
    fields_of,
    groups_of,
    open_overview,
)
from tests.dashboard.documents import overview, overview_row

ROWS = [
    overview_row("a", brokers=["b1"], versions=["V5"], complete=True),
    overview_row("ü,]}", topics=["t", '"groups":[]', "日本"], lag=None, brokers=[]),
    overview_row("c", status={"level": "crit", "word": "stalled"}, complete=False),
]


def stored(rows: Any, **changes: Any) -> tuple[Overview, bytes, bytes]:
    document = overview(groups=rows, **changes)
    return document, *OverviewEncoder().encode(document)


def opened(text: bytes, columns: bytes | None) -> Overview:
    found = open_overview(text, columns)
    assert found is not None
    return found


@pytest.mark.parametrize("rows", [ROWS, ROWS[:1]])
def test_it_is_read_as_it_was_written(rows: Any) -> None:
    document, text, columns = stored(rows, error='"groups":[]')
    found = opened(text, columns)
    assert isinstance(found["groups"], OverviewRows)
    assert list(found["groups"]) == rows
    assert {**found, "groups": rows} == document == orjson.loads(text)


def test_rows_are_read_one_by_one() -> None:
    _document, text, columns = stored(ROWS)
    rows = opened(text, columns)["groups"]
    assert len(rows) == len(ROWS)
    assert [rows[at] for at in range(len(ROWS))] == ROWS
    assert rows[-1] == ROWS[-1]
    assert rows[1:] == ROWS[1:]
    assert rows[1] is rows[1]
    assert rows.index(ROWS[1]) == 1
    with pytest.raises(IndexError):
        rows[len(ROWS)]


def test_a_cluster_without_groups_has_no_rows() -> None:
    document = overview()
    document["groups"] = []
    text, columns = OverviewEncoder().encode(document)
    found = opened(text, columns)
    assert list(found["groups"]) == []
    assert groups_of(found["groups"]) == []


def test_columns_of_another_sweep_are_not_used() -> None:
    document, text, _columns = stored(ROWS)
    for changes in {"seq": 12}, {"run": "other"}:
        _other, _text, columns = stored(ROWS, **changes)
        assert opened(text, columns) == document


@pytest.mark.parametrize("columns", [None, b"", b"[]", b"{}", b"\xff", b"{"])
def test_without_columns_the_document_is_parsed(columns: bytes | None) -> None:
    document, text, _columns = stored(ROWS)
    assert opened(text, columns) == document
    assert fields_of(opened(text, columns)["groups"]) is None


@pytest.mark.parametrize("text", [None, b"", b"[]", b"\xff", b'{"a":'])
def test_other_bytes_are_no_overview(text: bytes | None) -> None:
    _document, _text, columns = stored(ROWS)
    assert open_overview(text, columns) is None


def test_what_a_row_lacks_is_lacking_in_its_fields() -> None:
    _document, text, columns = stored(ROWS)
    rows = opened(text, columns)["groups"]
    found = fields_of(rows)
    assert found is not None
    assert found.each(dict, ("brokers", "versions", "complete")) == [
        {"brokers": ["b1"], "versions": ["V5"], "complete": True},
        {"brokers": []},
        {"complete": False},
    ]


def test_only_new_rows_are_encoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = OverviewEncoder()
    encoder.encode(overview(groups=ROWS))
    dumped: list[Any] = []
    dumps = orjson.dumps

    def noting(value: Any) -> bytes:
        dumped.append(value)
        return dumps(value)

    monkeypatch.setattr("dashboard.live.overview_rows.orjson.dumps", noting)
    changed = overview_row("a", lag=1)
    document = overview(groups=[ROWS[2], changed], seq=12)
    text, columns = encoder.encode(document)
    assert [value for value in dumped if "lag_trend" in value] == [changed]
    assert opened(text, columns)["groups"][1] == changed
    assert list(opened(text, columns)["groups"]) == document["groups"]


def test_columns_are_parsed_once_and_only_when_they_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _document, text, columns = stored(ROWS)
    parsed: list[Any] = []
    loads = orjson.loads

    def noting(given: Any) -> Any:
        parsed.append(loads(given))
        return parsed[-1]

    monkeypatch.setattr("dashboard.live.overview_rows.orjson.loads", noting)
    fields = fields_of(opened(text, columns)["groups"])
    assert fields is not None
    parsed.clear()
    for _ in range(2):
        assert fields.each(lambda row: row["lag"], ("lag",)) == [
            row["lag"] for row in ROWS
        ]
    assert parsed == [[row["lag"] for row in ROWS]]
