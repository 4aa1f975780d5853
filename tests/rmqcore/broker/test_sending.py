import struct
from pathlib import Path

import pytest

from rmqcore.broker import Broker, BrokerSettings
from rmqcore.model import MessageQueue, SubscriptionGroupConfig, TopicConfig
from rmqcore.protocol.bodies import LockBatchRequest, encode_lock_request
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode as Answer
from rmqcore.protocol.ids import decode_offset_msg_id

from .peer import Peer, batch


async def test_a_message_is_stored_as_it_was_sent(broker: Broker, peer: Peer) -> None:
    fields = {"f": 2, "h": 7, "j": 2, "g": 1_699_999_999_999}
    await peer.send("T", b"first", 1, TAGS="TagA", KEYS="k1 k2", a="1", fields=fields)
    (message,) = await peer.messages("T", 1)
    assert (message.topic, message.queue_id, message.body) == ("T", 1, b"first")
    assert (message.tags, message.keys) == ("TagA", ("k1", "k2"))
    assert (message.sys_flag, message.flag, message.reconsume_times) == (2, 7, 2)
    assert message.born_timestamp == 1_699_999_999_999
    assert message.born_host == peer.channel.local_address
    assert message.store_host == broker.address
    assert message.properties["CLUSTER"] == "DefaultCluster"
    assert message.properties["MSG_REGION"] == "DefaultRegion"


async def test_the_answer_says_where_the_message_is(broker: Broker, peer: Peer) -> None:
    await peer.send(UNIQ_KEY="U0")
    response = await peer.send(UNIQ_KEY="U1")
    answer = response.ext_fields
    assert (answer["queueId"], answer["queueOffset"]) == ("0", "1")
    assert answer["transactionId"] == "U1"
    address, log_offset = decode_offset_msg_id(answer["msgId"])
    assert address == broker.address
    assert broker.state.store.record_at(log_offset) is not None
    assert (answer["MSG_REGION"], answer["TRACE_ON"]) == ("DefaultRegion", "true")


async def test_the_long_field_names_are_read_too(peer: Peer) -> None:
    fields = {
        "producerGroup": "pg",
        "topic": "T",
        "defaultTopic": "TBW102",
        "defaultTopicQueueNums": 4,
        "queueId": 0,
        "sysFlag": 0,
        "bornTimestamp": 1,
        "flag": 0,
        "properties": "KEYS\x01k\x02",
    }
    await peer.ok(Code.SEND_MESSAGE, fields, b"x")
    (message,) = await peer.messages()
    assert message.keys == ("k",)


async def test_a_first_message_makes_its_topic(broker: Broker, peer: Peer) -> None:
    await peer.send("N", fields={"d": 3})
    assert broker.state.topics.get("N") == TopicConfig("N", 3, 3)


async def test_a_negative_queue_lets_the_broker_choose(
    broker: Broker, peer: Peer
) -> None:
    chosen = {(await peer.send(queue_id=-1)).ext_fields["queueId"] for _ in range(60)}
    assert chosen == {"0", "1", "2", "3"}


@pytest.mark.parametrize(
    ("topic", "code", "words"),
    [
        ("SCHEDULE_TOPIC_XXXX", Answer.NO_PERMISSION, "is forbidden"),
        ("RMQ_SYS_TRANS_HALF_TOPIC", Answer.NO_PERMISSION, "is forbidden"),
        ("bad topic", Answer.INVALID_PARAMETER, "illegal characters"),
        ("t" * 128, Answer.INVALID_PARAMETER, "longer than topic max length: 127"),
    ],
)
async def test_topics_that_take_no_message(
    peer: Peer, topic: str, code: int, words: str
) -> None:
    response = await peer.send(topic)
    assert response.code == code
    assert words in (response.remark or "")


async def test_an_unknown_topic_without_example_is_17(peer: Peer) -> None:
    response = await peer.send("N", fields={"c": "nothing"})
    assert response.code == Answer.TOPIC_NOT_EXIST
    assert response.remark == "topic[N] not exist, apply first please!"


async def test_topics_are_not_made_when_that_is_off(broker: Broker, peer: Peer) -> None:
    broker.state.settings = broker.settings.changed({"autoCreateTopicEnable": "false"})
    assert (await peer.send("N")).code == Answer.TOPIC_NOT_EXIST


async def test_a_queue_beyond_the_topic_is_29(peer: Peer) -> None:
    assert (await peer.send(queue_id=3)).code == 0
    response = await peer.send(queue_id=4)
    assert response.code == Answer.INVALID_PARAMETER
    assert "queueId[4] is illegal" in (response.remark or "")


