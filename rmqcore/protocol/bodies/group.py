"""Bodies about consumer groups: their settings (200, 201, 225, 352), lists (300)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from rmqcore.model import SubscriptionData, SubscriptionGroupConfig
from rmqcore.protocol.fastjson import dumps

from .codec import BodyDecoder, DataVersion, Int32, Int64, Name
from .heartbeat import WireSubscription, subscription_members


class WireGroupConfig(msgspec.Struct, rename="camel"):
    """A group's configuration with Java's member names."""

    group_name: Name
    broker_id: Int64 = 0
    consume_broadcast_enable: bool = True
    consume_enable: bool = True
    consume_from_min_enable: bool = True
    consume_message_orderly: bool = False
    consume_timeout_minute: Int32 = 15
    group_sys_flag: Int32 = 0
    notify_consumer_ids_changed_enable: bool = True
    retry_max_times: Int32 = 16
    retry_queue_nums: Int32 = 1
    which_broker_when_consume_slowly: Int64 = 1

    def model(self) -> SubscriptionGroupConfig:
        """Return it as the model's type."""
        members = msgspec.structs.asdict(self)
        return SubscriptionGroupConfig(members.pop("group_name"), **members)


class _GroupTable(msgspec.Struct, rename="camel"):
    data_version: DataVersion = DataVersion()
    forbidden_table: dict[str, dict[str, Int32]] | None = None
    subscription_group_table: dict[str, WireGroupConfig] = {}


class _GroupConfigList(msgspec.Struct, rename="camel"):
    group_config_list: list[WireGroupConfig] = []


class _GroupList(msgspec.Struct, rename="camel"):
    group_list: list[str] = []


class _GroupSubscription(msgspec.Struct, rename="camel"):
    group: str = ""
    subscription_data: WireSubscription | None = None
    topic: str = ""


@dataclass(frozen=True, slots=True)
class SubscriptionGroupTable:
    """All groups of a broker, by name.

    `forbidden` holds, by group and topic, what a group must not do; 4.9 lacks it.
    """

    groups: Mapping[str, SubscriptionGroupConfig]
    data_version: DataVersion
    forbidden: Mapping[str, Mapping[str, int]] | None = None


@dataclass(frozen=True, slots=True)
class GroupSubscription:
    """How a group subscribes to a topic (345); None when it does not."""

    group: str
    topic: str
    subscription: SubscriptionData | None


_CONFIG: Final = BodyDecoder(WireGroupConfig)
_CONFIG_LIST: Final = BodyDecoder(_GroupConfigList)
_TABLE: Final = BodyDecoder(_GroupTable)
_LIST: Final = BodyDecoder(_GroupList)
_SUBSCRIPTION: Final = BodyDecoder(_GroupSubscription)
_CONFIGURED: Final = {
    member.encode_name for member in msgspec.structs.fields(WireGroupConfig)
}


def decode_group_config(data: bytes) -> SubscriptionGroupConfig:
    """Return one group's configuration (200, 352)."""
    return _CONFIG.decode(data).model()


def encode_group_config(config: SubscriptionGroupConfig) -> bytes:
    """Return the body of 200 and 352."""
    return dumps(_group_members(config))


def decode_group_config_list(data: bytes) -> list[SubscriptionGroupConfig]:
    """Return the groups to create or change at once (225)."""
    return [config.model() for config in _CONFIG_LIST.decode(data).group_config_list]


def encode_group_config_list(configs: Sequence[SubscriptionGroupConfig]) -> bytes:
    """Return the body of 225."""
    return dumps({"groupConfigList": [_group_members(config) for config in configs]})


def decode_group_table(data: bytes) -> SubscriptionGroupTable:
    """Return all groups of a broker (201)."""
    body = _TABLE.decode(data)
    groups = {name: c.model() for name, c in body.subscription_group_table.items()}
    return SubscriptionGroupTable(groups, body.data_version, body.forbidden_table)


def encode_group_table(table: SubscriptionGroupTable) -> bytes:
    """Return the body of 201."""
    return dumps(
        {
            "dataVersion": msgspec.to_builtins(table.data_version),
            "forbiddenTable": table.forbidden,
            "subscriptionGroupTable": {
                name: _group_members(config) for name, config in table.groups.items()
            },
        }
    )


def _group_members(config: SubscriptionGroupConfig) -> dict[str, Any]:
    return {
        "attributes": {},
        "brokerId": config.broker_id,
        "consumeBroadcastEnable": config.consume_broadcast_enable,
        "consumeEnable": config.consume_enable,
        "consumeFromMinEnable": config.consume_from_min_enable,
        "consumeMessageOrderly": config.consume_message_orderly,
        "consumeTimeoutMinute": config.consume_timeout_minute,
        "groupName": config.group,
        "groupRetryPolicy": {"type": "CUSTOMIZED"},
        "groupSysFlag": config.group_sys_flag,
        "notifyConsumerIdsChangedEnable": config.notify_consumer_ids_changed_enable,
        "retryMaxTimes": config.retry_max_times,
        "retryQueueNums": config.retry_queue_nums,
        "whichBrokerWhenConsumeSlowly": config.which_broker_when_consume_slowly,
    }


def group_document(
    config: SubscriptionGroupConfig, stored: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the document that changes a group as a broker has it to `config`.

    Members of the stored document that a configuration has no field for are kept, and
    so are the group's attributes: a document names only those that change.
    """
    kept = {key: value for key, value in stored.items() if key not in _CONFIGURED}
    return _group_members(config) | kept | {"attributes": {}}


def decode_group_list(data: bytes) -> list[str]:
    """Return group names (300)."""
    return _LIST.decode(data).group_list


def encode_group_list(groups: Sequence[str]) -> bytes:
    """Return the body of 300."""
    return dumps({"groupList": groups})


def decode_group_subscription(data: bytes) -> GroupSubscription:
    """Return how a group subscribes to a topic (345)."""
    body = _SUBSCRIPTION.decode(data)
    wire = body.subscription_data
    return GroupSubscription(body.group, body.topic, wire.model() if wire else None)


def encode_group_subscription(body: GroupSubscription) -> bytes:
    """Return the body of 345."""
    known = body.subscription
    return dumps(
        {
            "group": body.group,
            "subscriptionData": subscription_members(known) if known else None,
            "topic": body.topic,
        }
    )
