"""The broker's view of a group: behaviour E1 to E6, one by one."""

import pytest

from rmqcore.broker.consumers import ChangeNotice, ClientChannel, ConsumerTable
from rmqcore.model import (
    ConsumeFromWhere,
    ConsumerData,
    ConsumeType,
    MessageModel,
    SubscriptionData,
)
from rmqcore.protocol.tags import parse_tag_expression


def sub(topic: str = "T", tags: str = "*", version: int = 1) -> SubscriptionData:
    return parse_tag_expression(topic, tags, version)


def consumer(
    *subscriptions: SubscriptionData,
    group: str = "g",
    model: MessageModel = MessageModel.CLUSTERING,
    consume_type: ConsumeType = ConsumeType.PUSH,
) -> ConsumerData:
    where = ConsumeFromWhere.LAST_OFFSET
    return ConsumerData(group, consume_type, model, where, subscriptions or (sub(),))


def client(channel: str, client_id: str | None = None) -> ClientChannel[str]:
    return ClientChannel(channel, client_id or f"id-{channel}", 0, 513)


@pytest.fixture
def table() -> ConsumerTable[str]:
    return ConsumerTable()


def expression(table: ConsumerTable[str], topic: str = "T") -> str:
    group = table.group("g")
    assert group is not None
    return group.subscriptions[topic].sub_string


def test_e1_a_group_is_keyed_by_its_name(table: ConsumerTable[str]) -> None:
    table.register(consumer(sub("T"), sub("U")), client("a"), 1)
    group = table.group("g")
    assert group is not None
    assert group.client_ids == ["id-a"]
    assert set(group.subscriptions) == {"T", "U"}
    assert group.consume_type is ConsumeType.PUSH
    assert table.group("other") is None


def test_e2_a_newer_subscription_replaces_whoever_sent_it(
    table: ConsumerTable[str],
) -> None:
    table.register(consumer(sub(tags="tag1", version=10)), client("a"), 1)
    table.register(consumer(sub(tags="tag2", version=20)), client("b"), 2)
    assert expression(table) == "tag2"


@pytest.mark.parametrize("version", [20, 19])
def test_e2_an_older_or_equal_subscription_changes_nothing(
    table: ConsumerTable[str], version: int
) -> None:
    table.register(consumer(sub(tags="tag2", version=20)), client("b"), 1)
    table.register(consumer(sub(tags="tag1", version=version)), client("a"), 2)
    assert expression(table) == "tag2"


def test_e2_channels_are_kept_side_by_side(table: ConsumerTable[str]) -> None:
    table.register(consumer(), client("a"), 1)
    table.register(consumer(), client("b"), 1)
    table.register(consumer(), client("a"), 2)
    group = table.group("g")
    assert group is not None
    assert group.client_ids == ["id-a", "id-b"]


def test_a5b_one_client_id_on_two_channels_is_two_members(
    table: ConsumerTable[str],
) -> None:
    table.register(consumer(), client("a", "same"), 1)
    table.register(consumer(), client("b", "same"), 1)
    group = table.group("g")
    assert group is not None
    assert group.client_ids == ["same", "same"]
    member = group.member("same")
    assert member is not None
    assert member.channel == "a"
    assert group.member("other") is None


def test_a_channel_may_change_its_client_id(table: ConsumerTable[str]) -> None:
    table.register(consumer(), client("a", "old"), 1)
    assert table.register(consumer(), client("a", "new"), 2) is None
    group = table.group("g")
    assert group is not None
    assert group.client_ids == ["new"]


def test_e4_a_new_channel_is_told_to_every_member(table: ConsumerTable[str]) -> None:
    assert table.register(consumer(), client("a"), 1) == ChangeNotice("g", ("a",))
    assert table.register(consumer(), client("b"), 1) == ChangeNotice("g", ("a", "b"))
    assert table.register(consumer(), client("b"), 2) is None


def test_e4_a_changed_set_of_topics_is_told(table: ConsumerTable[str]) -> None:
    table.register(consumer(sub("T")), client("a"), 1)
    added = table.register(consumer(sub("T"), sub("U")), client("a"), 2)
    removed = table.register(consumer(sub("T")), client("a"), 3)
    assert added == removed == ChangeNotice("g", ("a",))


