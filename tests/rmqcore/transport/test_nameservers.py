from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from rmqcore.errors import ArgumentError, ConnectError
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport.nameservers import NameServers, parse_nameservers
from rmqcore.transport.pool import ChannelPool
from tests.rmqcore.admin.scripted import ScriptedNameServer, silent
from tests.support.ports import free_port

ASK = RequestCode.GET_BROKER_CLUSTER_INFO


@pytest.fixture
async def pool() -> AsyncIterator[ChannelPool]:
    pool = ChannelPool()
    yield pool
    await pool.close()


@pytest.mark.parametrize("given", ["a:1;b:2", "a:1; b:2;", [" a:1", "b:2", "a:1"]])
def test_several_name_servers_as_text_or_list(given: str | list[str]) -> None:
    assert parse_nameservers(given) == ("a:1", "b:2")


@pytest.mark.parametrize("given", ["", ";", [], [" "]])
def test_at_least_one_is_needed(given: str | list[str]) -> None:
    with pytest.raises(ArgumentError, match="at least one"):
        parse_nameservers(given)


@pytest.mark.parametrize("given", ["a:1;nowhere", ["nowhere"], "nowhere:b"])
def test_a_wrong_address_is_named(given: str | list[str]) -> None:
    with pytest.raises(ArgumentError, match="'nowhere"):
        parse_nameservers(given)


@pytest.mark.parametrize("first", [0, 1])
async def test_one_may_begin_with_another(pool: ChannelPool, first: int) -> None:
    servers = NameServers(["a:1", "b:2"], pool, first=first)
    assert servers.current == servers.addresses[first]


async def test_the_next_one_is_asked_and_kept(pool: ChannelPool) -> None:
    dead = f"127.0.0.1:{free_port()}"
    async with ScriptedNameServer() as living:
        servers = NameServers([dead, living.address], pool, 3)
        assert servers.current == dead
        for _ in range(2):
            address, answer = await servers.request(RemotingCommand.request(ASK))
            assert (address, answer.code) == (living.address, 0)
        assert servers.current == living.address
        assert len(living.asked(ASK)) == 2


async def test_when_none_answers_every_address_is_named(pool: ChannelPool) -> None:
    dead = f"127.0.0.1:{free_port()}"
    async with ScriptedNameServer() as mute:
        mute.faults[ASK] = silent
        servers = NameServers(f"{dead};{mute.address}", pool, 0.05)
        with pytest.raises(ConnectError) as raised:
            await servers.request(RemotingCommand.request(ASK))
        assert dead in str(raised.value)
        assert f"{mute.address} did not answer" in str(raised.value)
