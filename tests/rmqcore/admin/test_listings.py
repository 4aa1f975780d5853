from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from rmqcore.admin.line import Line
from rmqcore.admin.listings import GROUPS, Remembered, ask_listing
from rmqcore.admin.tables import decode_group_listing
from rmqcore.protocol.codes import RequestCode
from rmqcore.transport.pool import ChannelPool

from .scripted import Contents, ScriptedBroker

CODE = RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG


@pytest.fixture
async def broker() -> AsyncIterator[ScriptedBroker]:
    async with ScriptedBroker(contents=Contents(groups={"A", "B"}, pages=True)) as it:
        yield it


async def ask(broker: ScriptedBroker, remembered: Remembered | None) -> Remembered:
    pool = ChannelPool()
    line = Line(pool, [broker.address], 3)
    try:
        return await ask_listing(line, GROUPS, decode_group_listing, remembered)
    finally:
        await pool.close()


async def test_the_first_time_the_whole_listing_is_asked(
    broker: ScriptedBroker,
) -> None:
    remembered = await ask(broker, None)
    assert remembered.listing.names == {"A", "B"}
    assert remembered.total == 2
    assert broker.asked(CODE)[0].ext_fields == {}


async def test_an_unchanged_listing_is_not_sent_again(broker: ScriptedBroker) -> None:
    first = await ask(broker, None)
    assert await ask(broker, first) is first
    assert broker.asked(CODE)[-1].ext_fields == {
        "dataVersion": first.listing.version,
        "groupSeq": "2",
        "maxGroupNum": "1",
    }


async def test_a_changed_listing_is_asked_as_a_whole(broker: ScriptedBroker) -> None:
    first = await ask(broker, None)
    broker.contents.groups.add("C")
    broker.contents.version += 1
    second = await ask(broker, first)
    assert second.listing.names == {"A", "B", "C"}
    assert len(broker.asked(CODE)) == 3


async def test_a_broker_without_pages_sends_everything_each_time(
    broker: ScriptedBroker,
) -> None:
    broker.contents.pages = False
    first = await ask(broker, None)
    assert first.total == 0
    second = await ask(broker, first)
    assert second.listing.names == {"A", "B"}
    assert [request.ext_fields for request in broker.asked(CODE)] == [{}, {}]
