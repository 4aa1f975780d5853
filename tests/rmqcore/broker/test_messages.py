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
