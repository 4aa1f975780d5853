"""The offsets file's text: Java's spellings, both ways.

The texts of both Java versions were printed by their `OffsetSerializeWrapper`.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import BodyError
from rmqcore.model import MessageQueue
from rmqcore.offsets import decode_offsets, encode_offsets

Q0 = MessageQueue("T", "broker-a", 0)
Q3 = MessageQueue('T中"x1', "broker-a", 3)
Q4 = MessageQueue('T中"x0', "broker-b", 4)

JAVA_5_5 = (
    '{\n\t"offsetTable":{\n\t\t{\n\t\t\t"brokerName":"broker-a",\n\t\t\t"queueId":3,'
    '\n\t\t\t"topic":"T中\\"x1"\n\t\t}:30,\n\t\t{\n\t\t\t"brokerName":"broker-b",'
    '\n\t\t\t"queueId":4,\n\t\t\t"topic":"T中\\"x0"\n\t\t}:40\n\t}\n}'
)
JAVA_4_9 = (
    '{\n\t"offsetTable":{{\n\t\t\t"brokerName":"broker-a",\n\t\t\t"queueId":3,'
    '\n\t\t\t"topic":"T中\\"x1"\n\t\t}:30,{\n\t\t\t"brokerName":"broker-b",'
    '\n\t\t\t"queueId":4,\n\t\t\t"topic":"T中\\"x0"\n\t\t}:40\n\t}\n}'
)
COMPACT = '{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:5}}'

queues = st.builds(
    MessageQueue,
    st.text(min_size=1, max_size=12),
    st.text(min_size=1, max_size=12),
    st.integers(0, 2**31 - 1),
)


def test_the_file_is_what_java_5_5_writes() -> None:
    # Java's order is its hash table's, ours is sorted: T中"x0 before T中"x1.
    one = JAVA_5_5.replace(
        '{\n\t\t\t"brokerName":"broker-b",\n\t\t\t"queueId":4,'
        '\n\t\t\t"topic":"T中\\"x0"\n\t\t}:40',
        "",
    ).replace(":30,\n\t\t", ":30")
    assert encode_offsets({Q3: 30}) == one.encode()


def test_an_empty_table_is_what_java_writes() -> None:
    assert encode_offsets({}) == b'{\n\t"offsetTable":{}\n}'


@pytest.mark.parametrize("text", [JAVA_5_5, JAVA_4_9])
def test_the_files_of_both_java_versions_are_read(text: str) -> None:
    assert decode_offsets(text.encode()) == {Q3: 30, Q4: 40}


def test_a_compact_file_is_read() -> None:
    assert decode_offsets(COMPACT.encode()) == {Q0: 5}


def test_an_object_in_a_string_is_read_as_key() -> None:
    text = (
        rb'{"offsetTable":{"{\"brokerName\":\"broker-a\",\"queueId\":0,'
        rb'\"topic\":\"T\"}":5}}'
    )
    assert decode_offsets(text) == {Q0: 5}


def test_entries_are_written_in_order() -> None:
    text = encode_offsets({Q4: 1, Q3: 2, Q0: 3}).decode()
    assert text.index("}:3") < text.index("}:1") < text.index("}:2")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "{}",
        '{"offsetTable":[]}',
        '{"offsetTable":{"x":1}}',
        '{"offsetTable":{{"queueId":0,"topic":"T"}:1}}',
        '{"offsetTable":{{"brokerName":"b","queueId":"0","topic":"T"}:1}}',
        '{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:"1"}}',
        '{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:true}}',
        '{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:-1}}',
        '{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:1}',
    ],
)
def test_what_is_not_an_offsets_file_is_refused(text: str) -> None:
    with pytest.raises(BodyError):
        decode_offsets(text.encode())


@given(st.dictionaries(queues, st.integers(0, 2**63 - 1), max_size=8))
def test_what_is_written_is_read_again(offsets: dict[MessageQueue, int]) -> None:
    assert decode_offsets(encode_offsets(offsets)) == offsets
