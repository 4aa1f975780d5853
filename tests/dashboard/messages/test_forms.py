"""What a search needs, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from dashboard.messages.forms import Search, SearchForm

WANTED: dict[str, dict[str, Any]] = {
    "key": {"topic": "T", "key": "k"},
    "unique": {"topic": "T", "key": "k"},
    "id": {"id": "0A"},
    "time": {"topic": "T"},
    "offset": {"topic": "T", "broker": "b", "queue": "0", "offset": "0"},
    "newest": {"topic": "T"},
    "oldest": {"topic": "T"},
}


@pytest.mark.parametrize(("by", "given"), WANTED.items())
def test_each_way_needs_its_fields(by: str, given: dict[str, Any]) -> None:
    assert SearchForm({"by": by, **given}).is_valid()
    assert set(SearchForm({"by": by}).errors) == set(given)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"by": "guess"}, "by"),
        ({"by": "newest", "topic": "x" * 256}, "topic"),
        ({"by": "newest", "topic": "T", "queue": "-1"}, "queue"),
        ({"by": "newest", "topic": "T", "offset": str(2**63)}, "offset"),
        ({"by": "time", "topic": "T", "begin": "soon"}, "begin"),
        (
            {"by": "time", "topic": "T", "begin": "2026-02-02", "end": "2026-02-01"},
            "end",
        ),
    ],
)
def test_what_cannot_be_searched_is_refused_by_its_field(
    given: dict[str, str], field: str
) -> None:
    assert field in SearchForm(given).errors


def test_times_are_in_the_readers_zone_unless_they_name_one() -> None:
    def begin(text: str) -> int | None:
        form = SearchForm({"by": "time", "topic": "T", "begin": text})
        assert form.is_valid()
        return Search.of(form.cleaned_data).span.begin_ms

    with timezone.override("Asia/Shanghai"):
        local = begin("2026-11-22T11:05")
    assert local == begin("2026-11-22T03:05+00:00") == 1_795_316_700_000
