"""Snapshots of scripted brokers: who is a member, and what members report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rmqcore.model.columns import Reason
from rmqcore.model.queue import MessageQueue
from rmqcore.model.snapshot import (
    GroupKind,
    HeldQueue,
    OwnerSource,
    StrategySource,
)
from rmqcore.model.subscription import ConsumeType, MessageModel
from rmqcore.protocol.bodies import ProcessQueueInfo
from rmqcore.protocol.codes import RequestCode as Code

from .lab import Lab
from .scripted import (
    members_of,
    running_info,
)


async def test_members_their_mode_and_subscriptions(lab: Lab) -> None:
    await lab.broker(
        topics={"T": {0: (0, 1)}},
        groups={"G"},
        members={"G": members_of("b", "a", topics={"T": "red", "%RETRY%G": "*"})},
    )
    group = (await lab.take()).groups["G"]
    assert [member.client_id for member in group.members] == ["a", "b"]
    assert group.members[0].address == "10.0.0.1:1000"
    assert (group.members[0].language, group.members[0].version) == ("JAVA", "V5_5_0")
    assert (group.mode, group.consume_type) == (
        MessageModel.CLUSTERING,
        ConsumeType.PUSH,
    )
    assert [(s.topic, s.sub_string) for s in group.subscriptions] == [("T", "red")]
    assert (group.strategy, group.strategy_source) == ("AVG", StrategySource.ASSUMED)


async def test_a_client_of_several_brokers_is_one_member(lab: Lab) -> None:
    await lab.broker("broker-a", groups={"G"}, members={"G": members_of("a", "b")})
    await lab.broker("broker-b", groups={"G"}, members={"G": members_of("a")})
    members = (await lab.take()).groups["G"].members
    assert [(m.client_id, m.brokers) for m in members] == [
        ("a", ("broker-a", "broker-b")),
        ("b", ("broker-a",)),
    ]


async def test_two_processes_with_one_client_id_are_two_members(lab: Lab) -> None:
    for name in ("broker-a", "broker-b"):
        await lab.broker(name, groups={"G"}, members={"G": members_of("a", "a")})
    members = (await lab.take()).groups["G"].members
    assert [m.client_id for m in members] == ["a", "a"]
    assert {m.brokers for m in members} == {("broker-a", "broker-b")}


@pytest.mark.parametrize(
    ("connection", "kind"),
    [
        ({"consume_type": ConsumeType.POP}, GroupKind.SHARED_POP),
        ({"mode": MessageModel.BROADCASTING}, GroupKind.BROADCASTING),
        ({}, GroupKind.OWNED),
    ],
)
async def test_kinds_of_groups(
    lab: Lab, connection: dict[str, Any], kind: GroupKind
) -> None:
    await lab.broker(groups={"G"}, members={"G": members_of("a", **connection)})
    assert (await lab.take()).groups["G"].kind is kind


# Running info


async def test_members_report_what_they_hold(lab: Lab) -> None:
    await lab.broker(
        topics={"T": {0: (0, 1), 1: (0, 1)}},
        groups={"G"},
        members={"G": members_of("a", "b")},
        running={
            "a": running_info(("T", "broker-a", 1), in_hand=3),
            "b": running_info(("T", "broker-a", 0)),
        },
    )
    group = (await lab.take(running_info=True)).groups["G"]
    assert group.owners.by_row == (("b",), ("a",))
    assert set(group.owners.sources) == {OwnerSource.REPORTED}
    assert group.inferred.by_row == (("a",), ("b",))
    first = group.members[0]
    assert (first.strategy, first.in_hand, first.orderly) == ("AVG", 3, False)
    assert first.started_at_ms == 1_700_000_000_000
    assert first.answered_at_ms == lab.clock.time_ms()
    assert first.reason is None


async def test_members_that_take_by_pop_share_their_queues(lab: Lab) -> None:
    queue = MessageQueue("T", "broker-a", 0)
    takes = replace(running_info(), pop_queues={queue: {"waitAckCount": 0}})
    await lab.broker(
        topics={"T": {0: (0, 1)}},
        groups={"G"},
        members={"G": members_of("a", "b")},
        running={"a": takes, "b": takes},
    )
    group = (await lab.take(running_info=True)).groups["G"]
    assert group.kind is GroupKind.SHARED_POP
    assert group.owners.by_row == (("a", "b"),)
    assert group.inferred.reason is Reason.SHARED


async def test_queues_assigned_by_hand_are_rows_though_nothing_is_subscribed(
    lab: Lab,
) -> None:
    by_hand = replace(members_of("a", consume_type=ConsumeType.PULL), subscriptions={})
    await lab.broker(
        topics={"T": {0: (0, 1), 1: (0, 1)}},
        groups={"G"},
        members={"G": by_hand},
        running={"a": running_info(("T", "broker-a", 1))},
    )
    group = (await lab.take(running_info=True)).groups["G"]
    assert group.kind is GroupKind.ASSIGNED_BY_HAND
    assert group.owners.by_row == ((), ("a",))


async def test_a_member_that_does_not_answer_is_left_alone_for_a_while(
    lab: Lab,
) -> None:
    broker = await lab.broker(groups={"G"}, members={"G": members_of("a")}, running={})
    for _ in range(2):
        member = (await lab.take(running_info=True)).groups["G"].members[0]
        assert (member.strategy, member.reason) == (None, Reason.NO_ANSWER)
        assert member.asked_at_ms is not None
    assert len(broker.asked(Code.GET_CONSUMER_RUNNING_INFO)) == 1
    broker.contents.running["a"] = running_info()
    await lab.clock.advance(5)
    member = (await lab.take(running_info=True)).groups["G"].members[0]
    assert (member.strategy, member.reason) == ("AVG", None)


async def test_a_member_that_one_broker_cannot_reach_is_asked_through_another(
    lab: Lab,
) -> None:
    names = ("broker-a", "broker-b")
    brokers = [
        await lab.broker(name, groups={"G"}, members={"G": members_of("a")}, running={})
        for name in names
    ]
    await lab.take(running_info=True)
    (asked,) = (b for b in brokers if b.asked(Code.GET_CONSUMER_RUNNING_INFO))
    (other,) = (b for b in brokers if b is not asked)
    other.contents.running["a"] = running_info()
    for _ in range(2):
        await lab.clock.advance(5)
        member = (await lab.take(running_info=True)).groups["G"].members[0]
        assert (member.strategy, member.reason) == ("AVG", None)
    assert len(asked.asked(Code.GET_CONSUMER_RUNNING_INFO)) == 1


async def test_a_silent_member_is_asked_through_its_only_broker_again(
    lab: Lab,
) -> None:
    only = await lab.broker(
        "broker-a", groups={"G"}, members={"G": members_of("a")}, running={}
    )
    await lab.broker("broker-b", groups={"G"}, members={"G": members_of("b")})
    await lab.take(running_info=True)
    only.contents.running["a"] = running_info()
    await lab.clock.advance(5)
    members = (await lab.take(running_info=True)).groups["G"].members
    assert [m.strategy for m in members if m.client_id == "a"] == ["AVG"]


async def test_only_the_groups_named_are_asked(lab: Lab) -> None:
    broker = await lab.broker(
        groups={"G", "H"}, members={"G": members_of("a"), "H": members_of("b")}
    )
    await lab.take(running_info=["H"])
    asked = broker.asked(Code.GET_CONSUMER_RUNNING_INFO)
    assert [request.ext_fields["clientId"] for request in asked] == ["b"]
    assert asked[0].ext_fields["jstackEnable"] == "false"


async def test_members_are_asked_through_one_broker_each(lab: Lab) -> None:
    brokers = [
        await lab.broker(name, groups={"G"}, members={"G": members_of(*"abcd")})
        for name in ("broker-a", "broker-b")
    ]
    await lab.take(running_info=True)
    counts = [len(b.asked(Code.GET_CONSUMER_RUNNING_INFO)) for b in brokers]
    assert counts == [2, 2]


async def test_clients_of_the_grpc_protocol_share_their_queues(lab: Lab) -> None:
    ids = ("shop-7d4@1@0@2p0k1zv9", "shop-7d5@1@0@2p0k20ab")
    await lab.broker(
        topics={"T": {0: (0, 1)}}, groups={"G"}, members={"G": members_of(*ids)}
    )
    group = (await lab.take()).groups["G"]
    assert group.kind is GroupKind.SHARED_POP
    assert group.inferred.reason is Reason.SHARED


async def test_remoting_clients_are_not_taken_for_those(lab: Lab) -> None:
    ids = ("10.0.0.1@7#123456789", "10.0.0.2@billing@unit")
    await lab.broker(
        topics={"T": {0: (0, 1)}}, groups={"G"}, members={"G": members_of(*ids)}
    )
    assert (await lab.take()).groups["G"].kind is GroupKind.OWNED


async def test_a_pull_consumer_that_tells_no_queues_is_not_one_without(
    lab: Lab,
) -> None:
    silent = running_info()
    silent = replace(
        silent,
        properties={**silent.properties, "PROP_CONSUME_TYPE": "CONSUME_ACTIVELY"},
    )
    await lab.broker(
        topics={"T": {0: (0, 1)}},
        groups={"G"},
        members={"G": members_of("a", consume_type=ConsumeType.PULL)},
        running={"a": silent},
    )
    group = (await lab.take(running_info=True)).groups["G"]
    (member,) = group.members
    assert (member.queues, member.in_hand) == (None, None)
    assert (member.strategy, member.reason) == ("AVG", Reason.NOT_LISTED)
    assert group.owners.sources == (OwnerSource.INFERRED,)


async def test_members_say_how_far_they_are_with_each_queue(lab: Lab) -> None:
    info = running_info(("T", "broker-a", 0), ("T", "broker-a", 1))
    busy, calm = info.queues
    held = {
        busy: ProcessQueueInfo(
            commit_offset=7,
            cached_msg_count=2,
            cached_msg_min_offset=7,
            cached_msg_max_offset=9,
            locked=True,
            last_pull_timestamp=3,
        ),
        calm: ProcessQueueInfo(commit_offset=-1),
    }
    await lab.broker(
        topics={"T": {0: (0, 10), 1: (0, 10)}},
        groups={"G"},
        members={"G": members_of("a")},
        running={"a": replace(info, queues=held)},
    )
    (member,) = (await lab.take(running_info=True)).groups["G"].members
    assert member.held[("T", "broker-a", 0)] == HeldQueue(
        committed=7, cached=2, first=7, last=9, locked=True, last_pull_ms=3
    )
    assert member.held[("T", "broker-a", 1)] == HeldQueue()


async def test_the_dead_letters_of_a_group_asked_for_are_swept(lab: Lab) -> None:
    await lab.broker(
        topics={"T": {0: (0, 1)}, "%DLQ%G": {0: (0, 3)}, "%DLQ%H": {0: (0, 1)}},
        groups={"G", "H"},
        members={"G": members_of("a")},
    )
    snapshot = await lab.take(groups=["G"])
    assert "%DLQ%G" in snapshot.topics
    assert "%DLQ%H" not in snapshot.topics
