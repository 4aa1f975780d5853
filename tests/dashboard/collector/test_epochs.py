from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.collector import epochs
from dashboard.collector.epochs import (
    Epoch,
    EpochBook,
    EpochMember,
    GoneBooks,
    Membership,
    WantedStrategy,
    difference,
    membership_of,
)
from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import GroupKind

from .sights import group, keys, member, table


def of(
    *members: str | EpochMember, queues: tuple[QueueKey, ...] = keys(2)
) -> Membership:
    return Membership(
        tuple(EpochMember(m) if isinstance(m, str) else m for m in members), queues
    )


def test_the_first_whole_sweep_opens_epoch_one() -> None:
    turn = EpochBook().observe(of("c1"), (), 1000)
    assert turn is not None
    assert turn.ended is None
    assert turn.begun == Epoch(1, of("c1"), "first_seen", None, 1000)
    assert turn.joined == ("c1",)


def test_a_second_connection_of_a_client_id_joins_and_leaves() -> None:
    book = EpochBook()
    book.observe(of("c1", "c2"), (), 1000)
    turn = book.observe(of("c1", "c1", "c2"), (), 2000)
    assert turn is not None
    assert (turn.begun.cause, turn.joined, turn.left) == ("member_joined", ("c1",), ())
    assert book.observe(of("c1", "c1", "c2"), (), 3000) is None
    turn = book.observe(of("c1", "c2"), (), 4000)
    assert turn is not None
    assert (turn.begun.cause, turn.joined, turn.left) == ("member_left", (), ("c1",))


def test_what_members_told_stays_theirs_when_a_connection_joins() -> None:
    told = [EpochMember(name, strategy) for name, strategy in (("c1", "AVG"),)]
    before = of(*told, EpochMember("c2", "CONFIG"))
    after = of(told[0], told[0], EpochMember("c2", "CONFIG"))
    assert difference(before, after) == "member_joined"


def test_a_group_of_both_modes_has_neither() -> None:
    seen = group(table(keys(2)), [member("c1")], kind=GroupKind.MIXED)
    assert membership_of(seen).mode == "MIXED"


def test_the_same_state_opens_nothing() -> None:
    book = EpochBook()
    book.observe(of("c1"), (), 1000)
    assert book.observe(of("c1"), (), 2000) is None


def test_a_join_ends_one_and_begins_the_next_as_intervals() -> None:
    book = EpochBook()
    book.observe(of("c1"), (), 1000)
    book.observe(of("c1"), (), 2000)
    turn = book.observe(of("c1", "c2"), (), 3000)
    assert turn is not None
    assert turn.ended is not None
    assert (turn.ended.ended_after_ms, turn.ended.ended_by_ms) == (2000, 3000)
    assert (turn.begun.number, turn.begun.cause) == (2, "member_joined")
    assert (turn.begun.began_after_ms, turn.begun.began_by_ms) == (2000, 3000)
    assert (turn.joined, turn.left) == (("c2",), ())


def test_a_silent_broker_neither_opens_nor_closes() -> None:
    book = EpochBook()
    assert book.observe(of("c1"), ["a"], 1000) is None
    book.observe(of("c1"), ["b"], 2000)
    assert book.observe(of(queues=()), ["a"], 3000) is None
    turn = book.observe(of("c1", "c2"), (), 4000)
    assert turn is not None
    assert turn.begun.began_after_ms == 2000


@pytest.mark.parametrize(
    ("before", "after", "cause"),
    [
        (of("c1"), of("c1", "c2"), "member_joined"),
        (of("c1", "c2"), of("c1"), "member_left"),
        (of("c1", "c2"), of("c1", "c3"), "members_changed"),
        (of("c1"), of("c1", queues=keys(3)), "queues_changed"),
        (
            of(EpochMember("c1", "AVG")),
            of(EpochMember("c1", "CONFIG")),
            "strategy_changed",
        ),
        (
            of(EpochMember("c1", None, (("t", "*"),))),
            of(EpochMember("c1", None, (("t", "a"),))),
            "subscription_changed",
        ),
        (of("c1"), of(EpochMember("c1", "AVG", (("t", "*"),))), None),
        (of(EpochMember("c1", "AVG")), of("c1"), None),
    ],
)
def test_each_difference_has_its_cause(
    before: Membership, after: Membership, cause: str | None
) -> None:
    assert difference(before, after) == cause


