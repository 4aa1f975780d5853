"""Changes on a real cluster: previewed, applied on each broker, read back, undone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied

from dashboard.administration.plans import Plan, Step, Wish
from dashboard.administration.reads import drift_of, effects_of, look, undo_of
from dashboard.administration.refusals import (
    AdministrationError,
    ConfirmationError,
    ReadOnlyError,
    StalePreviewError,
    UnknownThingError,
)
from dashboard.administration.words import STATES
from dashboard.administration.writes import Applied, apply, outcome_of
from dashboard.gateway.configured import Done, Place, Standing
from dashboard.gateway.configuring import (
    READERS_SHOWN,
    ROUTES_LOOKED_AT,
    read_standings,
)
from dashboard.models import AuditEntry, Role, User
from rmqcore.admin import Admin
from rmqcore.model import MessageQueue
from rmqcore.model.topic import Perm, SubscriptionGroupConfig, TopicConfig
from rmqcore.nameserver import NameServer

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


def test_a_change_is_not_done_everywhere_while_a_broker_is_silent(
    east: East, operator: User
) -> None:
    east.do(lambda admin: admin.create_topic("here", 2))
    with east.silent("broker-c", "here"):
        wish = Wish("topic", "here", "change", changes={"perm": "4"})
        entry = carry_out(east, operator, wish)
        assert (entry.outcome, entry.details["state"]) == ("failed", "partly")
        *rest, left_out = effects_of(entry)
        assert [each.state for each in rest] == ["done", "done"]
        assert (left_out.place, left_out.state) == ("broker-c", "left_out")
        assert "127.0.0.1:1" in left_out.error
        assert str(STATES[left_out.state]) == "left out"
        back = undo_of(entry)
        assert back is not None
        assert set(back.earlier) == {"broker-a", "broker-b"}


def test_what_a_silent_broker_would_lose_is_not_called_nothing(
    east: East, operator: User
) -> None:
    async def make(admin: Admin) -> None:
        await admin.create_topic("unsure", 1)
        await admin.create_group(SubscriptionGroupConfig("unsure-reader"))
        queue = MessageQueue("unsure", "broker-a", 0)
        await admin.commit_offset("unsure-reader", queue, 0)

    east.do(make)
    with east.silent("broker-c", "unsure"):
        wish = Wish("topic", "unsure", "delete")
        plan = look(east.cluster, wish).plan
        assert plan is not None
        assert plan.loss is not None
        assert plan.loss.partial
        assert [each.members for each in plan.loss.readers] == [None]
        entry = carry_out(east, operator, wish, confirm="unsure")
        assert entry.details["state"] == "partly"
        assert entry.details["remains"]["partial"]
        # The silent broker may have it, so its routes stay.
        assert entry.details["told"] == {}


def test_groups_that_were_not_asked_are_not_called_offline(east: East) -> None:
    groups = [f"many-{number:02}" for number in range(READERS_SHOWN + 2)]

    async def make(admin: Admin) -> None:
        await admin.create_topic("popular", 1)
        for group in groups:
            await admin.create_group(SubscriptionGroupConfig(group))
            await admin.commit_offset(group, MessageQueue("popular", "broker-a", 0), 0)

    east.do(make)
    plan = look(east.cluster, Wish("topic", "popular", "delete")).plan
    assert plan is not None
    assert plan.loss is not None
    told = {each.group: each.members for each in plan.loss.readers}
    assert told == dict.fromkeys(groups[:READERS_SHOWN], 0) | dict.fromkeys(
        groups[READERS_SHOWN:]
    )


def test_a_name_server_without_a_route_of_a_broker_tells_nothing(east: East) -> None:
    async def ask(admin: Admin) -> tuple[Standing, ...]:
        await admin.create_topic("routed", 1)
        other = NameServer()
        await other.start()
        try:
            async with Admin([*admin.nameservers, other.address]) as both:
                return await read_standings(both, "writing", "broker-b")
        finally:
            await other.stop()

    knowing, other = east.do(ask)
    assert knowing.values == {"writing": "allowed"}
    assert (other.values, other.problem) == (None, "it has no route to this broker")


def test_topics_beyond_those_looked_at_are_counted(east: East) -> None:
    async def make(admin: Admin) -> None:
        for number in range(ROUTES_LOOKED_AT + 1):
            config = TopicConfig(f"route-{number}", 1, 1)
            await admin.put_topic(config, first)
        await admin.create_topic("routed", 1)

    first = east.address("broker-a")
    east.do(make)
    (found,) = look(east.cluster, Wish("writing", "broker-a", "change")).standings
    assert found.values == {"writing": "allowed"}
    assert found.left_out > 0


PLACE = Place("broker-a", "C", "a:1")
OTHER = Place("broker-b", "C", "b:1")
OLD, NEW = {"perm": "6"}, {"perm": "4"}


def outcome(
    done: Done,
    now: Standing,
    *,
    wish: Wish | None = None,
    step: Step | None = None,
    others: tuple[Step, ...] = (),
    kept: tuple[Done, ...] = (),
    told: tuple[Done, ...] = (),
) -> tuple[str, list[str], list[str]]:
    """Return the state of a change of one place, and states and errors of its rows."""
    wish = wish or Wish("topic", "t", "change", changes=NEW)
    plan = Plan(wish, "C", (step or Step(PLACE, OLD, NEW), *others), ())
    found = outcome_of(plan, Applied((done,), kept, told, (now,), None))
    rows = found["steps"]
    return found["state"], [r["state"] for r in rows], [r["error"] for r in rows]


def test_an_answer_that_is_late_is_judged_by_what_is_read_back() -> None:
    late = Done(PLACE, "no answer within 5 s")
    assert outcome(late, Standing(PLACE, NEW)) == ("done", ["done"], [""])
    assert outcome(late, Standing(PLACE, OLD)) == ("failed", ["failed"], [late.error])
    silent = Standing(PLACE, None, "connection refused")
    assert outcome(late, silent) == ("unknown", ["unknown"], [late.error])


def test_a_password_that_was_refused_is_not_called_done() -> None:
    user = Wish("user", "ada", "change", changes={"password": "x"})
    step = Step(PLACE, {"userType": "Super"}, {"userType": "Super", "password": "x"})
    refused, same = Done(PLACE, "too short"), Standing(PLACE, {"userType": "Super"})
    assert outcome(refused, same, wish=user, step=step)[:2] == ("failed", ["failed"])
    assert outcome(Done(PLACE), same, wish=user, step=step)[:2] == ("done", ["done"])


def test_a_deletion_that_left_something_is_done_in_part() -> None:
    wish, step = Wish("group", "g", "delete"), Step(PLACE, OLD, None)
    gone = Standing(PLACE, None)
    kept = Done(PLACE, "%RETRY%g: refused")
    found = outcome(Done(PLACE), gone, wish=wish, step=step, kept=(kept,))
    assert found == ("partly", ["partly"], ["%RETRY%g: refused"])
    server = Place("ns:9876", "", "ns:9876")
    told = (Done(server, "no answer"), Done(server))
    found = outcome(Done(PLACE), gone, wish=wish, step=step, told=told)
    assert found == ("partly", ["done"], [""])
    silent = Step(OTHER, None, None, "no master is alive")
    found = outcome(Done(PLACE), gone, wish=wish, step=step, others=(silent,))
    assert found == ("partly", ["done", "left_out"], ["", "no master is alive"])


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
