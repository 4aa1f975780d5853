"""One snapshot after another: what is shared, remembered, and only read."""

from __future__ import annotations

from random import Random

import pytest

from rmqcore.model.topic import Perm, TopicConfig
from rmqcore.protocol.codes import RequestCode as Code

from .lab import Lab, rows
from .scripted import (
    members_of,
    running_info,
)


async def test_what_did_not_change_is_the_same_object(lab: Lab) -> None:
    broker = await lab.broker(
        topics={"T": {0: (0, 5)}, "U": {0: (0, 5)}},
        committed={"T@G": {0: 1}, "T@H": {0: 1}, "U@H": {0: 1}},
        groups={"I"},
        members={"I": members_of("a")},
    )
    before = await lab.take()
    same = await lab.take(previous=before)
    assert same.topics["T"] is before.topics["T"]
    for name in "GHI":
        assert same.groups[name] is before.groups[name]

    broker.contents.committed["U@H"][0] = 2
    after = await lab.take(previous=before)
    assert after.groups["G"] is before.groups["G"]
    changed = after.groups["H"].queues
    assert rows(changed, "committed") == [1, 2]
    assert changed.keys is before.groups["H"].queues.keys
    assert changed.max is before.groups["H"].queues.max


async def test_a_changed_broker_is_seen_though_listings_are_remembered(
    lab: Lab,
) -> None:
    broker = await lab.broker(topics={"T": {0: (0, 1)}}, groups={"G"}, pages=True)
    before = await lab.take()
    broker.contents.topics["U"] = {0: (0, 1)}
    broker.contents.groups.add("H")
    broker.contents.version += 1
    after = await lab.take(previous=before)
    assert (list(after.topics), list(after.groups)) == (["T", "U"], ["G", "H"])


@pytest.mark.parametrize("seed", range(8))
async def test_changes_of_any_kind_are_joined_as_if_nothing_was_known(
    lab: Lab, seed: int
) -> None:
    """See `conftest`: each snapshot is held against one that knows no members."""
    chance = Random(seed)
    broker = await lab.broker(
        topics={"T": {0: (0, 5)}, "U": {0: (0, 5)}},
        committed={"T@G": {0: 1}, "U@H": {0: 1}},
        groups={"G", "H"},
        members={"G": members_of("a"), "H": members_of("a", "b")},
    )
    last = None
    for _ in range(30):
        # Past the time in which a broker that has just appeared is not believed.
        await lab.clock.advance(chance.choice((5, 45)))
        group = chance.choice("GH")
        match chance.randrange(4):
            case 0:
                some = chance.sample("abcd", chance.randrange(1, 4))
                broker.contents.members[group] = members_of(*some)
            case 1:
                topic = broker.contents.topics[chance.choice("TU")]
                topic[len(topic)] = (0, 5)
                broker.contents.version += 1
            case 2:
                broker.contents.committed[f"{'TU'[group == 'H']}@{group}"][0] += 1
        last = await lab.take(previous=last)
        listed = broker.contents.members[group]
        assert {each.client_id for each in last.groups[group].members} == {
            each.client_id for each in listed.connections
        }


async def test_queues_that_cannot_be_read_are_not_divided(lab: Lab) -> None:
    await lab.broker(
        topics={"T": {0: (0, 1), 1: (0, 1)}},
        configs={"T": TopicConfig("T", 1, 2, Perm.READ | Perm.WRITE)},
        groups={"G"},
        members={"G": members_of("a")},
    )
    assert (await lab.take()).groups["G"].owners.by_row == (("a",), ())


async def test_reading_asks_nothing_that_writes(lab: Lab) -> None:
    broker = await lab.broker(
        topics={"T": {0: (0, 5)}},
        committed={"T@G": {0: 1}},
        groups={"G"},
        members={"G": members_of("a")},
        running={"a": running_info(("T", "broker-a", 0))},
    )
    await lab.take(running_info=True, time_lag=True, pulled=True)
    assert {request.code for request in broker.requests} == {
        Code.GET_ALL_TOPIC_CONFIG,
        Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
        Code.GET_ALL_CONSUMER_OFFSET,
        Code.GET_TOPIC_STATS_INFO,
        Code.GET_CONSUMER_CONNECTION_LIST,
        Code.GET_CONSUMER_RUNNING_INFO,
        Code.QUERY_CONSUME_TIME_SPAN,
        Code.GET_CONSUME_STATS,
    }
