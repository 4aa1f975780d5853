"""Configuration of topics, groups and brokers, changed on Apache RocketMQ."""

from __future__ import annotations

import pytest

from rmqcore.admin import Admin
from rmqcore.model.topic import Perm, TopicConfig

from .versions import OLDER_TOO

pytestmark = pytest.mark.interop

RETRIES = {
    "type": "EXPONENTIAL",
    "exponentialRetryPolicy": {"initial": 2000, "max": 60000, "multiplier": 3},
}


async def masters(admin: Admin) -> list[str]:
    return [str(broker.master) for broker in await admin.brokers()]


async def test_a_topic_is_created_changed_and_deleted_broker_by_broker(
    admin: Admin, name: str
) -> None:
    one, other = await masters(admin)
    wanted = TopicConfig(name, 4, 4, attributes={"message.type": "FIFO"})
    await admin.put_topic(wanted, one)
    assert await admin.find_topic(name, one) == wanted
    assert await admin.find_topic(name, other) is None
    reading = TopicConfig(name, 4, 2, Perm.READ)
    await admin.put_topic(reading, one)
    found = await admin.find_topic(name, one)
    assert found is not None
    assert (found.write_queue_nums, found.perm) == (2, Perm.READ)
    assert found.attributes == {"message.type": "FIFO"}
    await admin.drop_topic(name, one)
    (broker, *_) = await admin.brokers()
    told = await admin.drop_routes(name, broker.cluster)
    assert set(told.values()) == {None}
    assert await admin.find_topic(name, one) is None
    assert await admin.route_named_by(admin.nameservers[0], name) is None


@OLDER_TOO
async def test_what_a_group_has_besides_stays_when_it_is_changed(
    admin: Admin, name: str, version: str
) -> None:
    one, other = await masters(admin)
    document = {"groupName": name, "retryMaxTimes": 3, "groupRetryPolicy": RETRIES}
    await admin.put_group_document(document, one)
    stored = (await admin.group_documents(one))[name]
    changed = {**stored, "retryMaxTimes": 5, "attributes": {}}
    await admin.put_group_document(changed, one)
    found = (await admin.group_documents(one))[name]
    assert found["retryMaxTimes"] == 5
    assert found.get("groupRetryPolicy") == stored.get("groupRetryPolicy")
    assert name not in await admin.group_documents(other)
    await admin.drop_group(name, one, clean_offset=True)
    assert name not in await admin.group_documents(one)


@OLDER_TOO
async def test_settings_and_writing_of_a_broker_are_changed(
    admin: Admin, name: str, version: str
) -> None:
    one, other = await masters(admin)
    (first, second) = [each.broker_name for each in await admin.brokers()]
    before = (await admin.broker_settings(one))["waitTimeMillsInSendQueue"]
    await admin.change_broker_settings({"waitTimeMillsInSendQueue": "777"}, one)
    assert (await admin.broker_settings(one))["waitTimeMillsInSendQueue"] == "777"
    assert (await admin.broker_settings(other))["waitTimeMillsInSendQueue"] == before
    await admin.change_broker_settings({"waitTimeMillsInSendQueue": before}, one)

    await admin.create_topic(name, 1)
    await admin.set_writing(first, allowed=False)
    route = await admin.route_named_by(admin.nameservers[0], name)
    assert route is not None
    assert {q.broker_name for q in route.publish_queues(name)} == {second}
    await admin.set_writing(first, allowed=True)
    route = await admin.route_named_by(admin.nameservers[0], name)
    assert route is not None
    assert {q.broker_name for q in route.publish_queues(name)} == {first, second}