@pytest.mark.parametrize("size", [0, 4 * 1024 * 1024 + 1])
async def test_a_body_of_wrong_size_is_13(peer: Peer, size: int) -> None:
    response = await peer.send(body=b"x" * size)
    assert response.code == Answer.MESSAGE_ILLEGAL
    assert f"body of {size} bytes, 1 to 4194304" in (response.remark or "")


@pytest.mark.parametrize("value", ["\0", "x" * 32_700])
async def test_properties_that_cannot_be_stored_are_13(peer: Peer, value: str) -> None:
    response = await peer.send(a=value)
    assert response.code == Answer.MESSAGE_ILLEGAL


async def test_transactions_are_refused(peer: Peer) -> None:
    response = await peer.send(fields={"f": 4})
    assert response.code == Answer.NO_PERMISSION
    assert "transaction message is forbidden" in (response.remark or "")


async def test_arbitrary_timers_are_refused(peer: Peer) -> None:
    response = await peer.send(TIMER_DELAY_SEC=5)
    assert response.code == Answer.SYSTEM_ERROR
    assert "timerWheelEnable is false" in (response.remark or "")


async def test_a_missing_field_is_named(peer: Peer) -> None:
    response = await peer.ask(Code.SEND_MESSAGE_V2, {"a": "pg"}, b"x")
    assert response.code == Answer.SYSTEM_ERROR
    assert "required field b is missing" in (response.remark or "")


@pytest.mark.parametrize("name", ["f", "h", "j"])
async def test_a_number_beyond_its_field_is_refused(
    broker: Broker, peer: Peer, name: str
) -> None:
    await peer.send()
    response = await peer.send(fields={name: 1 << 40})
    assert response.code == Answer.MESSAGE_ILLEGAL
    assert broker.state.store.max_offset("T", 0) == 1


async def test_a_number_that_is_none_is_named(peer: Peer) -> None:
    response = await peer.send(fields={"e": "x"})
    assert response.code == Answer.SYSTEM_ERROR
    assert "field e is 'x'" in (response.remark or "")


async def test_a_record_that_fits_no_file_is_14(peer: Peer) -> None:
    response = await peer.send(body=b"x" * (1 << 20))
    assert response.code == Answer.SERVICE_NOT_AVAILABLE
    assert "bytes do not fit a commit log file" in (response.remark or "")
    assert (await peer.send()).code == 0


# Batches


async def test_a_batch_becomes_messages_one_behind_another(peer: Peer) -> None:
    await peer.send(body=b"before")
    response = await peer.send(body=batch("a", "b", "c"), code=Code.SEND_BATCH_MESSAGE)
    answer = response.ext_fields
    assert answer["queueOffset"] == "1"
    assert answer["transactionId"] == "a,b,c"
    messages = (await peer.messages())[1:]
    assert [m.body for m in messages] == [b"a", b"b", b"c"]
    assert [m.queue_offset for m in messages] == [1, 2, 3]
    assert answer["msgId"] == ",".join(m.offset_msg_id for m in messages)
    assert messages[0].properties == {"TAGS": "A", "UNIQ_KEY": "a"}


async def test_the_mark_of_a_batch_suffices(peer: Peer) -> None:
    await peer.send(body=batch("a", "b"), fields={"m": True})
    assert len(await peer.messages()) == 2


def item(size: int, body: bytes, properties: bytes, length: int | None = None) -> bytes:
    length = len(properties) if length is None else length
    head = struct.pack(">iiiii", size, 0, 0, 0, len(body))
    return head + body + struct.pack(">h", length) + properties


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"short", "batch: message at 0 is cut off"),
        (item(99, b"x", b""), "message at 0 of 99 bytes with a body of 1 does not fit"),
        (item(22, b"", b""), "with a body of 0 does not fit"),
        (item(23, b"x", b"", 5), "properties of the message at 0 do not fit"),
        (batch("a") + b"tail", "batch: message at 41 is cut off"),
        (item(23 + 8, b"x", b"DELAY\x013\x02"), "message at 0: has a delay level"),
        (item(23 + 4, b"x", b"A\x01\0\x02"), "message at 0: properties hold a zero"),
        (
            batch("a") + item(31, b"x", b"DELAY\x013\x02"),
            "message at 41: has a delay level",
        ),
        (
            item(22 + 32_768, b"x", b"A\x01" + b"a" * 32_765),
            "message at 0: properties of 32768 bytes",
        ),
    ],
)
async def test_a_batch_that_is_none_stores_nothing(
    broker: Broker, peer: Peer, body: bytes, words: str
) -> None:
    response = await peer.send(body=body, code=Code.SEND_BATCH_MESSAGE)
    assert response.code == Answer.MESSAGE_ILLEGAL
    assert words in (response.remark or "")
    assert broker.state.store.max_offset("T", 0) == 0


