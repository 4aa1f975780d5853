"""Changes of hosted groups: predicted, applied, undone, refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied

from dashboard.hosting.writes import (
    FleetError,
    GroupWish,
    add_member,
    remove_group,
    save_group,
)
from dashboard.models import (
    AuditEntry,
    GroupChange,
    ManagedGroup,
    Role,
    User,
)
from dashboard.switching.reads import preview_of, progress_of
from dashboard.switching.writes import (
    OverwriteError,
    StalePreviewError,
    apply_change,
    desired_state,
    undo_change,
)
from dashboard.whatif.model import from_lists
from tests.dashboard.conftest import Write
from tests.dashboard.documents import hosted_group, looked_at, member, now_ms
from tests.dashboard.hosting.managed import (
    NAME,
    document,
    host,
    run_members,
)

pytestmark = pytest.mark.django_db

CIRCLE = "v=1&s=AVG_BY_CIRCLE"
NEXT = f"10.20.6.11@{NAME}-4.1"


@pytest.fixture
def group(write: Write) -> ManagedGroup:
    write(looked_at(), hosted_group(at=now_ms()))
    return host()


@pytest.fixture
def olga(db: None) -> User:
    return User.objects.create(username="olga", role=Role.OPERATOR)


@pytest.fixture
def bob(db: None) -> User:
    return User.objects.create(username="bob", role=Role.OPERATOR)


def apply(
    actor: User, group: ManagedGroup, query: str = CIRCLE, **changes: Any
) -> GroupChange:
    group.refresh_from_db()
    state = changes.pop("state", None) or document(group)
    preview = preview_of(state, group, query)
    given: dict[str, Any] = {
        "show": preview.row,
        "token": preview.token,
        "reason": "CHG-1",
        **changes,
    }
    return apply_change(actor, state, query, **given)


def test_a_strategy_becomes_the_wish_with_its_prediction(
    olga: User, group: ManagedGroup
) -> None:
    change = apply(olga, group)
    group.refresh_from_db()
    assert (group.strategy, group.revision) == ("AVG_BY_CIRCLE", 2)
    assert change.before == {
        "strategy": "AVG",
        "strategy_options": {},
        "members": [1, 2, 3],
    }
    assert change.predicted[f"10.20.6.11@{NAME}-1.1"] == [
        ["orders", "hz1@broker-a", "0,3,6"],
        ["orders", "hz2@broker-b", "1,4,7"],
    ]
    entry = AuditEntry.objects.get(action="strategy.switch")
    assert (entry.actor_name, entry.target, entry.reason) == ("olga", NAME, "CHG-1")


def test_members_join_and_leave_with_it(olga: User, group: ManagedGroup) -> None:
    leaving = f"10.20.6.11@{NAME}-1.1"
    change = apply(olga, group, f"{CIRCLE}&a={NEXT}&r={leaving}")
    wanted = group.members.filter(wanted=True).values_list("number", flat=True)
    assert sorted(wanted) == change.after["members"] == [2, 3, 4]
    group.refresh_from_db()
    assert group.members_wanted == 3
    assert NEXT in change.predicted
    assert leaving not in change.predicted


def test_the_balanced_plan_becomes_lists_by_member_number(
    olga: User, group: ManagedGroup
) -> None:
    apply(olga, group, "v=1&show=BALANCED")
    group.refresh_from_db()
    assert group.strategy == "CONFIG"
    lists = from_lists("config", group.strategy_options["config"], limit=100)
    assert sorted(lists) == ["1", "2", "3"]
    assert sum(map(len, lists.values())) == 16


def test_rooms_become_rules_by_member_number(olga: User, group: ManagedGroup) -> None:
    rooms = "".join(f"&C=10.20.6.11@{NAME}-{n}.1:hz{n % 2 + 1}" for n in (1, 2, 3))
    apply(olga, group, f"v=1&s=MACHINE_ROOM_NEARBY&i=AVG&b=@{rooms}")
    group.refresh_from_db()
    assert group.strategy == "MACHINE_ROOM_NEARBY-AVG"
    assert group.strategy_options == {
        "broker_rooms": {"separator": "@"},
        "client_rooms": {"named": {"1": "hz2", "2": "hz1", "3": "hz2"}},
    }


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (f"{CIRCLE}&q=orders:hz1@broker-a:16", "change the topics first"),
        (f"{CIRCLE}&m=10.20.6.11@{NAME}-1.1:x", "cannot be renamed"),
        (
            f"{CIRCLE}&a=10.9.9.9@mine",
            f"will be {NEXT}, the scenario has 10.9.9.9@mine",
        ),
    ],
)
def test_what_wishes_cannot_bring_about_is_refused(
    olga: User, group: ManagedGroup, query: str, said: str
) -> None:
    with pytest.raises(FleetError, match=said):
        apply(olga, group, query)
    assert not GroupChange.objects.exists()


def test_members_hosted_elsewhere_would_not_follow(
    olga: User, group: ManagedGroup
) -> None:
    state = document(group)
    state["members"].append(member(5))
    with pytest.raises(FleetError, match="is a member that is not hosted here"):
        apply(olga, group, state=state)


def test_nothing_is_applied_while_members_come_and_go(
    olga: User, group: ManagedGroup
) -> None:
    add_member(None, "hangzhou", NAME)
    with pytest.raises(FleetError, match="4 are wanted, 3 of them are there"):
        apply(olga, group, state=hosted_group())


def test_what_was_not_looked_at_is_not_applied(olga: User, group: ManagedGroup) -> None:
    token = preview_of(document(group), group, CIRCLE).token
    group.revision += 1
    group.save()
    with pytest.raises(StalePreviewError, match="has changed since the preview"):
        apply(olga, group, token=token)


@pytest.mark.parametrize(
    ("reason", "said"), [("  ", "A reason is needed"), ("x" * 1001, "1001 characters")]
)
def test_a_reason_is_needed(
    olga: User, group: ManagedGroup, reason: str, said: str
) -> None:
    with pytest.raises(FleetError, match=said):
        apply(olga, group, reason=reason)


def test_nothing_to_change_is_said(olga: User, group: ManagedGroup) -> None:
    with pytest.raises(FleetError, match="already divides this way"):
        apply(olga, group, "v=1&s=AVG")


def test_viewers_change_nothing(group: ManagedGroup) -> None:
    vera = User.objects.create(username="vera", role=Role.VIEWER)
    with pytest.raises(PermissionDenied, match="vera is viewer"):
        apply(vera, group)


def test_undoing_sets_back_what_the_change_changed(
    olga: User, group: ManagedGroup
) -> None:
    before = desired_state(group)
    change = apply(olga, group, f"{CIRCLE}&a={NEXT}")
    undone = undo_change(olga, change, reason="worse")
    group.refresh_from_db()
    assert desired_state(group) == before
    assert (undone.undo_of, group.revision) == (change, 3)
    assert AuditEntry.objects.filter(action="strategy.undo", reason="worse").exists()


def test_undoing_twice_says_that_it_is_done(olga: User, group: ManagedGroup) -> None:
    change = apply(olga, group)
    undo_change(olga, change, reason="worse")
    with pytest.raises(FleetError, match="already as it was before that change"):
        undo_change(olga, change, reason="again")


def test_undoing_leaves_other_parts_as_others_set_them(
    olga: User, bob: User, group: ManagedGroup
) -> None:
    change = apply(olga, group)
    add_member(bob, "hangzhou", NAME)
    undo_change(olga, change, reason="worse")
    group.refresh_from_db()
    assert (group.strategy, group.members_wanted) == ("AVG", 4)


def test_what_others_changed_since_is_overwritten_only_when_confirmed(
    olga: User, bob: User, group: ManagedGroup
) -> None:
    change = apply(olga, group)
    apply(bob, group, "v=1&s=CONSISTENT_HASH&n=20")
    with pytest.raises(OverwriteError, match="bob changed the strategy"):
        undo_change(olga, change, reason="worse")
    group.refresh_from_db()
    assert group.strategy == "CONSISTENT_HASH"
    undo_change(olga, change, reason="worse", confirmed=True)
    group.refresh_from_db()
    assert group.strategy == "AVG"


def test_ones_own_later_change_needs_no_confirmation(
    olga: User, group: ManagedGroup
) -> None:
    change = apply(olga, group)
    apply(olga, group, "v=1&s=CONSISTENT_HASH&n=20")
    undo_change(olga, change, reason="worse")
    group.refresh_from_db()
    assert group.strategy == "AVG"


def test_a_member_that_is_just_leaving_is_wanted_again(
    olga: User, group: ManagedGroup
) -> None:
    change = apply(olga, group, f"v=1&s=AVG&r=10.20.6.11@{NAME}-2.1")
    assert not group.members.get(number=2).wanted
    undo_change(olga, change, reason="needed")
    assert group.members.get(number=2).wanted
    assert group.members.count() == 3


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("CONSISTENT_HASH", {"virtual_nodes": 25}),
        ("MACHINE_ROOM", {"rooms": ["hz1"]}),
        ("CONFIG", {"config": {"1": [["orders", "hz1@broker-a", "0-3"]], "2": []}}),
        (
            "MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE",
            {
                "broker_rooms": {"separator": "@"},
                "client_rooms": {"named": {"1": "hz1", "2": "hz2", "3": "hz2"}},
            },
        ),
    ],
)
def test_options_of_hosted_groups_are_known(
    olga: User, group: ManagedGroup, strategy: str, options: dict[str, Any]
) -> None:
    ManagedGroup.objects.update(strategy=strategy, strategy_options=options)
    group.refresh_from_db()
    state: Any = document(group)
    for each in state["members"]:
        each["strategy"] = strategy
    state["strategy"]["name"] = strategy
    row = strategy.partition("-")[0]
    preview = preview_of(state, group, "v=1", show=row)
    assert preview.desired is not None
    assert preview.desired.strategy == strategy
    found = dict(preview.desired.options)
    if strategy == "CONFIG":
        assert found.pop("config").pop("3") == []
        found["config"] = {"1": [["orders", "hz1@broker-a", "0-3"]], "2": []}
    assert found == options


def test_progress_is_what_members_report(olga: User, group: ManagedGroup) -> None:
    change = apply(olga, group)
    change.refresh_from_db()
    started = progress_of(change, hosted_group())
    assert (started.state, started.switched, started.members) == ("running", 0, 3)
    assert started.as_predicted < 16
    assert started.misses
    state = as_predicted(change)
    done = progress_of(change, state)
    assert (done.state, done.as_predicted, done.misses) == ("done", 16, [])
    state["members"][0]["strategy"] = "AVG"
    mixed = progress_of(change, state)
    assert (mixed.state, mixed.mixed) == ("running", True)


def test_progress_knows_members_that_moved_to_another_worker(
    olga: User, group: ManagedGroup
) -> None:
    change = apply(olga, group)
    change.refresh_from_db()
    state = as_predicted(change)
    old, new = f"10.20.6.11@{NAME}-1.1", f"10.20.6.12@{NAME}-1.2"
    state["members"][0]["client_id"] = new
    for row in state["queues"]:
        row["owners"] = [new if each == old else each for each in row["owners"]]
    assert progress_of(change, state).state == "done"


def test_progress_of_a_change_that_was_replaced(
    olga: User, group: ManagedGroup
) -> None:
    change = apply(olga, group)
    apply(olga, group, "v=1&s=CONSISTENT_HASH&n=20")
    change = GroupChange.objects.get(pk=change.pk)
    assert progress_of(change, hosted_group()).state == "replaced"
    assert progress_of(change, None).state == "unknown"


def as_predicted(change: GroupChange) -> Any:
    """Return the document once all members have followed a change."""
    state: Any = hosted_group()
    lists = from_lists("predicted", change.predicted, limit=100)
    owners = {queue: owner for owner, queues in lists.items() for queue in queues}
    by_key = {(q.topic, q.broker_name, q.queue_id): o for q, o in owners.items()}
    for row in state["queues"]:
        row["owners"] = [by_key[row["topic"], row["broker"], row["queue_id"]]]
    for each in state["members"]:
        each["strategy"] = change.after["strategy"]
    return state


def test_a_group_is_removed_when_its_members_have_left(group: ManagedGroup) -> None:
    remove_group(None, "hangzhou", NAME, "over")
    group.refresh_from_db()
    assert (group.leaving, group.members_wanted) == (True, 0)
    assert not group.members.filter(wanted=True).exists()
    wish = GroupWish("hangzhou", NAME, [("orders", "*")])
    with pytest.raises(FleetError, match="is being removed"):
        save_group(None, wish, members=1)
    with pytest.raises(FleetError, match="is being removed"):
        add_member(None, "hangzhou", NAME)
    run_members(group)


@pytest.mark.parametrize("name", ["", "a b", "a/b", "x" * 256])
def test_names_that_brokers_refuse_are_refused(name: str, hangzhou: object) -> None:
    with pytest.raises(FleetError, match="1 to 255 letters"):
        save_group(None, GroupWish("hangzhou", name, [("t", "*")]), members=1)
