"""What a send request holds: the header that the general encoder would write."""

from __future__ import annotations

import pytest

from rmqcore.client.instance.calls import BrokerCalls
from rmqcore.client.producer.sending import (
    Sender,
    SendStatus,
    read_send_response,
)
from rmqcore.errors import BusyError, HeaderError, ResponseError
from rmqcore.model import Message, MessageQueue
from rmqcore.model.message import Property
from rmqcore.protocol.batch import BatchItem, decode_batch
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.compression import COMPRESSED_FLAG
from rmqcore.protocol.headers import (
    SendMessageRequestHeader,
    decode_header,
    encode_header,
)
from rmqcore.protocol.properties import decode_properties
from rmqcore.transport import ChannelPool

Q1 = MessageQueue("T", "broker-a", 1)
NOW = 1_700_000_000_000


@pytest.fixture
def sender() -> Sender:
    return Sender(BrokerCalls(ChannelPool()), "P")


def header_of(command: RemotingCommand) -> SendMessageRequestHeader:
    return decode_header(SendMessageRequestHeader, command.ext_fields)


def test_the_header_is_what_the_general_encoder_writes(sender: Sender) -> None:
    command, unique = sender.send_command(
        Message("T", b"x", flag=7), Q1, NOW, oneway=False
    )
    header = SendMessageRequestHeader(
        producer_group="P",
        topic="T",
        default_topic="TBW102",
        default_topic_queue_nums=4,
        queue_id=1,
        sys_flag=0,
        born_timestamp=NOW,
        flag=7,
        properties=f"WAIT\x01true\x02UNIQ_KEY\x01{unique}\x02",
        reconsume_times=0,
        unit_mode=False,
        batch=False,
        logical_broker="broker-a",
    )
    assert command.code == RequestCode.SEND_MESSAGE_V2
    assert command.ext_fields == encode_header(header, short_names=True)


def test_a_batch_says_that_it_is_one(sender: Sender) -> None:
    command, ids = sender.batch_command([Message("T", b"x")] * 2, Q1, NOW)
    header = header_of(command)
    assert command.code == RequestCode.SEND_BATCH_MESSAGE
    assert (header.batch, header.queue_id, header.flag) == (True, 1, 0)
    assert len(set(ids.split(","))) == 2


def test_each_message_of_a_batch_has_its_own_properties(sender: Sender) -> None:
    messages = [
        Message("T", b"a", {"A": "1"}),
        Message("T", b"b", {"A": "1"}, flag=7),
        Message("T", b"c", {"WAIT": "false", "UNIQ_KEY": "mine"}),
        Message("T", b"d", {"WAIT": "false", "UNIQ_KEY": "mine"}),
        Message("T", b"e"),
    ]
    command, joined = sender.batch_command(messages, Q1, NOW)
    ids = joined.split(",")
    assert ids[2:4] == ["mine", "mine"]
    assert len(set(ids)) == 4
    expected = [
        BatchItem(message.flag, message.body, properties)
        for message, properties in zip(
            messages,
            (
                {"WAIT": "true", "A": "1", "UNIQ_KEY": ids[0]},
                {"WAIT": "true", "A": "1", "UNIQ_KEY": ids[1]},
                {"WAIT": "false", "UNIQ_KEY": "mine"},
                {"WAIT": "false", "UNIQ_KEY": "mine"},
                {"WAIT": "true", "UNIQ_KEY": ids[4]},
            ),
            strict=True,
        )
    ]
    assert decode_batch(command.body) == expected


def test_attempts_of_a_retry_travel_in_the_header(sender: Sender) -> None:
    attempts = {Property.RECONSUME_TIME: "3", Property.MAX_RECONSUME_TIMES: "16"}
    command, _ = sender.send_command(
        Message("%RETRY%G", b"x", attempts), Q1, NOW, oneway=False
    )
    header = header_of(command)
    assert (header.reconsume_times, header.max_reconsume_times) == (3, 16)
    assert Property.RECONSUME_TIME not in decode_properties(header.properties or "")


def test_a_retry_without_limit_leaves_it_to_the_broker(sender: Sender) -> None:
    command, _ = sender.send_command(Message("%RETRY%G", b"x"), Q1, NOW, oneway=False)
    header = header_of(command)
    assert (header.reconsume_times, header.max_reconsume_times) == (0, None)


def test_bodies_over_four_kib_are_compressed(sender: Sender) -> None:
    small, _ = sender.send_command(Message("T", b"x" * 4096), Q1, NOW, oneway=False)
    large, _ = sender.send_command(Message("T", b"x" * 4097), Q1, NOW, oneway=False)
    assert header_of(small).sys_flag == 0
    assert len(small.body) == 4096
    assert header_of(large).sys_flag & COMPRESSED_FLAG
    assert len(large.body) < 100


def test_a_oneway_request_is_marked(sender: Sender) -> None:
    command, _ = sender.send_command(Message("T", b"x"), Q1, NOW, oneway=True)
    assert command.is_oneway


def answer(code: int, **fields: str) -> RemotingCommand:
    return RemotingCommand.request(310).response(code, "remark", fields)


def read(response: RemotingCommand) -> object:
    return read_send_response(
        response, request_code=310, address="a:1", queue=Q1, unique="U"
    )


@pytest.mark.parametrize("status", list(SendStatus))
def test_every_stored_message_is_a_success(status: SendStatus) -> None:
    response = answer(status.value, msgId="M", queueId="3", queueOffset="9")
    result = read_send_response(
        response, request_code=310, address="a:1", queue=Q1, unique="U"
    )
    assert result.status is status
    assert result.queue == MessageQueue("T", "broker-a", 3)
    assert (result.msg_id, result.offset_msg_id, result.queue_offset) == ("U", "M", 9)


def test_an_answer_without_its_fields_names_the_one_missing() -> None:
    with pytest.raises(HeaderError, match="queueOffset"):
        read(answer(0, msgId="M", queueId="3"))
    with pytest.raises(HeaderError, match="queueId is 'three'"):
        read(answer(0, msgId="M", queueId="three", queueOffset="9"))


def test_refusals_are_raised() -> None:
    with pytest.raises(ResponseError, match="code 13"):
        read(answer(13))
    with pytest.raises(BusyError):
        read(answer(2))
