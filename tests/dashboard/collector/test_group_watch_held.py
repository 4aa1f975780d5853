"""What is shown of a group while a broker that it needs is away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dashboard.collector.epochs import EpochBook
from dashboard.collector.group_document import Sight, group_document
from dashboard.collector.group_watch import GroupWatch, Look
from dashboard.collector.presence import HELD_MS, Presence
from dashboard.live.documents import GroupState
from dashboard.live.numbering import Stamp
from rmqcore.model.columns import QueueKey, Reason
from rmqcore.model.snapshot import (
    BrokerSnapshot,
    ClusterSnapshot,
    GroupSnapshot,
    MemberSnapshot,
)

from .sights import NOW, broker, group, keys, member, table

ON_A, ON_B = keys(2, broker="a"), keys(2, broker="b")
QUEUES = (*ON_A, *ON_B)
BOTH = (broker("a"), broker("b"))
A_SILENT = (broker("a", answered=False), broker("b"))
A_MISSING = (replace(A_SILENT[0], missing_since_ms=NOW + 5000), broker("b"))


class Watched:
    """A group of four queues on two brokers, look after look."""

    def __init__(self, earlier: GroupState | None = None) -> None:
        self.watch = GroupWatch(EpochBook(), earlier)
        self.presence = Presence()

    def look(
        self,
        seconds: float,
        seen: GroupSnapshot,
        brokers: Sequence[BrokerSnapshot] = BOTH,
    ) -> Sight | None:
        at_ms = NOW + round(seconds * 1000)
        snapshot = ClusterSnapshot(at_ms, tuple(brokers), {}, {})
        standing = self.presence.take(snapshot)
        return self.watch.see(Look("east", seen, standing, at_ms, asked=True)).sight

    def shown(
        self,
        seconds: float,
        seen: GroupSnapshot,
        brokers: Sequence[BrokerSnapshot] = BOTH,
    ) -> GroupState:
        sight = self.look(seconds, seen, brokers)
        assert sight is not None
        return group_document(sight, Stamp("r", 1))


def members(*, holding: Sequence[QueueKey] = QUEUES) -> list[MemberSnapshot]:
    held = [key for key in QUEUES if key in holding]
    mine = [member("c1", held[::2]), member("c2", held[1::2])]
    return [replace(each, brokers=("a", "b")) for each in mine]


def whole(lag: int = 10) -> GroupSnapshot:
    highs = [100 + lag] * 4
    return group(table(QUEUES, high=highs), members(), expected=["c1", "c2"] * 2)


def without_a(
    reason: Reason = Reason.MISSING, lag: int = 10, holding: Sequence[QueueKey] = QUEUES
) -> GroupSnapshot:
    return group(
        table(
            QUEUES,
            high=[reason, reason, 100 + lag, 100 + lag],
            committed=[reason, reason, 100, 100],
        ),
        members(holding=holding),
        expected=["c1", "c2"] * 2,
    )


@pytest.mark.parametrize(
    ("brokers", "reason", "state"),
    [(A_MISSING, Reason.MISSING, "missing"), (A_SILENT, Reason.NO_ANSWER, "silent")],
)
def test_queues_of_a_broker_that_is_away_keep_their_last_values(
    brokers: Sequence[BrokerSnapshot], reason: Reason, state: str
) -> None:
    watched = Watched()
    watched.shown(0, whole())
    # Silence is told of once it is no mere lateness.
    watched.look(1, without_a(reason), brokers)
    document = watched.shown(5, without_a(reason, 30), brokers)
    assert not document["complete"]
    totals = document["totals"]
    assert (totals["lag"], totals["lag_partial"]) == (60, True)
    assert (totals["queues"], totals["queues_known"]) == (4, 2)
    assert totals["skew"] is None
    stale, fresh = document["queues"][0], document["queues"][2]
    assert (stale["max"], stale["lag"]) == (None, None)
    assert stale["unknown"]["max"] == reason
    assert stale["last"] == {
        "at": NOW,
        "min": 0,
        "max": 110,
        "committed": 100,
        "lag": 10,
        "owners": ["c1"],
        "owner_source": "reported",
    }
    assert (fresh["lag"], fresh["last"]) == (30, None)
    away = document["brokers"][0]
    assert (away["state"], away["queues"], away["last_lag"]) == (state, 2, 20)
    assert away["since"] is not None


def test_status_and_findings_stand_still_and_go_on_after_two_minutes() -> None:
    watched = Watched()
    before = watched.shown(0, whole())
    assert before["held"] is None
    during = watched.shown(5, without_a(lag=90_000), A_MISSING)
    assert during["held"] == {"as_of": NOW, "until": NOW + HELD_MS}
    assert during["status"] == before["status"]
    after = watched.shown(HELD_MS / 1000 + 1, without_a(lag=90_000), A_MISSING)
    assert after["held"] is None
    assert not after["complete"]


def test_what_comes_back_is_judged_at_once() -> None:
    watched = Watched()
    watched.shown(0, whole())
    watched.shown(5, without_a(), A_MISSING)
    document = watched.shown(6, whole(lag=40))
    assert document["complete"]
    assert document["held"] is None
    assert document["totals"]["lag"] == 160
    assert all(queue["last"] is None for queue in document["queues"])


def test_the_epoch_is_held_and_turns_when_the_queues_are_given_up() -> None:
    watched = Watched()
    watched.look(0, whole())
    for seconds in (5, 60, 119):
        sight = watched.look(seconds, without_a(), A_MISSING)
        assert sight is not None
        assert sight.epoch == {"number": 1, "began_at": NOW}
    sight = watched.look(126, without_a(holding=ON_B), A_MISSING)
    assert sight is not None
    assert sight.epoch is not None
    assert sight.epoch["number"] == 2
    current = watched.watch.book.current
    assert current is not None
    assert current.membership.queues == ON_B


def test_a_broker_that_is_only_silent_holds_the_epoch_for_as_long_as_it_is() -> None:
    watched = Watched()
    watched.look(0, whole())
    for seconds in (10, 130, 600):
        sight = watched.look(seconds, without_a(Reason.NO_ANSWER), A_SILENT)
        assert sight is None or sight.epoch == {"number": 1, "began_at": NOW}


def test_a_broker_that_is_silent_from_the_beginning_may_have_queues() -> None:
    watched = Watched()
    seen = group(table(ON_B), [member("c1", ON_B)], expected=["c1"] * 2)
    first = watched.shown(0, seen, A_SILENT)
    assert (first["complete"], first["epoch"]) == (False, None)
    assert first["totals"]["lag_partial"]
    second = watched.shown(10, whole())
    assert second["complete"]
    assert second["epoch"] == {"number": 1, "began_at": NOW + 10_000}
    assert not second["totals"]["lag_partial"]


def test_queues_of_a_broker_that_is_away_are_not_said_to_be_without_owner() -> None:
    watched = Watched()
    watched.look(0, whole())
    for seconds in (60, 70, 130, 140):
        sight = watched.look(seconds, without_a(holding=ON_B), A_MISSING)
        assert sight is not None
        assert sight.ownership.count("unowned") == 0
    assert not watched.watch.take_turns()[0].left


def test_members_whom_nobody_can_tell_of_hold_the_epoch() -> None:
    watched = Watched()
    watched.look(0, whole())
    unsure = group(
        table(QUEUES),
        [replace(each, missing_since_ms=NOW + 1000) for each in members()],
        expected=["c1", "c2"] * 2,
    )
    document = watched.shown(5, unsure)
    assert not document["complete"]
    assert document["members"][0]["missing_since"] == NOW + 1000
    unheard = replace(
        group(table(QUEUES), (), expected=["c1"] * 4),
        unknown={"members": Reason.NO_ANSWER},
    )
    document = watched.shown(6, unheard)
    assert document["totals"]["members"] is None
    assert document["epoch"] == {"number": 1, "began_at": NOW}


def test_a_look_that_a_broker_was_late_for_shows_nothing_new() -> None:
    watched = Watched()
    watched.look(0, whole())
    assert watched.look(1, without_a(Reason.NO_ANSWER), A_SILENT) is None
    assert watched.look(2, whole(lag=20)) is not None


def test_the_next_leader_knows_what_was_last_known() -> None:
    watched = Watched()
    watched.shown(0, whole())
    stored = watched.shown(5, without_a(), A_MISSING)
    successor = Watched(stored)
    document = successor.shown(10, without_a(), A_MISSING)
    assert document["queues"][0]["last"] == stored["queues"][0]["last"]
    assert document["held"] == stored["held"]
    assert document["status"] == stored["status"]


def test_two_connections_of_one_client_id_are_counted() -> None:
    shared = group(
        table(QUEUES),
        [member("x", QUEUES[:2]), member("x", QUEUES[:2]), member("y", QUEUES[2:])],
        expected=["x", "x", "y", "y"],
    )
    document = Watched().shown(0, shared)
    assert [m["connection"] for m in document["members"]] == [0, 1, 0]
