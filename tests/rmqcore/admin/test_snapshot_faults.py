"""Snapshots of scripted brokers: what is not known, and why."""

from __future__ import annotations

from typing import Any

import pytest

from rmqcore.admin import Admin
from rmqcore.admin.failures import answer_error
from rmqcore.errors import ConnectError, ResponseError
from rmqcore.model.columns import Reason
from rmqcore.model.route import BrokerData
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand
from tests.support.ports import free_port

from .lab import Lab, rows
from .scripted import (
    busy,
    denied,
    failed,
    garbage,
    silent,
)


@pytest.mark.parametrize(
    ("fault", "reason", "words"),
    [
        (busy, Reason.BUSY, "OVERLOAD"),
        (denied, Reason.DENIED, "signature is wrong"),
        (failed, Reason.REFUSED, "something broke"),
        (garbage, Reason.UNREADABLE, "body"),
        (silent, Reason.NO_ANSWER, "given up"),
    ],
)
async def test_a_faulty_broker_is_named_and_the_others_are_complete(
    lab: Lab, fault: Any, reason: Reason, words: str
) -> None:
    good = {"topics": {"T": {0: (0, 5)}}, "committed": {"T@G": {0: 2}}}
    await lab.broker("broker-a", **good)
    faulty = await lab.broker("broker-b", **good)
    faulty.fault_everywhere(fault)
    snapshot = await lab.take()
    healthy, ill = snapshot.brokers
    assert (healthy.answered, healthy.reason, healthy.error) == (True, None, None)
    assert (ill.answered, ill.reason) == (False, reason)
    assert words in (ill.error or "")
    assert not snapshot.complete
    assert rows(snapshot.groups["G"].queues, "lag") == [3]


async def test_queues_of_a_silent_broker_stay_with_the_reason(lab: Lab) -> None:
    good = {"topics": {"T": {0: (0, 5)}}, "committed": {"T@G": {0: 2}}}
    await lab.broker("broker-a", **good)
    other = await lab.broker("broker-b", groups={"alone"}, **good)
    before = await lab.take()
    other.fault_everywhere(silent)
    after = await lab.take(previous=before)
    group = after.groups["G"]
    assert group.queues.keys == before.groups["G"].queues.keys
    assert rows(group.queues, "max") == [5, Reason.NO_ANSWER]
    assert rows(group.queues, "committed") == [2, Reason.NO_ANSWER]
    assert "alone" in after.groups


async def test_a_broker_that_fails_is_left_alone_for_a_pause(lab: Lab) -> None:
    broker = await lab.broker(topics={"T": {0: (0, 1)}})
    broker.faults[Code.GET_ALL_TOPIC_CONFIG] = busy
    assert (await lab.take()).brokers[0].reason is Reason.BUSY
    asked = len(broker.requests)
    broker.faults.clear()
    left_alone = (await lab.take()).brokers[0]
    assert (left_alone.reason, len(broker.requests)) == (Reason.BUSY, asked)
    await lab.clock.advance(5)
    assert (await lab.take()).brokers[0].answered


async def test_a_refusal_does_not_keep_a_broker_from_being_asked(lab: Lab) -> None:
    broker = await lab.broker()
    broker.faults[Code.GET_ALL_TOPIC_CONFIG] = failed
    assert not (await lab.take()).brokers[0].answered
    broker.faults.clear()
    assert (await lab.take()).brokers[0].answered


async def test_one_faulty_answer_among_many_is_unknown_alone(lab: Lab) -> None:
    broker = await lab.broker(
        topics={"T": {0: (0, 5)}, "U": {0: (0, 5)}},
        committed={"T@G": {0: 1}, "U@G": {0: 1}},
    )
    broker.faults[Code.GET_TOPIC_STATS_INFO] = lambda request: (
        garbage(request)
        if request.ext_fields["topic"] == "U"
        else broker.answers[Code.GET_TOPIC_STATS_INFO](request)
    )
    snapshot = await lab.take()
    assert snapshot.complete
    queues = snapshot.groups["G"].queues
    assert rows(queues, "lag") == [4, Reason.UNREADABLE]


async def test_members_nobody_could_name_are_unknown_not_offline(lab: Lab) -> None:
    broker = await lab.broker(groups={"G"})
    broker.faults[Code.GET_CONSUMER_CONNECTION_LIST] = denied
    group = (await lab.take()).groups["G"]
    assert group.unknown["members"] is Reason.DENIED


async def test_a_dead_broker_is_named(lab: Lab) -> None:
    dead = f"127.0.0.1:{free_port()}"
    lab.nameserver.brokers.append(BrokerData("C", "broker-z", {0: dead}))
    (broker,) = (await lab.take()).brokers
    assert broker.reason is Reason.NO_ANSWER
    assert dead in (broker.error or "")


async def test_a_broker_without_an_address(lab: Lab) -> None:
    lab.nameserver.brokers.append(BrokerData("C", "broker-z", {}))
    (broker,) = (await lab.take()).brokers
    assert "no address" in (broker.error or "")


async def test_a_slave_answers_for_a_dead_master_and_is_stale(lab: Lab) -> None:
    slave = await lab.broker(topics={"T": {0: (0, 5)}})
    dead = f"127.0.0.1:{free_port()}"
    lab.nameserver.brokers[:] = [
        BrokerData("C", "broker-a", {0: dead, 1: slave.address})
    ]
    (broker,) = (await lab.take()).brokers
    assert (broker.answered, broker.stale) == (True, True)
    assert broker.asked_address == slave.address


# The name server


async def test_no_name_server_is_an_error_that_names_it() -> None:
    dead = f"127.0.0.1:{free_port()}"
    async with Admin(dead, timeout=0.2) as admin:
        with pytest.raises(ConnectError, match=dead):
            await admin.snapshot()


async def test_a_name_server_that_refuses_is_an_error(lab: Lab) -> None:
    lab.nameserver.faults[Code.GET_BROKER_CLUSTER_INFO] = failed
    with pytest.raises(ResponseError, match="something broke"):
        await lab.take()


def test_an_error_that_an_answer_stands_for_keeps_no_frame_alive() -> None:
    request = RemotingCommand.request(Code.GET_CONSUMER_RUNNING_INFO)
    answer = request.response(ResponseCode.SYSTEM_ERROR, "something broke")
    error = answer_error(answer, request_code=request.code, address="broker:10911")
    assert isinstance(error, ResponseError)
    assert error.__traceback__ is None