async def test_messages_of_a_batch_may_differ_in_everything(
    broker: Broker, peer: Peer
) -> None:
    properties = [
        b"",
        b"TAGS\x01A\x02",
        b"DELAY\x010\x02KEYS\x01k1 k2",
        b"KEYS\x01k2\x02UNIQ_KEY\x01u\x02",
    ]
    bodies = [b"x", b"yy", b"z", b"zz"]
    items = [
        item(22 + len(body) + len(each), body, each)
        for body, each in zip(bodies, properties, strict=True)
    ]
    response = await peer.send(body=b"".join(items), code=Code.SEND_BATCH_MESSAGE)
    assert response.ext_fields["transactionId"] == ",,,u"
    messages = await peer.messages()
    assert [message.body for message in messages] == bodies
    assert [dict(message.properties) for message in messages] == [
        {},
        {"TAGS": "A"},
        {"DELAY": "0", "KEYS": "k1 k2"},
        {"KEYS": "k2", "UNIQ_KEY": "u"},
    ]
    assert len(broker.state.store.find_by_key("T", "k2", 32, 0, 1 << 62)) == 2
    plain = [item(23, b"x", b"") for _ in range(2)]
    response = await peer.send(body=b"".join(plain), code=Code.SEND_BATCH_MESSAGE)
    assert response.ext_fields["transactionId"] == ","


async def test_a_batch_for_a_retry_topic_is_refused(peer: Peer) -> None:
    response = await peer.send("%RETRY%g", batch("a"), code=Code.SEND_BATCH_MESSAGE)
    assert response.code == Answer.MESSAGE_ILLEGAL


# Retry topics


async def test_a_retry_topic_is_made_with_one_queue(broker: Broker, peer: Peer) -> None:
    await peer.send("%RETRY%g", fields={"c": "nothing"})
    assert broker.state.topics.get("%RETRY%g") == TopicConfig("%RETRY%g", 1, 1)
    assert len(await peer.messages("%RETRY%g")) == 1


@pytest.mark.parametrize(
    ("times", "limit", "topic"),
    [(16, "", "%RETRY%g"), (17, "", "%DLQ%g"), (3, 3, "%RETRY%g"), (4, 3, "%DLQ%g")],
)
async def test_a_retry_too_many_is_a_dead_letter(
    peer: Peer, times: int, limit: object, topic: str
) -> None:
    fields: dict[str, object] = {"j": times}
    if limit:
        fields["l"] = limit
    await peer.send("%RETRY%g", fields=fields)
    (message,) = await peer.messages(topic)
    assert message.reconsume_times == times
    if topic == "%DLQ%g":
        assert message.properties["DELAY"] == "-1"


async def test_a_group_with_locks_has_no_retries(peer: Peer) -> None:
    queues = (MessageQueue("T", "broker-a", 0),)
    request = encode_lock_request(LockBatchRequest("g", "me", queues))
    await peer.ok(Code.LOCK_BATCH_MQ, body=request)
    await peer.send("%RETRY%g")
    await peer.send("%RETRY%g")
    assert len(await peer.messages("%DLQ%g")) == 2


async def test_a_retry_of_an_unknown_group_is_26(broker: Broker, peer: Peer) -> None:
    broker.state.groups.auto_create = False
    response = await peer.send("%RETRY%g")
    assert response.code == Answer.SUBSCRIPTION_GROUP_NOT_EXIST
    broker.state.groups.put(SubscriptionGroupConfig("g"), 0)
    assert (await peer.send("%RETRY%g")).code == 0


async def test_with_sync_flush_an_answer_means_on_the_disk(tmp_path: Path) -> None:
    settings = BrokerSettings(tmp_path, segment_bytes=1 << 20, sync_flush=True)
    broker = Broker(settings)
    await broker.start()
    peer = await Peer.connected(broker.address)
    for _ in range(3):
        assert (await peer.send()).code == 0
        store = broker.state.store
        assert store.flushed_offset == store.log_offsets[1]
    response = await peer.send(body=batch("a", "b"), code=Code.SEND_BATCH_MESSAGE)
    assert response.code == 0
    assert store.flushed_offset == store.log_offsets[1]
    await peer.close()
    await broker.stop()