def test_e4_a_replaced_expression_is_not_told(table: ConsumerTable[str]) -> None:
    table.register(consumer(sub(tags="tag1", version=1)), client("a"), 1)
    notice = table.register(consumer(sub(tags="tag2", version=2)), client("a"), 2)
    assert (notice, expression(table)) == (None, "tag2")


def test_e4_a_lost_channel_is_told_to_those_who_stay(
    table: ConsumerTable[str],
) -> None:
    table.register(consumer(), client("a"), 1)
    table.register(consumer(), client("b"), 1)
    assert table.close("a") == [ChangeNotice("g", ("b",))]
    assert table.close("a") == []


def test_e4_members_of_a_broadcasting_group_are_not_told(
    table: ConsumerTable[str],
) -> None:
    data = consumer(model=MessageModel.BROADCASTING)
    assert table.register(data, client("a"), 1) is None
    assert table.register(data, client("b"), 1) is None
    assert table.close("b") == []
    assert table.unregister("g", "a") is None


def test_e6_a_heartbeat_removes_topics_that_it_does_not_list(
    table: ConsumerTable[str],
) -> None:
    table.register(consumer(sub("T")), client("a"), 1)
    first = table.register(consumer(sub("U")), client("b"), 1)
    group = table.group("g")
    assert group is not None
    assert set(group.subscriptions) == {"U"}
    second = table.register(consumer(sub("T")), client("a"), 2)
    third = table.register(consumer(sub("U")), client("b"), 2)
    assert first == second == third == ChangeNotice("g", ("a", "b"))
    assert set(group.subscriptions) == {"U"}


def test_e6_a_removed_topic_forgets_its_version(table: ConsumerTable[str]) -> None:
    table.register(consumer(sub("T", "tag1", 20)), client("a"), 1)
    table.register(consumer(sub("U")), client("b"), 1)
    table.register(consumer(sub("T", "tag2", 10)), client("a"), 2)
    assert expression(table) == "tag2"


def test_the_last_heartbeat_decides_type_and_mode(table: ConsumerTable[str]) -> None:
    table.register(consumer(), client("a"), 1)
    data = consumer(model=MessageModel.BROADCASTING, consume_type=ConsumeType.PULL)
    table.register(data, client("b"), 1)
    group = table.group("g")
    assert group is not None
    assert group.message_model is MessageModel.BROADCASTING
    assert group.consume_type is ConsumeType.PULL


def test_a_group_ends_with_its_last_channel(table: ConsumerTable[str]) -> None:
    table.register(consumer(), client("a"), 1)
    table.register(consumer(group="h"), client("a"), 1)
    notice = table.unregister("g", "a")
    assert (notice, table.group("g")) == (ChangeNotice("g", ()), None)
    assert [group.name for group in table.groups()] == ["h"]
    assert table.close("a") == [ChangeNotice("h", ())]
    assert table.groups() == []


def test_leaving_twice_tells_the_members_again(table: ConsumerTable[str]) -> None:
    table.register(consumer(), client("a"), 1)
    assert table.unregister("g", "stranger") == ChangeNotice("g", ("a",))
    assert table.unregister("unknown", "a") is None


def test_a_client_is_silent_after_120_s(table: ConsumerTable[str]) -> None:
    table.register(consumer(), client("a"), 0)
    table.register(consumer(group="h"), client("a"), 0)
    table.register(consumer(), client("b"), 0)
    table.register(consumer(), client("b"), 60_000)
    assert table.expired(120_000) == []
    assert table.expired(120_001) == ["a"]


def test_a_heartbeat_brings_the_version_up_to_date(
    table: ConsumerTable[str],
) -> None:
    table.register(consumer(), client("a"), 1)
    table.register(consumer(), ClientChannel("a", "id-a", 3, 999), 2)
    group = table.group("g")
    assert group is not None
    member = group.members["a"]
    assert (member.language, member.version, member.last_update_ms) == (3, 999, 2)


def test_groups_are_found_by_topic(table: ConsumerTable[str]) -> None:
    table.register(consumer(sub("T")), client("a"), 1)
    table.register(consumer(sub("T"), sub("U"), group="h"), client("a"), 1)
    assert table.groups_reading("T") == ["g", "h"]
    assert table.groups_reading("U") == ["h"]
    assert table.groups_reading("V") == []
