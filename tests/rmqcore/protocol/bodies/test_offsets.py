import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import BodyError
from rmqcore.model import MessageQueue
from rmqcore.protocol.bodies import (
    ConsumerOffsets,
    ConsumerStatus,
    DataVersion,
    decode_consumer_offsets,
    decode_consumer_status,
    decode_correction_offsets,
    decode_delay_offsets,
    decode_queue_offsets,
    encode_consumer_offsets,
    encode_consumer_status,
    encode_correction_offsets,
    encode_delay_offsets,
    encode_queue_offsets,
    split_offset_key,
)
from rmqcore.protocol.bodies.codec import BodyDecoder

from .test_topic import versions
from .tricky import int32s, int64s, names, queues

inner_tables = st.dictionaries(int32s, int64s, max_size=4)
queue_tables = st.dictionaries(queues, int64s, max_size=4)


@given(
    st.builds(
        ConsumerOffsets, st.dictionaries(names, inner_tables, max_size=4), versions
    )
)
def test_offsets_of_all_groups_survive_the_trip(body: ConsumerOffsets) -> None:
    assert decode_consumer_offsets(encode_consumer_offsets(body)) == body


def test_the_usual_body_needs_no_scanner(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the slow way was taken")

    monkeypatch.setattr(BodyDecoder, "decode", refuse)
    body = ConsumerOffsets({"%RETRY%g@g": {0: 5, 1: -1}, "T@g": {}}, DataVersion(1))
    assert decode_consumer_offsets(encode_consumer_offsets(body)) == body


@pytest.mark.parametrize(
    "text",
    [
        '{"offsetTable":{"T@g":{"0":5,"1":6}}}',
        '{"offsetTable":{"T@g":{0:5,1:6,}}}',
        '{ "offsetTable" : { "T@g" : { 0 : 5 , 1 : 6 } } }',
        '{"offsetTable":{"T@g":{0:"5","1":6}},"dataVersion":null}',
    ],
)
def test_other_spellings_are_read(text: str) -> None:
    assert decode_consumer_offsets(text.encode()).offsets == {"T@g": {0: 5, 1: 6}}


def test_a_name_that_looks_like_a_table_is_kept() -> None:
    body = ConsumerOffsets({":{0:5}": {0: 1}, '":{1:2}@g': {1: 2}})
    assert decode_consumer_offsets(encode_consumer_offsets(body)) == body


@pytest.mark.parametrize(
    "text",
    [
        '{"offsetTable":{"T@g":[0,5]}}',
        '{"offsetTable":{"T@g":{0:x}}}',
        '{"offsetTable":{"T@g":{0:9223372036854775808}}}',
        '{"offsetTable":{"T@g":{a:5}}}',
        '{"offsetTable":5}',
        "",
    ],
)
def test_broken_offsets_are_refused(text: str) -> None:
    with pytest.raises(BodyError):
        decode_consumer_offsets(text.encode())


def test_keys_are_split_at_the_first_separator() -> None:
    assert split_offset_key("T@g") == ("T", "g")
    assert split_offset_key("%RETRY%g@g@x") == ("%RETRY%g", "g@x")
    with pytest.raises(BodyError, match="offset key 'T' is not of the form"):
        split_offset_key("T")


@given(st.dictionaries(int32s, int64s, max_size=4), st.none() | versions)
def test_delay_offsets_survive_the_trip(
    offsets: dict[int, int], version: DataVersion | None
) -> None:
    assert decode_delay_offsets(encode_delay_offsets(offsets, version)) == offsets


@given(st.dictionaries(int32s, int64s, max_size=4))
def test_correction_offsets_survive_the_trip(offsets: dict[int, int]) -> None:
    assert decode_correction_offsets(encode_correction_offsets(offsets)) == offsets


@given(queue_tables)
def test_queue_offsets_survive_the_trip(offsets: dict[MessageQueue, int]) -> None:
    assert decode_queue_offsets(encode_queue_offsets(offsets)) == offsets


@given(
    st.builds(
        ConsumerStatus, queue_tables, st.dictionaries(names, queue_tables, max_size=2)
    )
)
def test_status_survives_the_trip(status: ConsumerStatus) -> None:
    assert decode_consumer_status(encode_consumer_status(status)) == status


def test_keys_that_are_text_are_read_as_java_reads_them() -> None:
    key = r'"{\"brokerName\":\"broker-a\",\"queueId\":0,\"topic\":\"T\"}"'
    offsets = decode_queue_offsets(f'{{"offsetTable":{{{key}:5}}}}'.encode())
    assert offsets == {MessageQueue("T", "broker-a", 0): 5}


def test_a_status_of_another_form_is_refused() -> None:
    with pytest.raises(BodyError, match="ConsumerStatus: Expected `object`"):
        decode_consumer_status(b'{"consumerTable":[5]}')
    with pytest.raises(BodyError, match="expected a table of queues, found int"):
        decode_consumer_status(b'{"consumerTable":{"c":5}}')