def test_what_becomes_known_belongs_to_the_running_epoch() -> None:
    book = EpochBook()
    book.observe(of("c1"), (), 1000)
    book.observe(of(EpochMember("c1", "AVG")), (), 2000)
    book.observe(of("c1"), (), 3000)
    assert book.current is not None
    assert book.current.membership == of(EpochMember("c1", "AVG"))
    turn = book.observe(of(EpochMember("c1", "CONFIG")), (), 4000)
    assert turn is not None
    assert turn.begun.cause == "strategy_changed"


def test_goes_on_from_a_stored_epoch() -> None:
    stored = Epoch(7, of("c1"), "member_joined", 500, 600)
    book = EpochBook(stored)
    assert book.observe(of("c1"), (), 5000) is None
    turn = book.observe(of(), (), 6000)
    assert turn is not None
    assert turn.begun.number == 8
    assert turn.left == ("c1",)


def test_numbers_go_on_after_the_last_one_that_ended() -> None:
    turn = EpochBook(last_number=4).observe(of("c1"), (), 1000)
    assert turn is not None
    assert (turn.begun.number, turn.ended) == (5, None)


def test_a_snapshot_says_what_counts() -> None:
    seen = group(
        table(keys(2)),
        [member("c1", (), topics=["b", "a"], strategy="AVG"), member("c2")],
    )
    expected = of(EpochMember("c1", "AVG", (("a", "*"), ("b", "*"))), "c2")
    assert membership_of(seen) == replace(expected, mode="CLUSTERING")
    assert membership_of(group(table(keys(2)))).mode is None


def test_a_group_that_is_gone_ends_its_epoch_and_numbers_go_on() -> None:
    book = EpochBook()
    book.observe(of("c1"), (), 1000)
    book.observe(of("c1"), (), 2000)
    ended = book.end((), 3000)
    assert ended is not None
    assert (ended.number, ended.ended_after_ms, ended.ended_by_ms) == (1, 2000, 3000)
    assert book.end((), 4000) is None
    turn = book.observe(of("c1"), (), 5000)
    assert turn is not None
    assert (turn.begun.number, turn.begun.cause) == (2, "first_seen")


def test_a_group_that_a_silent_broker_may_hold_is_not_gone() -> None:
    book = EpochBook()
    book.observe(of("c1"), (), 1000)
    assert book.end(["a"], 2000) is None
    assert book.current is not None


def test_an_epoch_that_ends_keeps_the_owners_last_reported() -> None:
    book = EpochBook()
    owners = {("orders", "a", 0): ("c1",)}
    book.owners = owners
    book.observe(of("c1"), (), 1000)
    turn = book.observe(of("c1", "c2"), (), 2000)
    owners["orders", "a", 0] = ("c2",)
    assert turn is not None
    assert turn.ended is not None
    assert turn.ended.owners == {("orders", "a", 0): ("c1",)}
    ended = book.end((), 3000)
    assert ended is not None
    assert ended.owners == {("orders", "a", 0): ("c2",)}


LISTS = WantedStrategy("CONFIG", '{"config": {"1": [["orders", "a", "0-1"]]}}')
OTHERS = WantedStrategy("CONFIG", '{"config": {"1": [["orders", "a", "1"]]}}')
HOSTED = "10.0.0.1@g-1.1"


def hosted(
    strategy: str | None, wish: WantedStrategy | None = LISTS, *guests: str
) -> Membership:
    """A group g whose members tell their strategy, where they are asked."""
    members = [member(each, strategy=strategy) for each in (HOSTED, *guests)]
    return membership_of(group(table(keys(2)), members), wish)


