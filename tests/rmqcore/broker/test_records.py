import random
from pathlib import Path

import pytest

from rmqcore.broker import BrokerSettings
from rmqcore.broker.records import (
    delay_level,
    delayed,
    is_timer_message,
    own_properties,
    properties_fault,
    stored_properties,
)
from rmqcore.protocol.ids import pack_host
from rmqcore.protocol.properties import decode_properties
from rmqcore.store import PendingRecord, property_values

HOST = pack_host("127.0.0.1:10911")
CHANCE = random.Random(1)


def stored(text: str, own: bytes = b"CLUSTER\x01c\x02") -> dict[str, str]:
    data, values = stored_properties(text, own, CHANCE)
    assert data.endswith(b"\x02")
    found = decode_properties(data.decode())
    apart = {name.decode(): value.decode() for name, value in values.items()}
    assert found == apart | {"CLUSTER": "c"}
    return found


def test_the_broker_adds_its_own_properties(tmp_path: Path) -> None:
    own = own_properties(BrokerSettings(tmp_path, cluster="c", region="r"))
    assert decode_properties(own.decode()) == {
        "MSG_REGION": "r",
        "TRACE_ON": "true",
        "CLUSTER": "c",
    }


def test_what_the_client_says_about_the_broker_is_replaced() -> None:
    found = stored("CLUSTER\x01other\x02A\x011\x02UNIQ_KEY\x01u\x02POP_CK\x01x\x02")
    assert found == {"A": "1", "UNIQ_KEY": "u", "CLUSTER": "c"}


@pytest.mark.parametrize("text", ["", "A\x011", "UNIQ_KEY\x01\x02"])
def test_a_message_without_unique_key_gets_one(text: str) -> None:
    key = stored(text)["UNIQ_KEY"]
    assert len(key) == 32
    assert key != stored(text)["UNIQ_KEY"]


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        (b"A\x011\x02", None),
        (b"A\x01" + b"x" * 32766, "properties of 32768 bytes, .* limit 32767"),
        (b"A\x01\0\x02", "zero byte"),
    ],
)
def test_properties_that_cannot_be_stored(properties: bytes, words: str | None) -> None:
    fault = properties_fault(properties)
    if words is None:
        assert fault is None
    else:
        assert fault is not None
        assert words.split(", .*")[0] in fault


@pytest.mark.parametrize(
    ("properties", "level"),
    [
        (b"DELAY\x013\x02", 3),
        (b"DELAY\x0199\x02", 18),
        (b"DELAY\x01-1\x02", 0),
        (b"DELAY\x01x\x02", 0),
        (b"", 0),
    ],
)
def test_delay_levels(properties: bytes, level: int) -> None:
    assert delay_level(property_values(properties), 18) == level


@pytest.mark.parametrize(
    ("properties", "is_timer"),
    [
        (b"TIMER_DELIVER_MS\x011\x02", True),
        (b"A\x011\x02TIMER_DELAY_SEC\x011\x02", True),
        (b"TIMER_DELAYED\x011\x02", False),
        (b"", False),
    ],
)
def test_timer_messages(properties: bytes, is_timer: bool) -> None:
    assert is_timer_message(property_values(properties)) is is_timer


def test_a_delayed_record_remembers_where_it_goes() -> None:
    record = PendingRecord("T", 5, b"x", b"DELAY\x013\x02", 1, HOST, HOST, 7, 1, 2)
    made = delayed(record, 3)
    assert (made.topic, made.queue_id) == ("SCHEDULE_TOPIC_XXXX", 2)
    assert decode_properties(made.properties.decode()) == {
        "DELAY": "3",
        "REAL_TOPIC": "T",
        "REAL_QID": "5",
    }
    assert (made.flag, made.sys_flag, made.reconsume_times) == (7, 1, 2)
