"""Offsets in memory: increases only where asked, frozen until removed."""

from __future__ import annotations

from rmqcore.model import MessageQueue
from rmqcore.offsets import OffsetTable

Q0 = MessageQueue("T", "broker-a", 0)
Q1 = MessageQueue("U", "broker-a", 1)


def test_an_unknown_queue_has_no_offset() -> None:
    assert OffsetTable().read(Q0) is None


def test_an_update_may_go_back() -> None:
    table = OffsetTable()
    assert table.update(Q0, 9)
    assert table.update(Q0, 4)
    assert table.read(Q0) == 4


def test_an_update_limited_to_increases_does_not_go_back() -> None:
    table = OffsetTable()
    table.update(Q0, 9)
    assert not table.update(Q0, 4, increase_only=True)
    assert table.update(Q0, 10, increase_only=True)
    assert table.read(Q0) == 10


def test_the_first_update_counts_as_an_increase() -> None:
    table = OffsetTable()
    assert table.update(Q0, 0, increase_only=True)
    assert table.read(Q0) == 0


def test_an_equal_offset_changes_nothing() -> None:
    table = OffsetTable()
    table.update(Q0, 9)
    assert not table.update(Q0, 9)


def test_a_frozen_offset_ignores_updates() -> None:
    table = OffsetTable()
    table.update_and_freeze(Q0, 5)
    assert not table.update(Q0, 9)
    assert table.read(Q0) == 5


def test_removing_a_queue_ends_its_freeze() -> None:
    table = OffsetTable()
    table.update_and_freeze(Q0, 5)
    table.remove(Q0)
    assert table.read(Q0) is None
    assert table.update(Q0, 9)


def test_removing_an_unknown_queue_is_allowed() -> None:
    OffsetTable().remove(Q0)


def test_a_clone_is_of_one_topic_or_of_all() -> None:
    table = OffsetTable()
    table.update(Q0, 1)
    table.update(Q1, 2)
    assert table.clone() == {Q0: 1, Q1: 2}
    assert table.clone("U") == {Q1: 2}


def test_a_clone_is_a_copy() -> None:
    table = OffsetTable()
    table.update(Q0, 1)
    table.clone()[Q0] = 7
    assert table.read(Q0) == 1
