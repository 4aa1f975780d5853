import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import BodyError
from rmqcore.model import SubscriptionGroupConfig
from rmqcore.protocol.bodies import (
    GroupSubscription,
    SubscriptionGroupTable,
    decode_group_config,
    decode_group_config_list,
    decode_group_list,
    decode_group_subscription,
    decode_group_table,
    encode_group_config,
    encode_group_config_list,
    encode_group_list,
    encode_group_subscription,
    encode_group_table,
    group_document,
)

from .test_heartbeat import subscriptions
from .test_topic import versions
from .tricky import filled, int32s, int64s, names

configs = st.builds(
    SubscriptionGroupConfig,
    filled,
    *[st.booleans()] * 4,
    int32s,
    int32s,
    int64s,
    int64s,
    st.booleans(),
    int32s,
    int32s,
)
forbidden = st.none() | st.dictionaries(
    names, st.dictionaries(names, int32s, max_size=2), max_size=2
)


@given(configs)
def test_a_configuration_survives_the_trip(config: SubscriptionGroupConfig) -> None:
    assert decode_group_config(encode_group_config(config)) == config


@given(st.lists(configs, max_size=3))
def test_a_list_of_configurations_survives_the_trip(
    listed: list[SubscriptionGroupConfig],
) -> None:
    assert decode_group_config_list(encode_group_config_list(listed)) == listed


@given(
    st.builds(
        SubscriptionGroupTable,
        st.dictionaries(names, configs, max_size=2),
        versions,
        forbidden,
    )
)
def test_a_table_survives_the_trip(table: SubscriptionGroupTable) -> None:
    assert decode_group_table(encode_group_table(table)) == table


def test_a_group_without_a_name_is_refused() -> None:
    with pytest.raises(BodyError, match=r"WireGroupConfig: .*length >= 1"):
        decode_group_config(b'{"groupName":""}')


@given(st.lists(names, max_size=4))
def test_group_lists_survive_the_trip(groups: list[str]) -> None:
    assert decode_group_list(encode_group_list(groups)) == groups


@given(st.builds(GroupSubscription, names, names, st.none() | subscriptions))
def test_a_groups_subscription_survives_the_trip(body: GroupSubscription) -> None:
    assert decode_group_subscription(encode_group_subscription(body)) == body


def test_a_change_keeps_what_only_the_broker_knows() -> None:
    stored = {"groupName": "G", "retryMaxTimes": 3, "groupRetryPolicy": {"type": "X"}}
    changed = group_document(SubscriptionGroupConfig("G", retry_max_times=5), stored)
    assert changed["retryMaxTimes"] == 5
    assert changed["groupRetryPolicy"] == {"type": "X"}
    assert changed["attributes"] == {}
