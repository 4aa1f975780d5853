"""Snapshots while brokers, name servers or members are not named any more."""

from __future__ import annotations

from typing import Any

import pytest

from rmqcore.admin import Admin
from rmqcore.model.columns import Reason
from rmqcore.model.snapshot import ClusterSnapshot, GroupKind
from rmqcore.model.topic import TopicConfig
from rmqcore.protocol.codes import RequestCode as Code

from .lab import PATIENT, Lab, rows
from .scripted import (
    ScriptedBroker,
    ScriptedNameServer,
    denied,
    garbage,
    members_of,
    silent,
)

GOOD: dict[str, Any] = {
    "topics": {"T": {0: (0, 5)}},
    "groups": {"G"},
    "committed": {"T@G": {0: 2}},
    "members": {"G": members_of("x", "y")},
}


async def two_brokers(lab: Lab) -> tuple[ScriptedBroker, ScriptedBroker]:
    return await lab.broker("broker-a", **GOOD), await lab.broker("broker-b", **GOOD)


def unname(lab: Lab, name: str) -> None:
    lab.nameserver.brokers[:] = [
        broker for broker in lab.nameserver.brokers if broker.broker_name != name
    ]


def ids(snapshot: ClusterSnapshot) -> list[tuple[str, int | None]]:
    members = snapshot.groups["G"].members
    return [(member.client_id, member.missing_since_ms) for member in members]


# Brokers


@pytest.mark.parametrize("groups", [None, ["G"]])
async def test_a_broker_that_is_not_named_any_more_is_missing(
    lab: Lab, groups: list[str] | None
) -> None:
    first, _second = await two_brokers(lab)
    before = await lab.take()
    unname(lab, "broker-a")
    first.fault_everywhere(silent)
    since = lab.clock.time_ms()
    for _ in range(2):
        after = await lab.take(groups=groups)
        await lab.clock.advance(3)
        missing, healthy = after.brokers
        assert (missing.name, missing.answered) == ("broker-a", False)
        assert (missing.missing_since_ms, missing.reason) == (since, Reason.MISSING)
        assert (healthy.whole, after.complete) == (True, False)
        group = after.groups["G"]
        assert group.queues.keys == before.groups["G"].queues.keys
        assert rows(group.queues, "max") == [Reason.MISSING, 5]
        assert rows(group.queues, "committed") == [Reason.MISSING, 2]
        assert rows(group.queues, "lag") == [Reason.MISSING, 3]
        assert group.owners.by_row == (("x",), ("y",))


async def test_a_missing_broker_that_answers_is_believed_and_still_missing(
    lab: Lab,
) -> None:
    await two_brokers(lab)
    await lab.take()
    unname(lab, "broker-a")
    after = await lab.take()
    missing = after.brokers[0]
    assert (missing.answered, missing.whole, after.complete) == (True, False, False)
    assert rows(after.groups["G"].queues, "lag") == [3, 3]


async def test_a_broker_that_is_named_again_is_as_before(lab: Lab) -> None:
    await two_brokers(lab)
    before = await lab.take()
    named = list(lab.nameserver.brokers)
    unname(lab, "broker-a")
    assert not (await lab.take()).complete
    lab.nameserver.brokers[:] = named
    after = await lab.take(previous=before)
    assert after.complete
    assert after.groups["G"] is before.groups["G"]


async def test_a_name_server_that_forgot_everything_takes_no_broker_away(
    lab: Lab,
) -> None:
    await two_brokers(lab)
    await lab.take()
    lab.nameserver.brokers.clear()
    after = await lab.take()
    assert [broker.name for broker in after.brokers] == ["broker-a", "broker-b"]
    assert len(after.groups["G"].queues) == 2


