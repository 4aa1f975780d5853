"""Spans as addresses have them."""

from __future__ import annotations

import pytest

from dashboard.dead_letters.forms import LASTS, Asked, pairs_of
from dashboard.gateway.queue_search import Span

NOW = 1_795_522_866_073


def test_a_button_means_so_long_until_now() -> None:
    asked = Asked.of({"last": "1h"}, NOW)
    assert asked.span == Span(NOW - LASTS["1h"], None)
    assert asked.kept == [("last", "1h")]


def test_a_pinned_span_means_the_same_tomorrow() -> None:
    asked = Asked.of({"last": "24h"}, NOW)
    later = Asked.of(dict(asked.pinned(NOW)), NOW + LASTS["7d"])
    assert later.span == Span(NOW - LASTS["24h"], NOW)
    assert later.kept == asked.pinned(NOW)


def test_without_parameters_everything_is_meant() -> None:
    asked = Asked.of({}, NOW)
    assert (asked.span, asked.kept) == (Span(), [])
    assert dict(asked.pinned(NOW)) == dict(pairs_of(Span(None, NOW)))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"last": "5y"}, "last: "),
        ({"begin": "soon"}, "begin: “soon” is no time"),
        ({"begin": "2026-11-24T12:00", "end": "2026-11-24T11:00"}, "before"),
    ],
)
def test_what_cannot_be_read_is_said(given: dict[str, str], said: str) -> None:
    asked = Asked.of(given, NOW)
    assert said in asked.problem
    assert asked.span == Span()
