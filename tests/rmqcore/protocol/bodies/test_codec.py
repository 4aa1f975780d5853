import pytest
from hypothesis import given

from rmqcore.errors import BodyError
from rmqcore.model import MessageQueue
from rmqcore.protocol.bodies import WireQueue
from rmqcore.protocol.bodies.codec import (
    BodyDecoder,
    by_queue,
    convert,
    empty_tables,
    pair_queue_keys,
    queue_pairs,
    quote_bare_keys,
    reshape_tables,
    rewrite_one_table,
)
from rmqcore.protocol.fastjson import FrozenObject, dumps, loads

from .tricky import names, queues

QUEUE = '{"brokerName":"b","queueId":0,"topic":"T"}'


def test_bare_keys_get_quotes() -> None:
    assert quote_bare_keys(b'{"a":{0:5,-1:6}}') == b'{"a":{"0":5,"-1":6}}'
    assert quote_bare_keys(b'{"a":[1,2],"b":"x"}') == b'{"a":[1,2],"b":"x"}'


@given(names)
def test_a_name_is_never_changed_by_quoting(name: str) -> None:
    text = dumps({name: {0: name}})
    quoted = quote_bare_keys(text)
    try:
        value = BodyDecoder(dict[str, dict[int, str]])._decoder.decode(quoted)
    except ValueError:
        return
    assert value == {name: {0: name}}


def test_queue_keys_become_pairs() -> None:
    text = f'{{"t":{{{QUEUE}:{{"x":1}},{QUEUE}:{{"x":2}}}}}}'.encode()
    paired = pair_queue_keys(text)
    assert paired == (f'{{"t":[[{QUEUE},{{"x":1}}],[{QUEUE},{{"x":2}}}}}}'.encode())


def test_a_name_that_looks_like_the_end_of_a_key_is_not_trusted() -> None:
    text = dumps({"t": {MessageQueue("}:x", "b", 0): 1}})
    assert b'"}:x"' in text
    assert pair_queue_keys(text) is None
    assert rewrite_one_table(text) is None


def test_one_table_is_closed() -> None:
    assert rewrite_one_table(f'{{"offsetTable":{{{QUEUE}:5}}}}'.encode()) == (
        f'{{"offsetTable":[[{QUEUE},5]]}}'.encode()
    )
    assert rewrite_one_table(b'{"offsetTable":{}}') == b'{"offsetTable":[]}'
    assert rewrite_one_table(b'{"offsetTable":{},"x":1}') is None
    assert empty_tables(b'{"a":{},"b":{}}', b"a", b"c") == b'{"a":[],"b":{}}'


@given(queues)
def test_a_table_read_slowly_gives_the_same_pairs(queue: MessageQueue) -> None:
    key = {
        "brokerName": queue.broker_name,
        "queueId": queue.queue_id,
        "topic": queue.topic,
    }
    as_object = loads(dumps({queue: 5}))
    as_text = {dumps(queue).decode(): 5}
    assert queue_pairs(as_object) == queue_pairs(as_text) == [(key, 5)]
    assert queue_pairs({FrozenObject(key): 5}) == [(key, 5)]


@pytest.mark.parametrize("table", [5, [], "x"])
def test_a_table_of_another_kind_is_refused(table: object) -> None:
    with pytest.raises(BodyError, match="expected a table of queues"):
        queue_pairs(table)


@pytest.mark.parametrize("key", ["5", "[]", 5, '"x"'])
def test_a_key_that_is_no_queue_is_refused(key: object) -> None:
    with pytest.raises(BodyError, match="is not a key of a table of queues"):
        queue_pairs({key: 1})


def test_no_table_is_an_empty_one() -> None:
    value = {"a": None, "b": 1}
    reshape_tables("a", "z")(value)
    assert value == {"a": [], "b": 1}


def test_a_queue_met_twice_keeps_its_last_value() -> None:
    wire = WireQueue("b", 3, "T")
    assert by_queue([(wire, 1), (wire, 2)]) == {MessageQueue("T", "b", 3): 2}


def test_numbers_in_quotes_and_nulls_are_taken_as_java_takes_them() -> None:
    value = {"brokerName": "b", "queueId": "7", "topic": "T", "more": None}
    assert convert(value, WireQueue) == WireQueue("b", 7, "T")
    assert convert([None, "x"], list[str]) == ["x"]
    assert convert((1, 2), list[int]) == [1, 2]


def test_the_wrong_member_is_named() -> None:
    with pytest.raises(BodyError, match=r"WireQueue: Expected `int`.*\$\.queueId"):
        convert({"brokerName": "b", "queueId": [], "topic": "T"}, WireQueue)
    with pytest.raises(BodyError, match="missing required field `topic`"):
        BodyDecoder(WireQueue).decode(b'{"brokerName":"b","queueId":1}')


def test_a_body_of_another_kind_is_refused() -> None:
    decoder = BodyDecoder(WireQueue, reshape=reshape_tables("t"))
    with pytest.raises(BodyError, match="expected an object, found list"):
        decoder.decode(b"[]")
    with pytest.raises(BodyError, match="Expected `object`, got `array`"):
        BodyDecoder(WireQueue).decode(b"[]")


def test_too_deep_a_body_is_refused() -> None:
    text = b'{"x":' + b"[" * 5000 + b"]" * 5000 + b"}"
    with pytest.raises(BodyError, match="at most 100 levels"):
        BodyDecoder(WireQueue).decode(text)
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(BodyError, match="recursion"):
        convert(deep, list[int])