async def test_a_broker_that_is_said_to_be_gone_is_gone_with_its_queues(
    lab: Lab,
) -> None:
    await two_brokers(lab)
    await lab.take()
    assert not lab.admin.forget_broker("broker-a")
    unname(lab, "broker-a")
    await lab.take()
    assert lab.admin.forget_broker("broker-a")
    after = await lab.take()
    assert [broker.name for broker in after.brokers] == ["broker-b"]
    assert after.groups["G"].queues.keys == (("T", "broker-b", 0),)
    assert after.complete


async def test_queues_are_given_up_when_nobody_named_their_broker_for_long(
    lab: Lab,
) -> None:
    await two_brokers(lab)
    await lab.take()
    unname(lab, "broker-a")
    assert (await lab.take()).groups["G"].owners.by_row == (("x",), ("y",))
    await lab.clock.advance(121)
    assert (await lab.take()).groups["G"].owners.by_row == ((), ("x",))


async def test_a_broker_that_another_client_knew_is_missing_not_unheard_of(
    lab: Lab,
) -> None:
    first, _second = await two_brokers(lab)
    await lab.take()
    first.fault_everywhere(silent)
    unname(lab, "broker-a")
    await lab.take()
    known = lab.admin.known_brokers()
    assert [broker.name for broker in known] == ["broker-a", "broker-b"]
    async with Admin(
        lab.nameserver.address, patience=PATIENT, clock=lab.clock
    ) as successor:
        for broker in known:
            successor.remember_broker(broker)
        snapshot = await successor.snapshot()
    missing = snapshot.brokers[0]
    assert missing.missing_since_ms == known[0].missing_since_ms
    queues = snapshot.groups["G"].queues
    assert rows(queues, "max") == [Reason.MISSING, 5]


async def test_a_queue_that_only_a_missing_broker_held_offsets_of_stays(
    lab: Lab,
) -> None:
    first = await lab.broker(
        "broker-a",
        topics={"T": {0: (0, 5)}},
        committed={"T@G": {0: 2, 7: 1}, "gone@G": {3: 1}},
    )
    await lab.broker("broker-b", **GOOD)
    before = await lab.take()
    first.fault_everywhere(silent)
    after = await lab.take()
    assert after.groups["G"].queues.keys == before.groups["G"].queues.keys


async def test_queues_that_a_listing_lacked_stay_while_their_broker_is_silent(
    lab: Lab,
) -> None:
    first = await lab.broker(
        "broker-a",
        topics={"T": {0: (0, 5), 1: (0, 5)}},
        configs={"T": TopicConfig("T", 1, 1)},
        committed={"T@G": {0: 2}},
    )
    await lab.broker("broker-b", **GOOD)
    before = await lab.take()
    first.fault_everywhere(silent)
    after = await lab.take()
    assert ("T", "broker-a", 1) in before.groups["G"].queues.keys
    assert after.groups["G"].queues.keys == before.groups["G"].queues.keys


# Facts


async def test_a_broker_that_refuses_one_listing_is_asked_for_the_others(
    lab: Lab,
) -> None:
    broker = await lab.broker("broker-a", **GOOD)
    await lab.take()
    broker.faults[Code.GET_ALL_CONSUMER_OFFSET] = denied
    after = await lab.take()
    assert list(after.brokers[0].faults) == ["offsets"]
    assert (after.brokers[0].answered, after.complete) == (False, False)
    queues = after.groups["G"].queues
    assert rows(queues, "max") == [5]
    assert rows(queues, "committed") == [Reason.DENIED]
    assert ids(after) == [("x", None), ("y", None)]


async def test_offsets_are_known_where_the_topics_cannot_be_read(lab: Lab) -> None:
    broker = await lab.broker("broker-a", **GOOD)
    await lab.take()
    broker.faults[Code.GET_ALL_TOPIC_CONFIG] = garbage
    after = await lab.take()
    assert list(after.brokers[0].faults) == ["topics"]
    queues = after.groups["G"].queues
    assert queues.keys == (("T", "broker-a", 0),)
    assert rows(queues, "committed") == [2]


