from __future__ import annotations

from typing import Any

import orjson
import pytest

from dashboard.collector import names_document
from dashboard.collector.names_document import WRITE_AGAIN_MS, NameBook
from dashboard.live.name_documents import HEAD_BYTES

NAMES: dict[Any, set[str]] = {"group": {"b", "a"}, "topic": {"orders"}}


def test_names_are_written_sorted_and_begin_with_their_version() -> None:
    text = NameBook("hangzhou").document(NAMES, 0)
    assert text is not None
    document = orjson.loads(text)
    assert document["names"] == {"group": ["a", "b"], "topic": ["orders"]}
    assert document["left_out"] == 0
    head = text[:HEAD_BYTES].decode()
    assert head == f'{{"version":"{document["version"]}",'


def test_names_that_stay_are_not_written_again_for_a_minute() -> None:
    book = NameBook("hangzhou")
    first = book.document(NAMES, 0)
    assert book.document(NAMES, WRITE_AGAIN_MS - 1) is None
    assert book.document(NAMES, WRITE_AGAIN_MS) == first
    changed = book.document({**NAMES, "broker": {"broker-a"}}, WRITE_AGAIN_MS + 1)
    assert changed is not None
    assert changed[:HEAD_BYTES] != (first or b"")[:HEAD_BYTES]


def test_more_names_than_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names_document, "MOST_OF_A_KIND", 1)
    document = orjson.loads(NameBook("hangzhou").document(NAMES, 0) or b"")
    assert document["names"]["group"] == ["a"]
    assert document["left_out"] == 1
