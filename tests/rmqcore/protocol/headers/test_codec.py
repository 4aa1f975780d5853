from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import HeaderError, LocalProtocolError
from rmqcore.protocol.headers import (
    GetRouteInfoRequestHeader,
    Header,
    Int32,
    Int64,
    PullMessageRequestHeader,
    PutKvConfigRequestHeader,
    ResetOffsetRequestHeader,
    SendMessageRequestHeader,
    UnregisterClientRequestHeader,
    decode_header,
    encode_header,
)
from rmqcore.protocol.headers.codec import wire_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Header):
    """One field of each type."""

    narrow: Int32
    wide: Int64 | None = None
    is_set: bool | None = None
    some_text: str | None = None


SEND = SendMessageRequestHeader(
    producer_group="pg",
    topic="T",
    default_topic="TBW102",
    default_topic_queue_nums=4,
    queue_id=-1,
    sys_flag=0,
    born_timestamp=1_700_000_000_000,
    flag=0,
    batch=False,
    logical_broker="broker-a",
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(
    st.builds(
        Sample,
        narrow=st.integers(-(2**31), 2**31 - 1),
        wide=st.none() | st.integers(-(2**63), 2**63 - 1),
        is_set=st.none() | st.booleans(),
        some_text=st.none() | texts,
    )
)
def test_a_header_survives_the_trip(header: Sample) -> None:
    assert decode_header(Sample, encode_header(header)) == header


def test_names_are_java_names_and_none_is_not_sent() -> None:
    fields = encode_header(Sample(narrow=7, is_set=True, some_text=""))
    assert fields == {"narrow": "7", "isSet": "true", "someText": ""}


def test_names_that_java_spells_differently() -> None:
    left = UnregisterClientRequestHeader(client_id="c", namespaced=True)
    assert encode_header(left) == {"nsd": "true", "clientID": "c"}
    kept = PutKvConfigRequestHeader(
        kv_namespace="ORDER", key="k", value="v", namespace="INSTANCE"
    )
    assert encode_header(kept) == {
        "ns": "INSTANCE",
        "namespace": "ORDER",
        "key": "k",
        "value": "v",
    }


def test_unknown_fields_are_ignored() -> None:
    header = decode_header(GetRouteInfoRequestHeader, {"topic": "T", "future": "x"})
    assert header == GetRouteInfoRequestHeader(topic="T")


def test_one_letter_names_are_written_on_request_and_read_by_themselves() -> None:
    fields = encode_header(SEND, short_names=True)
    assert (fields["a"], fields["e"], fields["m"]) == ("pg", "-1", "false")
    assert fields["n"] == "broker-a"
    assert decode_header(SendMessageRequestHeader, fields) == SEND
    long = encode_header(SEND)
    assert (long["producerGroup"], long["bname"]) == ("pg", "broker-a")
    assert decode_header(SendMessageRequestHeader, long) == SEND


def test_a_header_without_short_names_says_so() -> None:
    with pytest.raises(LocalProtocolError, match="Sample has no short field names"):
        encode_header(Sample(narrow=1), short_names=True)


def test_plans_are_made_once() -> None:
    assert wire_fields(Sample) is wire_fields(Sample)


def test_a_missing_required_field_is_named() -> None:
    with pytest.raises(HeaderError, match="required field isForce is missing"):
        decode_header(
            ResetOffsetRequestHeader, {"topic": "T", "group": "g", "timestamp": "1"}
        )


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("narrow", "", "not a whole number"),
        ("narrow", "abc", "not a whole number"),
        ("narrow", "1_0", "not a whole number"),
        ("narrow", " 1", "not a whole number"),
        ("narrow", "1.0", "not a whole number"),
        ("narrow", "\u0663", "not a whole number"),
        ("narrow", "2147483648", "beyond -2147483648..2147483647"),
        ("narrow", "-2147483649", "beyond"),
        ("narrow", "9" * 5000, "not a whole number"),
        ("wide", "9223372036854775808", "beyond"),
        ("wide", "x", "not a whole number"),
        ("isSet", "yes", "neither true nor false"),
        ("isSet", "", "neither true nor false"),
    ],
)
def test_a_value_of_the_wrong_form_is_named(name: str, text: str, reason: str) -> None:
    with pytest.raises(HeaderError, match=f"Sample: field {name} is .*{reason}"):
        decode_header(Sample, {"narrow": "1", name: text})


@pytest.mark.parametrize(
    ("text", "value"), [("+5", 5), ("-0", 0), ("007", 7), ("0000000000000000007", 7)]
)
def test_numbers_are_read_as_java_reads_them(text: str, value: int) -> None:
    assert decode_header(Sample, {"narrow": text}).narrow == value


@pytest.mark.parametrize("text", ["TRUE", "True", "true"])
def test_booleans_are_read_in_any_case(text: str) -> None:
    assert decode_header(Sample, {"narrow": "1", "isSet": text}).is_set is True


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"narrow": 2**31}, "field narrow is 2147483648, beyond"),
        ({"narrow": "1"}, "field narrow is '1', not a whole number"),
        ({"narrow": True}, "field narrow is True, not a whole number"),
        ({"narrow": 1, "wide": -(2**63) - 1}, "field wide is .*beyond"),
        ({"narrow": 1, "is_set": 1}, "field is_set is 1, neither"),
        ({"narrow": 1, "some_text": 5}, "field some_text is 5, not text"),
    ],
)
def test_values_that_cannot_be_sent_are_named(
    values: dict[str, int], message: str
) -> None:
    with pytest.raises(LocalProtocolError, match=message):
        encode_header(Sample(**values))


@given(st.dictionaries(st.sampled_from([f.name for f in wire_fields(Sample)]), texts))
def test_any_ext_fields_give_a_header_or_a_header_error(fields: dict[str, str]) -> None:
    try:
        header = decode_header(Sample, fields)
    except HeaderError:
        return
    assert decode_header(Sample, encode_header(header)) == header


def test_the_odd_spelling_of_the_proxys_field_is_kept() -> None:
    names = {field.name for field in wire_fields(PullMessageRequestHeader)}
    assert "proxyFrowardClientId" in names
