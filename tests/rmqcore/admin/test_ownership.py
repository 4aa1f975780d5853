from __future__ import annotations

import pytest

from rmqcore.admin.ownership import infer, owners_of, strategy_of
from rmqcore.model.columns import QueueKey, Reason
from rmqcore.model.snapshot import (
    GroupKind,
    MemberSnapshot,
    Owners,
    OwnerSource,
    StrategySource,
)
from rmqcore.model.subscription import SubscriptionData
from tests.rmqcore.model.snapshots import keys_of, member_of, topic_of

KEYS = keys_of("T", 4)


def inferred(
    *members: MemberSnapshot,
    kind: GroupKind = GroupKind.OWNED,
    keys: tuple[QueueKey, ...] = KEYS,
    topics: int = 4,
) -> Owners:
    return infer(
        "G",
        kind,
        keys,
        members,
        topics={"T": topic_of("T", topics)},
        subscribed=frozenset("T"),
    )


def clients(owners: Owners) -> list[str]:
    assert owners.reason is None
    return ["".join(clients) for clients in owners.by_row]


def test_by_default_queues_go_in_blocks() -> None:
    assert clients(inferred(member_of("a"), member_of("b"))) == ["a", "a", "b", "b"]


def test_each_member_divides_by_its_own_strategy() -> None:
    owners = inferred(
        member_of("a", strategy="AVG"), member_of("b", strategy="AVG_BY_CIRCLE")
    )
    # AVG gives a 0 and 1, the circle gives b 1 and 3: 1 twice, 2 to nobody.
    assert clients(owners) == ["a", "ab", "", "b"]


def test_a_client_id_of_two_processes_owns_its_part_twice() -> None:
    owners = inferred(member_of("a"), member_of("a"))
    assert clients(owners) == ["aa", "aa", "", ""]


def test_the_part_of_a_member_that_does_not_subscribe_has_no_reader() -> None:
    elsewhere = member_of("b", subscriptions=(SubscriptionData("U"),))
    assert clients(inferred(member_of("a"), elsewhere)) == ["a", "a", "", ""]


def test_only_readable_queues_are_divided() -> None:
    owners = inferred(member_of("a"), member_of("b"), topics=2)
    assert clients(owners) == ["a", "b", "", ""]


def test_topics_nobody_subscribes_have_no_owner() -> None:
    owners = inferred(member_of("a"), keys=keys_of("U", 2))
    assert clients(owners) == ["", ""]


def test_broadcasting_gives_every_queue_to_everybody() -> None:
    owners = inferred(member_of("a"), member_of("b"), kind=GroupKind.BROADCASTING)
    assert clients(owners) == ["ab"] * 4


@pytest.mark.parametrize("strategy", ["Unheard", "MACHINE_ROOM", "CONFIG"])
def test_rules_that_cannot_be_simulated(strategy: str) -> None:
    owners = inferred(member_of("a"), member_of("b", strategy=strategy))
    assert owners.reason is Reason.UNKNOWN_STRATEGY


@pytest.mark.parametrize("strategy", ["AVG", "CONSISTENT_HASH"])
def test_members_that_no_strategy_takes_are_unknown_not_an_error(strategy: str) -> None:
    owners = inferred(member_of("a", strategy=strategy), member_of(""))
    assert owners.reason is Reason.UNKNOWN_STRATEGY


def test_groups_without_single_owners() -> None:
    assert inferred(member_of("a"), kind=GroupKind.SHARED_POP).reason is Reason.SHARED
    by_hand = inferred(member_of("a"), kind=GroupKind.ASSIGNED_BY_HAND)
    assert by_hand.reason is Reason.NOT_ASKED


def test_members_that_disagree_on_what_the_group_is_own_nothing_for_sure() -> None:
    told = member_of("a", queues=KEYS)
    guess = inferred(told, kind=GroupKind.MIXED)
    assert guess.reason is Reason.MIXED
    assert owners_of(GroupKind.MIXED, KEYS, [told], guess) == guess


def test_a_group_without_members_has_no_owners() -> None:
    owners = inferred(kind=GroupKind.OFFLINE)
    assert owners.by_row == ((),) * 4
    assert owners.sources == (None,) * 4


# What members report


def owners(*members: MemberSnapshot, guess: Owners | None = None) -> Owners:
    guess = inferred(*members) if guess is None else guess
    return owners_of(GroupKind.OWNED, KEYS, members, guess)


def test_nothing_reported_leaves_what_is_inferred() -> None:
    guess = inferred(member_of("a"))
    assert owners(member_of("a"), guess=guess) is guess


def test_reported_owners_are_taken_at_their_word() -> None:
    seen = owners(member_of("a", queues=KEYS[2:]), member_of("b", queues=KEYS[:1]))
    assert clients(seen) == ["b", "", "a", "a"]
    assert set(seen.sources) == {OwnerSource.REPORTED}


def test_a_queue_held_twice_shows_both_holders() -> None:
    seen = owners(member_of("a", queues=KEYS[:1]), member_of("b", queues=KEYS[:1]))
    assert seen.by_row[0] == ("a", "b")


def test_what_nobody_reported_may_be_a_silent_members() -> None:
    seen = owners(member_of("a", queues=KEYS[:2]), member_of("b"))
    assert clients(seen) == ["a", "a", "b", "b"]
    assert seen.sources == (OwnerSource.REPORTED,) * 2 + (OwnerSource.INFERRED,) * 2


def test_a_member_that_reported_is_not_guessed_to_hold_more() -> None:
    seen = owners(member_of("a", queues=KEYS[:1]), member_of("b"))
    assert clients(seen) == ["a", "", "b", "b"]


def test_silent_members_of_an_unknown_strategy_leave_it_open() -> None:
    seen = owners(member_of("a", queues=KEYS[:1], strategy="Own"), member_of("b"))
    assert clients(seen) == ["a", "", "", ""]
    assert seen.sources == (OwnerSource.REPORTED, None, None, None)


def test_queues_taken_by_pop_show_everybody_who_takes_them() -> None:
    shared = member_of("a", queues=(), pop_queues=KEYS[:2])
    other = member_of("b", queues=(), pop_queues=KEYS[1:2])
    seen = owners_of(GroupKind.SHARED_POP, KEYS, [shared, other], inferred(shared))
    assert clients(seen) == ["a", "ab", "", ""]


# The strategy of a group


def test_strategy_reported_assumed_mixed_and_none() -> None:
    one, two = member_of("a", strategy="AVG"), member_of("b", strategy="CONFIG")
    assert strategy_of([one, member_of("c")]) == ("AVG", StrategySource.REPORTED, None)
    assert strategy_of([member_of("c")]) == ("AVG", StrategySource.ASSUMED, None)
    assert strategy_of([one, two]) == (None, StrategySource.REPORTED, Reason.MIXED)
    assert strategy_of([]) == (None, None, Reason.OFFLINE)
