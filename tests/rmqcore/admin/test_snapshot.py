"""Snapshots of scripted brokers: topics, groups, offsets, lag."""

from __future__ import annotations

import pytest

from rmqcore.model import MessageModel
from rmqcore.model.columns import Reason
from rmqcore.model.snapshot import (
    GroupKind,
)
from rmqcore.protocol.codes import RequestCode as Code

from .lab import Lab, rows
from .scripted import (
    members_of,
)


async def test_topics_groups_and_lag(lab: Lab) -> None:
    await lab.broker(
        topics={"T": {0: (0, 10), 1: (5, 20)}},
        groups={"G"},
        committed={"T@G": {0: 4, 1: 20}},
    )
    snapshot = await lab.take()
    assert snapshot.complete
    assert list(snapshot.topics) == ["T"]
    assert snapshot.topics["T"].keys == (("T", "broker-a", 0), ("T", "broker-a", 1))
    queues = snapshot.groups["G"].queues
    assert rows(queues, "min") == [0, 5]
    assert rows(queues, "committed") == [4, 20]
    assert rows(queues, "lag") == [6, 0]
    assert rows(queues, "pulled") == rows(queues, "lag_ms") == [Reason.NOT_ASKED] * 2


async def test_an_offline_group_has_no_members_and_says_why(lab: Lab) -> None:
    await lab.broker(groups={"G"})
    group = (await lab.take()).groups["G"]
    assert (group.kind, group.members, group.mode) == (GroupKind.OFFLINE, (), None)
    assert group.unknown["mode"] is Reason.OFFLINE
    assert len(group.queues) == 0


async def test_brokers_are_joined_in_the_order_of_their_names(lab: Lab) -> None:
    await lab.broker("broker-b", topics={"T": {0: (0, 2)}}, committed={"T@G": {0: 1}})
    await lab.broker("broker-a", topics={"T": {0: (0, 9)}}, committed={"T@G": {0: 3}})
    snapshot = await lab.take()
    assert [broker.name for broker in snapshot.brokers] == ["broker-a", "broker-b"]
    queues = snapshot.groups["G"].queues
    assert queues.keys == (("T", "broker-a", 0), ("T", "broker-b", 0))
    assert rows(queues, "lag") == [6, 1]


async def test_topics_of_a_group_are_in_order_and_its_retry_topic_apart(
    lab: Lab,
) -> None:
    await lab.broker(
        topics={"U": {0: (0, 3)}, "T": {0: (0, 5)}, "%RETRY%G": {0: (0, 2)}},
        committed={"U@G": {0: 1}, "T@G": {0: 1}, "%RETRY%G@G": {0: 0}},
    )
    group = (await lab.take()).groups["G"]
    assert [key[0] for key in group.queues.keys] == ["T", "U"]
    assert rows(group.retry, "lag") == [2]


async def test_which_groups_there_are(lab: Lab) -> None:
    await lab.broker(
        topics={"%RETRY%by-retry": {0: (0, 0)}},
        groups={"listed", "TOOLS_CONSUMER", "CID_RMQ_SYS_TRANS"},
        committed={"T@by-offset": {0: 1}},
    )
    assert list((await lab.take()).groups) == ["by-offset", "by-retry", "listed"]


async def test_offsets_kept_of_broadcasting_members_are_no_group(lab: Lab) -> None:
    """As brokers of 5.1 and later do, also after the members have gone."""
    broker = await lab.broker(
        topics={"T": {0: (0, 9)}},
        committed={"T@caster@broadcast": {0: 5}, "T@gone@broadcast": {0: 2}},
        groups={"caster"},
        members={"caster": members_of("a", mode=MessageModel.BROADCASTING)},
    )
    assert list((await lab.take()).groups) == ["caster"]
    assert not [
        request
        for request in broker.asked(Code.GET_CONSUMER_CONNECTION_LIST)
        if request.ext_fields["consumerGroup"] != "caster"
    ]


async def test_system_topics_are_shown_only_where_somebody_consumes_them(
    lab: Lab,
) -> None:
    broker = await lab.broker(
        topics={"RMQ_SYS_TRACE_TOPIC": {0: (0, 8)}, "TBW102": {0: (0, 0)}},
        committed={"RMQ_SYS_TRACE_TOPIC@G": {0: 3}},
    )
    snapshot = await lab.take()
    assert list(snapshot.topics) == ["RMQ_SYS_TRACE_TOPIC"]
    assert rows(snapshot.groups["G"].queues, "lag") == [5]
    broker.contents.committed.clear()
    assert list((await lab.take()).topics) == []


async def test_queues_never_committed_and_no_longer_listed(lab: Lab) -> None:
    await lab.broker(
        topics={"T": {0: (0, 5), 1: (0, 5)}},
        committed={"T@G": {1: 2, 7: 3}, "gone@G": {0: 4}},
    )
    queues = (await lab.take()).groups["G"].queues
    assert [key[::2] for key in queues.keys] == [
        ("T", 0),
        ("T", 1),
        ("T", 7),
        ("gone", 0),
    ]
    assert rows(queues, "committed") == [Reason.NOTHING_COMMITTED, 2, 3, 4]
    unlisted = Reason.NOT_LISTED
    assert rows(queues, "max") == [5, 5, unlisted, unlisted]
    assert rows(queues, "lag") == [Reason.NOTHING_COMMITTED, 3, unlisted, unlisted]