async def test_members_are_not_offline_where_groups_were_refused(lab: Lab) -> None:
    broker = await lab.broker("broker-a", **(GOOD | {"committed": {}}))
    await lab.take()
    broker.faults[Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG] = denied
    after = await lab.take()
    assert after.groups["G"].kind is GroupKind.OWNED
    assert [client for client, _since in ids(after)] == ["x", "y"]


# Name servers


async def test_a_broker_is_there_while_one_name_server_names_it(lab: Lab) -> None:
    await two_brokers(lab)
    async with ScriptedNameServer(*lab.nameserver.brokers[1:]) as other:
        both = [other.address, lab.nameserver.address]
        async with Admin(both, patience=PATIENT, clock=lab.clock) as admin:
            snapshot = await admin.snapshot()
            assert snapshot.complete
            assert [each.brokers for each in snapshot.nameservers] == [
                ("broker-b",),
                ("broker-a", "broker-b"),
            ]
            # Whoever named it is silent: nobody has said that it is gone.
            lab.nameserver.fault_everywhere(silent)
            snapshot = await admin.snapshot()
            assert [broker.missing_since_ms for broker in snapshot.brokers] == [
                None
            ] * 2
            assert [each.answered for each in snapshot.nameservers] == [True, False]
            # Now it has.
            lab.nameserver.faults.clear()
            unname(lab, "broker-a")
            await lab.clock.advance(5)
            snapshot = await admin.snapshot()
            assert snapshot.brokers[0].missing_since_ms is not None


async def test_looks_go_on_while_no_name_server_answers(lab: Lab) -> None:
    broker, _other = await two_brokers(lab)
    await lab.take()
    lab.nameserver.fault_everywhere(silent)
    broker.contents.topics["T"][0] = (0, 9)
    for _ in range(2):
        snapshot = await lab.take()
        assert snapshot.nameserver is None
        (nameserver,) = snapshot.nameservers
        assert (nameserver.answered, nameserver.brokers) == (False, ())
        assert snapshot.complete
        assert rows(snapshot.groups["G"].queues, "lag") == [7, 3]
    # The second time it was left alone.
    assert len(lab.nameserver.asked(Code.GET_BROKER_CLUSTER_INFO)) == 2
    lab.nameserver.faults.clear()
    await lab.clock.advance(2)
    assert (await lab.take()).nameserver == lab.nameserver.address


# Members


async def test_members_of_a_silent_broker_are_missing_not_gone(lab_of_one: Lab) -> None:
    lab = lab_of_one
    broker = await lab.broker("broker-a", **GOOD)
    before = await lab.take()
    broker.fault_everywhere(silent)
    await lab.clock.advance(1)
    since = lab.clock.time_ms()
    await lab.take()
    await lab.clock.advance(10)
    after = await lab.take(groups=["G"])
    assert ids(after) == [("x", since), ("y", since)]
    group = after.groups["G"]
    assert group.mode is before.groups["G"].mode
    assert group.kind is GroupKind.OWNED
    assert {member.reason for member in group.members} == {Reason.MISSING}


async def test_a_broker_that_can_be_heard_says_who_has_left(lab: Lab) -> None:
    first, second = await two_brokers(lab)
    await lab.take()
    first.fault_everywhere(silent)
    assert ids(await lab.take()) == [("x", None), ("y", None)]
    second.contents.members["G"] = members_of("x")
    for _ in range(2):
        assert ids(await lab.take()) == [("x", None)]
    del second.contents.members["G"]
    assert ids(await lab.take()) == []


async def test_a_restarted_broker_is_given_time_to_meet_its_members(lab: Lab) -> None:
    broker = await lab.broker("broker-a", **GOOD)
    await lab.take()
    address = broker.address
    await broker.stop()
    await lab.clock.advance(1)
    since = lab.clock.time_ms()
    assert ids(await lab.take()) == [("x", since), ("y", since)]
    # It is back, and one of the two has connected again.
    again = await lab.restarted(broker, address)
    again.contents.members["G"] = members_of("y")
    await lab.clock.advance(5)
    assert ids(await lab.take()) == [("x", since), ("y", None)]
    await lab.clock.advance(20)
    assert ids(await lab.take()) == [("x", since), ("y", None)]
    await lab.clock.advance(21)
    assert ids(await lab.take()) == [("y", None)]


