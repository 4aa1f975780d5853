import asyncio

import pytest

from rmqcore.broker import Broker
from rmqcore.model import MessageQueue
from rmqcore.protocol.bodies import (
    ConsumerStatus,
    decode_consumer_status,
    encode_consumer_status,
)
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode as Answer
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.message import decode_records

from .conftest import Connect
from .peer import Peer

Q0 = MessageQueue("T", "broker-a", 0)
INFO = {"consumerGroup": "g", "clientId": "me", "jstackEnable": False}


async def test_running_info_is_asked_of_the_client(
    peer: Peer, connected: Connect
) -> None:
    client = await connected()
    client.answerer = lambda command: command.response(
        0, "not set any response code", body=b"running"
    )
    await client.heartbeat("T")
    response = await peer.ok(Code.GET_CONSUMER_RUNNING_INFO, INFO)
    assert response.body == b"running"
    assert response.remark == "not set any response code"
    (asked,) = await client.asked_for(Code.GET_CONSUMER_RUNNING_INFO)
    assert asked.ext_fields == {
        "consumerGroup": "g",
        "clientId": "me",
        "jstackEnable": "false",
    }


@pytest.mark.parametrize("client_id", ["me", "stranger"])
async def test_a_client_that_is_not_there_is_1(
    peer: Peer, connected: Connect, client_id: str
) -> None:
    if client_id == "stranger":
        await (await connected()).heartbeat("T")
    fields = INFO | {"clientId": client_id}
    response = await peer.ask(Code.GET_CONSUMER_RUNNING_INFO, fields)
    assert response.code == Answer.SYSTEM_ERROR
    assert response.remark == f"The Consumer <g> <{client_id}> not online"


async def test_a_client_that_leaves_meanwhile_is_1(
    peer: Peer, connected: Connect
) -> None:
    client = await connected()
    client.answerer = lambda command: None
    await client.heartbeat("T")
    asking = asyncio.create_task(peer.ask(Code.GET_CONSUMER_RUNNING_INFO, INFO))
    await client.asked_for(Code.GET_CONSUMER_RUNNING_INFO)
    await client.close()
    response = await asking
    assert response.code == Answer.SYSTEM_ERROR
    assert "invoke consumer <g> <me> Exception" in (response.remark or "")


async def test_a_client_that_does_not_answer_is_207(
    peer: Peer, connected: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rmqcore.broker.processors.relays._RELAY_TIMEOUT_S", 0.01)
    client = await connected()
    client.answerer = lambda command: None
    await client.heartbeat("T")
    response = await peer.ask(Code.GET_CONSUMER_RUNNING_INFO, INFO)
    assert response.code == Answer.CONSUME_MSG_TIMEOUT
    assert "consumer <g> <me> Timeout" in (response.remark or "")


async def test_a_message_is_given_to_one_client(peer: Peer, connected: Connect) -> None:
    await peer.send(body=b"take this")
    (message,) = await peer.messages()
    client = await connected()
    client.answerer = lambda command: command.response(body=b"consumed")
    await client.heartbeat("T")
    fields = INFO | {"msgId": message.offset_msg_id, "topic": "T"}
    response = await peer.ok(Code.CONSUME_MESSAGE_DIRECTLY, fields)
    assert response.body == b"consumed"
    (asked,) = await client.asked_for(Code.CONSUME_MESSAGE_DIRECTLY)
    assert asked.ext_fields["brokerName"] == "broker-a"
    assert decode_records(asked.body, "broker-a") == [message]


@pytest.mark.parametrize(
    ("msg_id", "words"),
    [("", "is not 32 or 56"), ("7F00000100002A9F00000000000003E8", "offset 1000")],
)
async def test_a_message_that_is_not_there_is_1(
    peer: Peer, msg_id: str, words: str
) -> None:
    fields = INFO | {"msgId": msg_id}
    response = await peer.ask(Code.CONSUME_MESSAGE_DIRECTLY, fields)
    assert response.code == Answer.SYSTEM_ERROR
    assert words in (response.remark or "")


def status(offset: int) -> bytes:
    return encode_consumer_status(ConsumerStatus({Q0: offset}))


async def test_the_status_of_all_members_is_gathered(
    broker: Broker, peer: Peer, connected: Connect
) -> None:
    answers = {
        "a": lambda command: command.response(body=status(7)),
        "b": lambda command: command.response(body=status(9)),
        "broken": lambda command: command.response(body=b"{"),
        "refuses": lambda command: command.response(1),
        "empty": lambda command: command.response(),
    }
    for client_id, answerer in answers.items():
        client = await connected()
        client.answerer = answerer
        await client.heartbeat("T", client_id=client_id)
    code = Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
    fields = {"topic": "T", "group": "g"}
    response = await peer.ok(code, fields)
    found = decode_consumer_status(response.body).by_client
    assert found == {"a": {Q0: 7}, "b": {Q0: 9}}
    response = await peer.ok(code, fields | {"clientAddr": "b"})
    assert decode_consumer_status(response.body).by_client == {"b": {Q0: 9}}


async def test_the_status_of_nobody_is_1(peer: Peer) -> None:
    fields = {"topic": "T", "group": "g"}
    response = await peer.ask(Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, fields)
    assert response.code == Answer.SYSTEM_ERROR
    assert "No Any Consumer online" in (response.remark or "")


async def test_an_unknown_code_is_3(peer: Peer) -> None:
    response: RemotingCommand = await peer.ask(Code.POP_MESSAGE)
    assert response.code == Answer.REQUEST_CODE_NOT_SUPPORTED
    assert response.remark == " request type 200050 not supported"
