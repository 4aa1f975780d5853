"""Client ids (A4), and the options behind them."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest

from rmqcore.client import Producer, PushConsumer
from rmqcore.client.instance.client_id import (
    build_client_id,
    local_ip,
    unique_instance_name,
)
from rmqcore.client.instance.client_spec import ClientSpec
from rmqcore.errors import ArgumentError
from tests.rmqcore.client.joining import Heard


def test_the_id_is_ip_at_instance() -> None:
    assert build_client_id("10.0.0.1", "c1") == "10.0.0.1@c1"


def test_a_unit_name_is_the_third_part() -> None:
    assert build_client_id("10.0.0.1", "c1", "u") == "10.0.0.1@c1@u"


@pytest.mark.parametrize(("ip", "name"), [("", "c1"), ("10.0.0.1", " ")])
def test_empty_parts_are_refused(ip: str, name: str) -> None:
    with pytest.raises(ArgumentError, match="is empty"):
        build_client_id(ip, name)


def test_default_becomes_process_and_time() -> None:
    assert unique_instance_name("DEFAULT", 12, 345) == "12#345"
    assert unique_instance_name("mine", 12, 345) == "mine"


def test_the_local_address_is_one() -> None:
    assert IPv4Address(local_ip())


def member(**options: str) -> PushConsumer:
    return PushConsumer("a:1", group="G", listener=Heard(), client_ip="ip", **options)


def test_clustering_members_and_producers_are_unique() -> None:
    assert member().client_id != member().client_id
    assert Producer("a:1", client_ip="ip").client_id.startswith("ip@")


def test_broadcasting_members_keep_their_name() -> None:
    assert member(message_model="BROADCASTING").client_id == "ip@DEFAULT"


def test_a_given_name_is_kept() -> None:
    assert member(instance_name="c1", unit_name="u").client_id == "ip@c1@u"


def test_unknown_timers_are_refused() -> None:
    with pytest.raises(ArgumentError, match="sometimes"):
        ClientSpec.of("a:1", {"timers": "sometimes"})  # type: ignore[typeddict-item]