@pytest.mark.parametrize(
    "seen",
    [
        hosted("CONFIG", None),
        hosted(None),
        # Just after a change of the wish: not followed yet.
        hosted("AVG"),
        hosted("CONFIG", LISTS, "10.0.0.2@4711"),
        membership_of(group(table(keys(2))), LISTS),
    ],
    ids=["not hosted", "not asked", "not followed yet", "with a guest", "no members"],
)
def test_options_are_not_known(seen: Membership) -> None:
    assert seen.options is None


def test_options_are_known_of_members_that_divide_as_wished() -> None:
    assert hosted("CONFIG").options == LISTS.options
    nearby = WantedStrategy("MACHINE_ROOM_NEARBY", '{"inner": "AVG"}')
    assert hosted("MACHINE_ROOM_NEARBY-AVG", nearby).options == nearby.options


def test_other_options_are_another_epoch() -> None:
    book = EpochBook()
    book.observe(hosted("CONFIG"), (), 1000)
    # Nobody was asked, or the wish is not followed yet: as far as known, equal.
    assert book.observe(hosted(None, OTHERS), (), 2000) is None
    assert book.observe(hosted("CONFIG", WantedStrategy("AVG", "{}")), (), 3000) is None
    turn = book.observe(hosted("CONFIG", OTHERS), (), 4000)
    assert turn is not None
    assert turn.ended is not None
    assert (turn.begun.cause, turn.begun.number) == ("options_changed", 2)
    assert turn.ended.membership.options == LISTS.options
    assert turn.begun.membership.options == OTHERS.options


def test_what_is_learned_of_a_running_epoch_is_given_once() -> None:
    book = EpochBook()
    book.observe(hosted(None), (), 1000)
    assert book.take_learned() is None
    assert book.observe(hosted("CONFIG"), (), 2000) is None
    learned = book.take_learned()
    assert learned is not None
    assert learned.membership == hosted("CONFIG")
    assert (learned.number, learned.began_by_ms) == (1, 1000)
    book.observe(hosted("CONFIG"), (), 3000)
    book.observe(hosted(None), (), 4000)
    assert book.take_learned() is None


def test_the_mode_of_a_stored_epoch_is_learned() -> None:
    stored = Epoch(7, of("c1"), "member_joined", 1000, 2000)
    book = EpochBook(stored)
    said = replace(of("c1"), mode="BROADCASTING")
    assert book.observe(said, (), 3000) is None
    learned = book.take_learned()
    assert learned is not None
    assert learned.membership.mode == "BROADCASTING"
    book.observe(of("c1"), (), 4000)  # nobody online said it
    assert book.take_learned() is None
    assert book.current is not None
    assert book.current.membership.mode == "BROADCASTING"


def test_books_of_groups_long_gone_are_given_up_but_not_their_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(epochs, "MOST_GONE", 2)
    running = EpochBook()
    running.observe(of("c1"), (), 1000)
    gone = GoneBooks({"not heard": running})
    for number in (7, 3, 5):
        gone.add({f"g{number}": EpochBook(last_number=number)})
    # What still has to be ended is not given up.
    assert [name for name, _book in gone.items()] == ["not heard", "g5"]
    assert gone.take("not heard") is running
    assert gone.take("g5").last_number == 5
    for name in ("g7", "g3"):
        turn = gone.take(name).observe(of("c1"), (), 2000)
        assert turn is not None
        assert turn.begun.number == 8


def test_a_book_that_ended_holds_no_queues() -> None:
    book = EpochBook()
    book.observe(of("c1"), (), 1000)
    book.owners = dict.fromkeys(keys(2), ("c1",))
    ended = book.end((), 2000)
    assert ended is not None
    assert len(ended.owners) == 2
    assert (book.owners, book.last_number) == ({}, 1)
