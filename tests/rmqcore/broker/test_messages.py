from rmqcore.broker import Broker
from rmqcore.protocol.bodies import ConsumeQueueSlice, decode_consume_queue
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode as Answer
from rmqcore.protocol.message import decode_records
from rmqcore.transport import ManualClock

from .peer import Peer


def query(key: str, **changes: object) -> dict[str, object]:
    fields: dict[str, object] = {
        "topic": "T",
        "key": key,
        "maxNum": 10,
        "beginTimestamp": 0,
        "endTimestamp": 1 << 50,
    }
    return fields | changes


async def test_a_message_is_seen_at_its_place(peer: Peer) -> None:
    await peer.send()
    await peer.send(body=b"second")
    message = (await peer.messages())[1]
    fields = {"topic": "T", "offset": message.commit_log_offset}
    response = await peer.ok(Code.VIEW_MESSAGE_BY_ID, fields)
    assert decode_records(response.body, "broker-a") == [message]


async def test_no_message_at_a_place_is_1(peer: Peer) -> None:
    response = await peer.ask(Code.VIEW_MESSAGE_BY_ID, {"offset": 12})
    assert response.code == Answer.SYSTEM_ERROR
    assert response.remark == "can not find message by the offset, 12"


async def test_messages_are_found_by_key(peer: Peer, clock: ManualClock) -> None:
    for number in range(3):
        await peer.send(body=b"%d" % number, KEYS=f"all k{number}")
        await clock.advance(1)
    response = await peer.ok(Code.QUERY_MESSAGE, query("all"))
    found = decode_records(response.body, "broker-a")
    assert [m.body for m in found] == [b"0", b"1", b"2"]
    assert response.ext_fields["indexLastUpdateTimestamp"] == str(
        clock.time_ms() - 1000
    )
    response = await peer.ok(Code.QUERY_MESSAGE, query("all", maxNum=1))
    assert [m.body for m in decode_records(response.body, "b")] == [b"2"]


async def test_messages_are_found_by_unique_key(peer: Peer) -> None:
    for _ in range(40):
        await peer.send(UNIQ_KEY="U")
    fields = query("U", _UNIQUE_KEY_QUERY=True, maxNum=64)
    response = await peer.ok(Code.QUERY_MESSAGE, fields)
    assert len(decode_records(response.body, "broker-a")) == 32


async def test_no_message_with_a_key_is_22(peer: Peer) -> None:
    await peer.send(KEYS="k")
    response = await peer.ask(Code.QUERY_MESSAGE, query("other"))
    assert (response.code, response.body) == (Answer.QUERY_NOT_FOUND, b"")
    late = query("k", beginTimestamp=1 << 49)
    assert (await peer.ask(Code.QUERY_MESSAGE, late)).code == Answer.QUERY_NOT_FOUND


async def entries(peer: Peer, **asked: object) -> ConsumeQueueSlice:
    fields = {"topic": "T", "queueId": 0, "index": 1, "count": 2}
    response = await peer.ok(Code.QUERY_CONSUME_QUEUE, fields | asked)
    return decode_consume_queue(response.body)


async def test_entries_of_a_queue(broker: Broker, peer: Peer) -> None:
    for _ in range(4):
        await peer.send(TAGS="TagA")
    found = await entries(peer)
    assert (found.min_index, found.max_index) == (0, 4)
    assert [
        (entry.physic_offset, entry.physic_size, entry.tags_code)
        for entry in found.entries
    ] == [broker.state.store.entry("T", 0, number) for number in (1, 2)]
    assert (found.subscription, found.filter_data) == (None, None)
    assert len((await entries(peer, count=100)).entries) == 3


async def test_entries_with_what_a_group_subscribes(peer: Peer) -> None:
    await peer.send()
    await peer.heartbeat("T", tags="x")
    found = await entries(peer, index=0, consumerGroup="g")
    assert found.subscription is not None
    assert found.subscription.sub_string == "x"
    found = await entries(peer, index=0, consumerGroup="h")
    assert (found.subscription, found.filter_data) == (None, "h@T is not online!")


async def test_entries_that_are_not_there(peer: Peer) -> None:
    await peer.send()
    fields = {"topic": "T", "queueId": 0, "index": 1, "count": 2}
    response = await peer.ok(Code.QUERY_CONSUME_QUEUE, fields)
    assert (response.body, response.remark) == (b"", "Index 1 of 0@T is not exist!")
    response = await peer.ask(Code.QUERY_CONSUME_QUEUE, fields | {"queueId": 5})
    assert (response.code, response.remark) == (1, "5@T is not exist!")