async def test_an_offset_ahead_of_the_queue_is_no_negative_lag(lab: Lab) -> None:
    await lab.broker(
        topics={"T": {0: (0, 5), 1: (0, 9)}}, committed={"T@G": {0: 6, 1: 8}}
    )
    assert rows((await lab.take()).groups["G"].queues, "lag") == [0, 1]


async def test_a_subscribed_topic_without_offsets_has_rows(lab: Lab) -> None:
    await lab.broker(
        topics={"T": {0: (0, 5)}}, groups={"G"}, members={"G": members_of("a")}
    )
    group = (await lab.take()).groups["G"]
    assert rows(group.queues, "committed") == [Reason.NOTHING_COMMITTED]
    assert group.owners.by_row == (("a",),)


# One group


async def test_one_group_asks_for_its_own_topics_only(lab: Lab) -> None:
    broker = await lab.broker(
        topics={"T": {0: (0, 1)}, "U": {0: (0, 1)}},
        groups={"G", "H"},
        committed={"T@G": {0: 0}, "U@H": {0: 0}},
        members={"G": members_of("a")},
    )
    snapshot = await lab.take(groups=["G"])
    assert (list(snapshot.groups), list(snapshot.topics)) == (["G"], ["T"])
    asked = [r.ext_fields["topic"] for r in broker.asked(Code.GET_TOPIC_STATS_INFO)]
    assert asked == ["T"]
    assert len(broker.asked(Code.GET_CONSUMER_CONNECTION_LIST)) == 1


async def test_a_group_that_nobody_knows_is_not_there(lab: Lab) -> None:
    await lab.broker(groups={"G"})
    assert (await lab.take(groups=["H"])).groups == {}


# Lag in time, and what was pulled


async def test_age_of_the_first_unconsumed_message(lab: Lab) -> None:
    broker = await lab.broker(
        topics={"T": dict.fromkeys(range(6), (5, 20))},
        committed={"T@G": {0: 20, 1: 10, 2: 3, 4: 10, 5: 10}},
        delays={("G", "T"): {0: 0, 1: 1500, 2: 99, 3: 99, 4: 1_700_000_000_001}},
    )
    queues = (await lab.take(time_lag=True)).groups["G"].queues
    assert rows(queues, "lag_ms") == [
        0,
        1500,
        Reason.EXPIRED,
        Reason.NOTHING_COMMITTED,
        Reason.EXPIRED,
        Reason.NOT_LISTED,
    ]
    assert len(broker.asked(Code.QUERY_CONSUME_TIME_SPAN)) == 1


async def test_where_nothing_lags_no_age_is_asked(lab: Lab) -> None:
    broker = await lab.broker(topics={"T": {0: (0, 5)}}, committed={"T@G": {0: 5}})
    queues = (await lab.take(time_lag=True)).groups["G"].queues
    assert rows(queues, "lag_ms") == [0]
    assert broker.asked(Code.QUERY_CONSUME_TIME_SPAN) == []


async def test_ages_are_asked_for_alone(lab: Lab) -> None:
    broker = await lab.broker(
        topics={"T": dict.fromkeys(range(3), (0, 20))},
        committed={"T@G": {0: 20, 1: 10, 2: 3}},
        delays={("G", "T"): {0: 0, 1: 1500, 2: 1_700_000_000_001}},
    )
    wanted = {"broker-a": [("G", "T"), ("G", "not there")], "not known": [("G", "T")]}
    assert await lab.admin.oldest_ages(wanted) == {}, "no snapshot has shown a broker"
    await lab.take()
    ages = await lab.admin.oldest_ages(wanted)
    # The first message that is not consumed of the last queue is gone.
    assert ages == {"G": {("T", "broker-a", 0): 0, ("T", "broker-a", 1): 1500}}
    assert len(broker.asked(Code.QUERY_CONSUME_TIME_SPAN)) == 2


@pytest.mark.parametrize("body", [b"{", b'{"consumeTimeSpanSet":7}'])
async def test_a_broker_that_tells_no_ages_costs_nothing_else(
    lab: Lab, body: bytes
) -> None:
    broker = await lab.broker(topics={"T": {0: (0, 20)}}, committed={"T@G": {0: 3}})
    broker.answers[Code.QUERY_CONSUME_TIME_SPAN] = lambda request: request.response(
        body=body
    )
    await lab.take()
    assert await lab.admin.oldest_ages({"broker-a": [("G", "T")]}) == {}
    await broker.stop()
    assert await lab.admin.oldest_ages({"broker-a": [("G", "T")]}) == {}


async def test_pulled_offsets_of_a_broker_that_counts_them_elsewhere(lab: Lab) -> None:
    await lab.broker(
        topics={"T": {0: (0, 9), 1: (0, 9)}},
        committed={"T@G": {0: 1, 1: 1}},
        pulled={"G": {("T", 0): 7, ("T", 1): 0}},
    )
    queues = (await lab.take(pulled=True)).groups["G"].queues
    assert rows(queues, "pulled") == [7, Reason.NOT_LISTED]


async def test_pulled_offsets_of_a_broker_that_has_them_in_the_table(lab: Lab) -> None:
    broker = await lab.broker(topics={"T": {0: (0, 9), 1: (0, 9)}})
    broker.answers[Code.GET_ALL_CONSUMER_OFFSET] = lambda request: request.response(
        body=b'{"offsetTable":{"T@G":{0:1,1:1}},"pullOffsetTable":{"T@G":{0:7}}}'
    )
    queues = (await lab.take(pulled=True)).groups["G"].queues
    assert rows(queues, "pulled") == [7, Reason.NOT_LISTED]
    assert broker.asked(Code.GET_CONSUME_STATS) == []
