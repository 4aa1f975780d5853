from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.collector.holdings import VOUCHED_MS, with_holdings
from dashboard.live.holdings import (
    Holding,
    decode_holding,
    encode_holding,
    field_of,
)

from .sights import NOW, group, keys, member, table

QUEUES = keys(2)
WORD = Holding("g", "c1", QUEUES, NOW - 5000, NOW)


def test_survives_the_cache() -> None:
    assert decode_holding(encode_holding(WORD)) == WORD
    busy = replace(WORD, busy_since_ms=NOW - 60_000)
    assert decode_holding(encode_holding(busy)) == busy
    last = replace(WORD, left=True)
    assert decode_holding(encode_holding(last)) == last


def test_the_word_of_an_older_version_is_read() -> None:
    old = encode_holding(WORD).replace(b',"busy_since":null,"left":false', b"")
    assert b"busy" not in old
    assert b"left" not in old
    assert decode_holding(old) == WORD


@pytest.mark.parametrize("text", [b"{", b"{}", b"[]", b'{"group": 1}'])
def test_what_is_not_a_holding_is_an_error(text: bytes) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        decode_holding(text)


def test_fields_tell_groups_and_clients_apart() -> None:
    assert field_of("a", "bc") != field_of("ab", "c")


def test_exact_word_stands_in_for_a_member_not_asked() -> None:
    seen = group(table(QUEUES), [member("c1"), member("c2")])
    first, second = with_holdings(seen, {"c1": WORD}, NOW + 100).members
    assert (first.queues, first.answered_at_ms, first.reason) == (QUEUES, NOW, None)
    assert second.queues is None


def test_the_newer_of_word_and_report_counts() -> None:
    asked = replace(member("c1", ()), asked_at_ms=NOW + 50)
    later = with_holdings(group(table(QUEUES), [asked]), {"c1": WORD}, NOW + 100)
    assert later.members[0].queues == ()
    before = replace(asked, asked_at_ms=NOW - 50)
    now = with_holdings(group(table(QUEUES), [before]), {"c1": WORD}, NOW + 100)
    assert now.members[0].queues == QUEUES


def test_word_that_is_no_longer_repeated_is_not_used() -> None:
    seen = group(table(QUEUES), [member("c1")])
    late = NOW + VOUCHED_MS + 1
    assert with_holdings(seen, {"c1": WORD}, late).members[0].queues is None
    assert with_holdings(seen, {}, NOW) is seen
