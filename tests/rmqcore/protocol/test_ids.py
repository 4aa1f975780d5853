from datetime import UTC, datetime, timedelta, timezone
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import ArgumentError
from rmqcore.protocol.ids import (
    UniqueIds,
    decode_offset_msg_id,
    encode_offset_msg_ids,
    pack_host,
    unpack_host,
)

ports = st.integers(0, 65_535)
hosts = st.builds("{}:{}".format, st.ip_addresses(v=4), ports) | st.builds(
    "[{}]:{}".format, st.ip_addresses(v=6), ports
)


@given(hosts, st.integers(-(2**63), 2**63 - 1))
def test_hosts_and_offset_ids_survive_the_trip(host: str, offset: int) -> None:
    assert unpack_host(pack_host(host)) == host
    msg_id = encode_offset_msg_ids(pack_host(host), [offset])
    assert len(msg_id) == (56 if host.startswith("[") else 32)
    assert decode_offset_msg_id(msg_id) == (host, offset)


@given(hosts, st.lists(st.integers(0, 2**63 - 1), max_size=5))
def test_several_offset_ids_are_joined(host: str, offsets: list[int]) -> None:
    joined = encode_offset_msg_ids(pack_host(host), offsets)
    each = [encode_offset_msg_ids(pack_host(host), [offset]) for offset in offsets]
    assert joined == ",".join(each)


def test_the_offset_id_is_javas() -> None:
    msg_id = encode_offset_msg_ids(pack_host("127.0.0.1:10911"), [1000])
    assert msg_id == "7F00000100002A9F00000000000003E8"
    assert decode_offset_msg_id(msg_id.lower()) == ("127.0.0.1:10911", 1000)


@pytest.mark.parametrize("host", ["", "127.0.0.1", "name:80", "1.2.3.4:x", "::1"])
def test_hosts_of_another_form_are_refused(host: str) -> None:
    with pytest.raises(ArgumentError, match="not of the form ip:port"):
        pack_host(host)


def test_ports_are_bounded() -> None:
    with pytest.raises(ArgumentError, match="port 65536, limit 65535"):
        pack_host("1.2.3.4:65536")


@pytest.mark.parametrize(
    "msg_id", ["", "abc", "zz" * 16, "00" * 15, "00" * 17, "00 " * 16, "00" * 27]
)
def test_other_ids_are_refused(msg_id: str) -> None:
    with pytest.raises(ArgumentError, match="not 32 or 56 hexadecimal digits"):
        decode_offset_msg_id(msg_id)


def time_ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def test_a_unique_id_is_laid_out_as_javas() -> None:
    ids = UniqueIds(IPv4Address("127.0.0.1").packed, 0x1FFFF, 0xABCDEF01, UTC)
    made = ids.next_id(time_ms(datetime(2026, 5, 1, 0, 0, 1, tzinfo=UTC)))
    assert made == "7F000001" + "FFFF" + "ABCDEF01" + f"{1000:08X}" + "0001"


def test_an_ipv6_host_makes_a_longer_id() -> None:
    ids = UniqueIds(IPv6Address("fd00::2").packed, 1, 2, UTC)
    assert len(ids.next_id(1_700_000_000_000)) == 56


def test_ids_of_one_millisecond_differ() -> None:
    ids = UniqueIds(bytes(4), 1, 2, UTC)
    assert len({ids.next_id(1_700_000_000_000) for _ in range(65_536)}) == 65_536


@pytest.mark.parametrize("month", range(1, 13))
def test_the_time_begins_with_each_month_of_the_zone(month: int) -> None:
    zone = timezone(timedelta(hours=8))
    ids = UniqueIds(bytes(4), 1, 2, zone)
    start = datetime(2026, month, 1, tzinfo=zone)
    before = ids.next_id(time_ms(start) - 1)
    after = ids.next_id(time_ms(start) + 5)
    assert int(before[20:28], 16) > 27 * 86_400_000
    assert int(after[20:28], 16) == 5


def test_an_address_of_another_length_is_refused() -> None:
    with pytest.raises(ArgumentError, match="address of 5 bytes, need 4 or 16"):
        UniqueIds(bytes(5), 1, 2, UTC)