async def test_members_that_met_a_restarted_broker_and_left_it_have_gone(
    lab: Lab,
) -> None:
    broker = await lab.broker("broker-a", **GOOD)
    await lab.take()
    address = broker.address
    await broker.stop()
    await lab.clock.advance(1)
    since = lab.clock.time_ms()
    await lab.take()
    again = await lab.restarted(broker, address)
    again.contents.members["G"] = members_of("y")
    await lab.clock.advance(5)
    assert ids(await lab.take()) == [("x", since), ("y", None)]
    # It has connected since the restart, so the broker knows that it left.
    again.contents.members["G"] = members_of("z")
    assert ids(await lab.take()) == [("x", since), ("z", None)]
    # A broker that cannot be heard knows nothing of anybody.
    again.fault_everywhere(silent)
    await lab.clock.advance(1)
    silent_ms = lab.clock.time_ms()
    assert {client for client, _ in ids(await lab.take())} == {"x", "z"}
    assert silent_ms > since


async def test_a_member_that_said_that_it_leaves_is_not_missed(lab: Lab) -> None:
    broker = await lab.broker("broker-a", **GOOD)
    await lab.take()
    address = broker.address
    await broker.stop()
    lab.admin.member_left("G", "x")
    await lab.clock.advance(1)
    since = lab.clock.time_ms()
    assert ids(await lab.take()) == [("y", since)]
    again = await lab.restarted(broker, address)
    again.contents.members["G"] = members_of("y")
    await lab.clock.advance(5)
    assert ids(await lab.take()) == [("y", None)]


async def test_of_two_connections_with_one_client_id_one_may_leave(lab: Lab) -> None:
    broker = await lab.broker("broker-a", **GOOD)
    broker.contents.members["G"] = members_of("x", "x")
    await lab.take()
    address = broker.address
    await broker.stop()
    lab.admin.member_left("G", "x")
    await lab.clock.advance(1)
    since = lab.clock.time_ms()
    assert ids(await lab.take()) == [("x", since)]
    # One has connected again and left: the other may still be about to connect.
    lab.admin.member_there("G", "x")
    again = await lab.restarted(broker, address)
    again.contents.members["G"] = members_of("x")
    await lab.clock.advance(5)
    assert ids(await lab.take()) == [("x", None)]
    again.contents.members["G"] = members_of("y")
    assert ids(await lab.take()) == [("x", since), ("y", None)]
    again.contents.members["G"] = members_of("x", "x", "y")
    assert ids(await lab.take()) == [("x", None), ("x", None), ("y", None)]
    again.contents.members["G"] = members_of("y")
    assert ids(await lab.take()) == [("y", None)]


async def test_a_member_that_left_and_came_back_is_missed_again(lab: Lab) -> None:
    broker = await lab.broker("broker-a", **GOOD)
    await lab.take()
    lab.admin.member_left("G", "x")
    # As long as a broker lists it, it is there.
    assert ids(await lab.take()) == [("x", None), ("y", None)]
    lab.admin.member_there("G", "x")
    await broker.stop()
    await lab.clock.advance(1)
    since = lab.clock.time_ms()
    assert ids(await lab.take()) == [("x", since), ("y", since)]


async def test_members_that_leave_a_broker_that_was_only_slow_have_left(
    lab_of_one: Lab,
) -> None:
    lab = lab_of_one
    broker = await lab.broker("broker-a", **GOOD)
    await lab.take()
    broker.faults[Code.GET_ALL_CONSUMER_OFFSET] = silent
    await lab.take()
    broker.faults.clear()
    broker.contents.members["G"] = members_of("y")
    await lab.clock.advance(5)
    assert ids(await lab.take()) == [("y", None)]
