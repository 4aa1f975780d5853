"""Changes on a real cluster: previewed, applied on each broker, read back, undone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied

from dashboard.administration.plans import Wish
from dashboard.administration.reads import drift_of, effects_of, look, undo_of
from dashboard.administration.refusals import (
    AdministrationError,
    ConfirmationError,
    ReadOnlyError,
    StalePreviewError,
    UnknownThingError,
)
from dashboard.administration.writes import apply
from dashboard.models import AuditEntry, Role, User
from rmqcore.admin import Admin
from rmqcore.model import MessageQueue
from rmqcore.model.topic import Perm, SubscriptionGroupConfig, TopicConfig

from .conftest import East

FIFO = {"readQueueNums": "4", "writeQueueNums": "4", "message.type": "FIFO"}


@pytest.fixture
def operator(db: None) -> User:
    return User.objects.create(username="olga", role=Role.OPERATOR)


@pytest.fixture
def admin_user(db: None) -> User:
    return User.objects.create(username="ada", role=Role.ADMIN)


def carry_out(east: East, actor: User, wish: Wish, **given: Any) -> AuditEntry:
    plan = look(east.cluster, wish).plan
    assert plan is not None
    given = {"token": plan.token, "reason": "CHG-7", **given}
    return apply(actor, east.cluster, wish, **given)


def topic_on(east: East, topic: str, broker: str) -> TopicConfig | None:
    address = east.address(broker)

    async def ask(admin: Admin) -> TopicConfig | None:
        return await admin.find_topic(topic, address)

    return east.do(ask)


def test_a_topic_is_created_on_every_broker_and_recorded(
    east: East, operator: User
) -> None:
    entry = carry_out(east, operator, Wish("topic", "made", "create", changes=FIFO))
    for broker in ("broker-a", "broker-b"):
        found = topic_on(east, "made", broker)
        assert found is not None
        assert (found.read_queue_nums, found.attributes["message.type"]) == (4, "FIFO")
    assert (entry.outcome, entry.details["state"]) == ("done", "done")
    assert (entry.action, entry.target) == ("configuration.create", "made")
    assert entry.reason == "CHG-7"
    assert [e.state for e in effects_of(entry)] == ["done", "done"]
    assert [step["before"] for step in entry.details["steps"]] == [None, None]


def test_a_change_is_undone_broker_by_broker(east: East, operator: User) -> None:
    async def make(admin: Admin) -> None:
        await admin.create_topic("undone", 2, broker_name="broker-a")
        await admin.create_topic("undone", 6, broker_name="broker-b")

    east.do(make)
    wish = Wish("topic", "undone", "change", changes={"perm": "4"})
    entry = carry_out(east, operator, wish)
    found = topic_on(east, "undone", "broker-b")
    assert found is not None
    assert (found.perm, found.read_queue_nums) == (Perm.READ, 6)
    back = undo_of(entry)
    assert back is not None
    undone = carry_out(east, operator, back)
    assert undone.details["undoes"] == entry.pk
    found = topic_on(east, "undone", "broker-b")
    assert found is not None
    assert (found.perm, found.read_queue_nums) == (Perm.READ | Perm.WRITE, 6)


def test_drift_is_found_and_mended(east: East, operator: User) -> None:
    async def make(admin: Admin) -> None:
        await admin.create_topic("drifts", 2, broker_name="broker-a")
        await admin.create_topic("drifts", 6, broker_name="broker-b")

    east.do(make)
    (first, second) = drift_of(
        look(east.cluster, Wish("topic", "drifts", "change")).standings
    )
    assert (first.key, second.key) == ("readQueueNums", "writeQueueNums")
    assert first.values == {"broker-a": "2", "broker-b": "6"}
    carry_out(east, operator, Wish("topic", "drifts", "change", like="broker-a"))
    assert topic_on(east, "drifts", "broker-b") == topic_on(east, "drifts", "broker-a")


def test_what_has_changed_since_the_preview_is_not_overwritten(
    east: East, operator: User
) -> None:
    east.do(lambda admin: admin.create_topic("stale", 2))
    wish = Wish("topic", "stale", "change", changes={"writeQueueNums": "1"})
    plan = look(east.cluster, wish).plan
    assert plan is not None
    east.do(lambda admin: admin.create_topic("stale", 3))
    with pytest.raises(StalePreviewError):
        carry_out(east, operator, wish, token=plan.token)
    found = topic_on(east, "stale", "broker-a")
    assert found is not None
    assert found.write_queue_nums == 3
    assert not AuditEntry.objects.filter(target="stale").exists()


def test_deleting_a_topic_says_what_is_lost_and_needs_its_name(
    east: East, operator: User
) -> None:
    async def make(admin: Admin) -> None:
        await admin.create_topic("lost", 1)
        await admin.create_group(SubscriptionGroupConfig("reader"))
        await admin.commit_offset("reader", MessageQueue("lost", "broker-a", 0), 0)

    east.do(make)
    wish = Wish("topic", "lost", "delete")
    plan = look(east.cluster, wish).plan
    assert plan is not None
    assert plan.loss is not None
    assert plan.loss.messages == {"lost": 0}
    assert [(e.group, e.members) for e in plan.loss.readers] == [("reader", 0)]
    with pytest.raises(ConfirmationError, match="Type “lost”"):
        carry_out(east, operator, wish)
    entry = carry_out(east, operator, wish, confirm="lost")
    assert topic_on(east, "lost", "broker-a") is None
    assert "lost" not in east.do(lambda admin: admin.topic_names())
    assert set(entry.details["told"].values()) == {""}
    assert entry.details["remains"]["messages"] == {}
    assert undo_of(entry) is None


def test_one_broker_only_when_asked(east: East, operator: User) -> None:
    east.do(lambda admin: admin.create_topic("half", 2))
    only = Wish("topic", "half", "delete", places=frozenset({"broker-b"}))
    entry = carry_out(east, operator, only, confirm="half")
    assert topic_on(east, "half", "broker-a") is not None
    assert topic_on(east, "half", "broker-b") is None
    # Brokers of the cluster still have it, so the name servers keep its routes.
    assert entry.details["told"] == {}


def test_a_group_keeps_what_its_form_does_not_know(east: East, operator: User) -> None:
    wish = Wish("group", "g-made", "create", changes={"retryMaxTimes": "3"})
    carry_out(east, operator, wish)
    wish = Wish("group", "g-made", "change", changes={"consumeEnable": "false"})
    entry = carry_out(east, operator, wish)
    configs = east.do(lambda admin: admin.group_configs())["g-made"]
    assert {c.retry_max_times for c in configs.values()} == {3}
    assert {c.consume_enable for c in configs.values()} == {False}
    back = undo_of(entry)
    assert back is not None
    carry_out(east, operator, back)
    configs = east.do(lambda admin: admin.group_configs())["g-made"]
    assert {c.consume_enable for c in configs.values()} == {True}


def test_deleting_a_group_takes_offsets_retries_and_dead_letters(
    east: East, operator: User
) -> None:
    async def make(admin: Admin) -> None:
        await admin.create_topic("orders-g", 1)
        await admin.create_group(SubscriptionGroupConfig("g-gone"))
        await admin.create_topic("%RETRY%g-gone", 1)
        await admin.create_topic("%DLQ%g-gone", 1)
        await admin.commit_offset("g-gone", MessageQueue("orders-g", "broker-a", 0), 0)

    east.do(make)
    wish = Wish("group", "g-gone", "delete")
    plan = look(east.cluster, wish).plan
    assert plan is not None
    assert plan.loss is not None
    assert plan.loss.committed == 1
    assert set(plan.loss.messages) == {"%RETRY%g-gone", "%DLQ%g-gone"}
    entry = carry_out(east, operator, wish, confirm="g-gone")
    assert entry.details["state"] == "done"
    assert entry.details["remains"]["committed"] == 0
    assert entry.details["remains"]["messages"] == {}
    assert "%DLQ%g-gone" not in east.do(lambda admin: admin.topic_names())


def test_a_setting_of_a_broker_is_changed_and_undone(
    east: East, admin_user: User
) -> None:
    wish = Wish("broker", "broker-a", "change", changes={"fileReservedTime": "48"})
    entry = carry_out(east, admin_user, wish)
    (step,) = entry.details["steps"]
    assert (step["before"], step["now"]) == (
        {"fileReservedTime": "72"},
        {"fileReservedTime": "48"},
    )
    back = undo_of(entry)
    assert back is not None
    (step,) = carry_out(east, admin_user, back).details["steps"]
    assert step["now"] == {"fileReservedTime": "72"}


def test_a_setting_that_a_broker_refuses_is_shown_as_failed(
    east: East, admin_user: User
) -> None:
    wish = Wish("broker", "broker-a", "change", changes={"regionId": "x"})
    plan = look(east.cluster, wish).plan
    assert plan is not None
    assert "not known to take effect" in plan.warnings[0]
    entry = carry_out(east, admin_user, wish, confirm="broker-a")
    (effect,) = effects_of(entry)
    assert effect.state == "failed"
    assert "regionId cannot be changed" in effect.error
    assert (entry.outcome, entry.details["state"]) == ("failed", "failed")
    assert undo_of(entry) is None


def test_a_broker_is_drained_and_filled_again(east: East, admin_user: User) -> None:
    east.do(lambda admin: admin.create_topic("drained", 1))

    def writable() -> set[str]:
        route = east.do(lambda admin: admin.topic_route("drained"))
        return {queue.broker_name for queue in route.publish_queues("drained")}

    wish = Wish("writing", "broker-a", "change", changes={"writing": "stopped"})
    entry = carry_out(east, admin_user, wish)
    assert entry.details["state"] == "done"
    assert writable() == {"broker-b"}
    back = undo_of(entry)
    assert back is not None
    carry_out(east, admin_user, back)
    assert writable() == {"broker-a", "broker-b"}


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (Wish("topic", "a b", "create", changes=FIFO), "only letters"),
        (Wish("topic", "x" * 128, "create", changes=FIFO), "1 to 127"),
        (Wish("topic", "t", "create", changes={"perm": "9"}), "cannot be “9”"),
        (
            Wish("topic", "t", "create", changes={"readQueueNums": "5000"}),
            "from 0 to 1024",
        ),
        (Wish("topic", "t", "create", changes={"colour": "red"}), "not one of"),
        (Wish("topic", "TBW102", "delete"), "RocketMQ's own"),
        (
            Wish("broker", "broker-a", "change", changes={"aclSecretKey": "x"}),
            "aclSecretKey is a secret",
        ),
        (Wish("topic", "t", "create", scope="west", changes=FIFO), "none of the"),
        (
            Wish("topic", "t", "create", places=frozenset({"b"}), changes=FIFO),
            "no broker “b”",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_limit(
    east: East, wish: Wish, words: str
) -> None:
    with pytest.raises(AdministrationError, match=words):
        look(east.cluster, wish)


@pytest.mark.parametrize("kind", ["topic", "group", "user"])
def test_what_no_broker_has_cannot_be_changed(east: East, kind: Any) -> None:
    wish = Wish(kind, "nowhere", "delete")
    if kind == "user":
        plan = look(east.cluster, wish).plan
        assert plan is not None
        assert not plan.token
        assert len(plan.silent) == 2
        return
    with pytest.raises(UnknownThingError):
        look(east.cluster, wish)


def test_who_may_not_write_changes_nothing(
    east: East, operator: User, settings: Any
) -> None:
    viewer = User.objects.create(username="vera", role=Role.VIEWER)
    wish = Wish("topic", "forbidden", "create", changes=FIFO)
    with pytest.raises(PermissionDenied):
        carry_out(east, viewer, wish)
    with pytest.raises(PermissionDenied):
        carry_out(
            east,
            operator,
            Wish("broker", "broker-a", "change", changes={"fileReservedTime": "1"}),
        )
    with pytest.raises(AdministrationError, match="A reason is needed"):
        carry_out(east, operator, wish, reason=" ")
    known = settings.ROCKETSCOPE_CLUSTERS["east"]
    settings.ROCKETSCOPE_CLUSTERS = {"east": replace(known, writes=False)}
    with pytest.raises(ReadOnlyError, match="attached read-only"):
        carry_out(east, operator, wish)
    assert topic_on(east, "forbidden", "broker-a") is None
    assert not AuditEntry.objects.exists()
