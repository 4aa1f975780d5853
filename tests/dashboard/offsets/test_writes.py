"""Offsets moved on a real embedded cluster, with members and without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from django.core.exceptions import PermissionDenied

from dashboard.live.documents import GroupState
from dashboard.models import AuditEntry, Cluster, OffsetChange, Role, User
from dashboard.offsets.reads import preview_of
from dashboard.offsets.wanted import Wanted
from dashboard.offsets.writes import (
    OffsetsError,
    ReadOnlyError,
    StalePlanError,
    move,
)
from rmqcore.client import ConsumeContext, ConsumeResult
from rmqcore.errors import RmqError
from rmqcore.model import MessageExt
from tests.support.waiting import wait_until

from .conftest import GROUP, East


@pytest.fixture
def operator(db: None) -> User:
    return User.objects.create(username="ann", role=Role.OPERATOR)


def wanted(query: str) -> Wanted:
    return Wanted.from_query(f"{query}&topic=orders")


def do(
    operator: User, row: Cluster, query: str, group: str = GROUP, **given: str
) -> OffsetChange:
    where = wanted(query)
    given.setdefault("confirm", group)
    given.setdefault("token", preview_of("east", group, where).plan.token)
    given.setdefault("reason", "CHG-7")
    return move(operator, row, group, where, **given)


def stood(change: OffsetChange) -> list[int]:
    return [each["stood"] for each in change.rows]


def test_an_offline_group_is_moved_read_back_and_put_back(
    east: East, row: Cluster, operator: User
) -> None:
    east.commit(6)
    change = do(operator, row, "to=earliest")
    assert stood(change) == [0, 0, 0, 0]
    assert [each["before"] for each in change.rows] == [6, 6, 6, 6]
    assert change.online is False
    assert east.committed() == [0, 0, 0, 0]
    undone = do(operator, row, f"to=undo&of={change.pk}")
    assert undone.undo_of == change
    assert east.committed() == [6, 6, 6, 6]
    entries = AuditEntry.objects.values_list("action", "target", "reason")
    assert list(entries) == [
        ("offsets.undo", GROUP, "CHG-7"),
        ("offsets.move", GROUP, "CHG-7"),
    ]


def test_queues_of_a_broker_that_was_killed_stay_in_the_plan(east: East) -> None:
    queue = {"topic": "orders", "broker": "broker-z", "queue_id": 3}
    state = cast("GroupState", {"queues": [queue]})
    plan = preview_of("east", GROUP, wanted("to=earliest"), state).plan
    assert [row.place.key for row in plan.unknown] == ["broker-z/3"]
    assert len(plan.moving) == 4


def test_one_queue_is_skipped_and_the_others_stay(
    east: East, row: Cluster, operator: User
) -> None:
    east.commit(2)
    preview = preview_of("east", GROUP, wanted("to=latest&queue=broker-a/1"))
    assert preview.plan.skipped == 8
    do(operator, row, "to=latest&queue=broker-a/1")
    assert east.committed() == [2, 10, 2, 2]


def test_each_queue_may_get_an_offset_of_its_own(
    east: East, row: Cluster, operator: User
) -> None:
    east.commit(2)
    change = do(operator, row, "to=offset&o.broker-a/0=5&o.broker-a/3=999")
    assert east.committed() == [5, 2, 2, 10]
    assert len(change.rows) == 2


def test_a_time_goes_back_to_its_first_message(
    east: East, row: Cluster, operator: User
) -> None:
    east.commit(7)
    preview = preview_of("east", GROUP, wanted("to=time&at=1000"))
    assert preview.plan.again == 28
    do(operator, row, "to=time&at=1000")
    assert east.committed() == [0, 0, 0, 0]


def test_another_groups_offsets_are_copied(
    east: East, row: Cluster, operator: User
) -> None:
    east.commit(4)
    east.ask_create("copy")
    change = do(operator, row, f"to=group&from={GROUP}", group="copy")
    assert east.committed("copy") == [4, 4, 4, 4]
    assert [each["before"] for each in change.rows] == [None] * 4
    with pytest.raises(OffsetsError, match="No queue would move"):
        do(operator, row, f"to=undo&of={change.pk}", group="copy")


def test_members_that_are_online_start_again_where_they_are_put(
    east: East, row: Cluster, operator: User
) -> None:
    seen: list[tuple[int, int]] = []

    async def note(
        messages: Sequence[MessageExt], _context: ConsumeContext
    ) -> ConsumeResult:
        seen.extend((each.queue_id, each.queue_offset) for each in messages)
        return ConsumeResult.SUCCESS

    east.commit(0)
    member = east.join(note)
    wait_until(lambda: len(seen) == 40)
    change = do(operator, row, "to=offset&o.broker-a/0=3")
    assert change.online is True
    assert not change.rows[0]["problem"]
    wait_until(lambda: len(seen) == 47)
    assert sorted(seen[40:]) == [(0, offset) for offset in range(3, 10)]
    east.leave(member)
    assert east.committed() == [10, 10, 10, 10]


def test_a_move_is_refused_before_anything_is_kept(
    east: East, row: Cluster, operator: User
) -> None:
    east.commit(6)
    viewer = User.objects.create(username="vic", role=Role.VIEWER)
    with pytest.raises(PermissionDenied):
        do(viewer, row, "to=earliest")
    with pytest.raises(OffsetsError, match="Type the group's name, “billing”"):
        do(operator, row, "to=earliest", confirm="bill")
    with pytest.raises(OffsetsError, match="A reason is needed"):
        do(operator, row, "to=earliest", reason=" ")
    with pytest.raises(StalePlanError):
        do(operator, row, "to=earliest", token="of another")
    with pytest.raises(RmqError, match="has committed nothing on"):
        do(operator, row, "to=group&from=nobody")
    assert east.committed() == [6, 6, 6, 6]
    assert not OffsetChange.objects.exists()
    assert not AuditEntry.objects.exists()


def test_nothing_is_written_to_a_read_only_cluster(
    east: East, row: Cluster, operator: User, settings: Any
) -> None:
    token = preview_of("east", GROUP, wanted("to=earliest")).plan.token
    settings.ROCKETSCOPE_CLUSTERS = {"east": replace(east.settings, writes=False)}
    with pytest.raises(ReadOnlyError, match="attached read-only"):
        do(operator, row, "to=earliest", token=token)
    assert preview_of("east", GROUP, wanted("to=earliest")).plan.rows


def test_a_queue_that_the_broker_refuses_is_named(
    east: East, row: Cluster, operator: User
) -> None:
    change = do(operator, row, "to=earliest", group="stranger")
    assert {"stranger" in each["problem"] for each in change.rows} == {True}
    failed = AuditEntry.objects.filter(outcome=AuditEntry.Outcome.FAILED)
    assert failed.get().details["queues"] == 4
