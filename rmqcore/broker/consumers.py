"""The consumers: groups, their members and their subscriptions, from heartbeats.

Theory (behaviour E1-E6). The table is keyed by group name alone. A group has one
subscription per topic, shared by all of its members, and one entry per connected
channel. A heartbeat does three things, in this order:

1. consume type, mode and start position of the group become the heartbeat's;
2. the channel is added, or its time is renewed: channels live side by side, so two
   processes with one client id are two members of that name;
3. subscriptions: a topic not yet known is added; a known one is replaced only by a
   newer version, whoever sends it; and every topic that the heartbeat does not list is
   removed, even when another member still reads it.

The members must be told of a new channel and of a topic added or removed, but not of a
replaced tag expression. Members of broadcasting groups are never told: nothing is
divided among them.

No IO and no clock: times are arguments in ms, and what must be sent is returned. The
cost of a heartbeat grows with the number of its subscriptions, that of a lost channel
with the number of its groups, that of a scan for expired channels with the number of
channels.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from rmqcore.model import (
    ConsumeFromWhere,
    ConsumerData,
    ConsumeType,
    MessageModel,
    SubscriptionData,
)

CHANNEL_EXPIRY_MS: Final = 120_000
"""A client that is silent for this long counts as gone."""

ChannelT = TypeVar("ChannelT", bound=Hashable)


@dataclass(slots=True)
class ClientChannel(Generic[ChannelT]):
    """One client on one channel, as it introduced itself."""

    channel: ChannelT
    client_id: str
    language: int | str
    version: int
    last_update_ms: int = 0


@dataclass(frozen=True, slots=True)
class ChangeNotice(Generic[ChannelT]):
    """Members of `group` that must be told that its members or topics changed."""

    group: str
    channels: tuple[ChannelT, ...]


@dataclass(slots=True)
class ConsumerGroup(Generic[ChannelT]):
    """The broker's knowledge of one group while at least one member is connected."""

    name: str
    consume_type: ConsumeType
    message_model: MessageModel
    consume_from_where: ConsumeFromWhere
    subscriptions: dict[str, SubscriptionData] = field(default_factory=dict)
    members: dict[ChannelT, ClientChannel[ChannelT]] = field(default_factory=dict)

    @property
    def client_ids(self) -> list[str]:
        """One entry per channel: a client id shared by two processes appears twice."""
        return [member.client_id for member in self.members.values()]

    def member(self, client_id: str) -> ClientChannel[ChannelT] | None:
        """Return the first member of that client id, or None."""
        members = self.members.values()
        return next((m for m in members if m.client_id == client_id), None)

    def notice(self) -> ChangeNotice[ChannelT] | None:
        """Return the members to tell of a change; None in a broadcasting group."""
        if self.message_model is MessageModel.BROADCASTING:
            return None
        return ChangeNotice(self.name, tuple(self.members))

    def update_member(self, client: ClientChannel[ChannelT], now_ms: int) -> bool:
        """Add the client or renew its time; true when its channel is new."""
        known = self.members.get(client.channel)
        if known is None or known.client_id != client.client_id:
            self.members[client.channel] = client
        else:
            known.language, known.version = client.language, client.version
            client = known
        client.last_update_ms = now_ms
        return known is None

    def update_subscriptions(self, listed: Iterable[SubscriptionData]) -> bool:
        """Apply a heartbeat's subscriptions; true when the set of topics changed."""
        table = self.subscriptions
        topics = set()
        changed = False
        for data in listed:
            topics.add(data.topic)
            known = table.get(data.topic)
            if known is None:
                changed = True
            elif data.sub_version <= known.sub_version:
                continue
            table[data.topic] = data
        for topic in table.keys() - topics:
            del table[topic]
            changed = True
        return changed


class ConsumerTable(Generic[ChannelT]):
    """Groups by name. A group exists from its first heartbeat to its last channel."""

    def __init__(self) -> None:
        self._groups: dict[str, ConsumerGroup[ChannelT]] = {}
        self._groups_of: dict[ChannelT, set[str]] = {}

    def group(self, name: str) -> ConsumerGroup[ChannelT] | None:
        """Return the group, or None while none of its members is connected."""
        return self._groups.get(name)

    def groups(self) -> list[ConsumerGroup[ChannelT]]:
        """Return the groups with connected members."""
        return list(self._groups.values())

    def groups_reading(self, topic: str) -> list[str]:
        """Return the names of the connected groups that subscribe to `topic`."""
        groups = self._groups.values()
        return [group.name for group in groups if topic in group.subscriptions]

    def register(
        self, data: ConsumerData, client: ClientChannel[ChannelT], now_ms: int
    ) -> ChangeNotice[ChannelT] | None:
        """Apply one group of a heartbeat; return the notice to send, if any."""
        group = self._groups.get(data.group)
        if group is None:
            group = self._groups[data.group] = ConsumerGroup(
                data.group,
                data.consume_type,
                data.message_model,
                data.consume_from_where,
            )
        group.consume_type = data.consume_type
        group.message_model = data.message_model
        group.consume_from_where = data.consume_from_where
        is_new = group.update_member(client, now_ms)
        if is_new:
            self._groups_of.setdefault(client.channel, set()).add(data.group)
        topics_changed = group.update_subscriptions(data.subscriptions)
        return group.notice() if is_new or topics_changed else None

    def unregister(
        self, group_name: str, channel: ChannelT
    ) -> ChangeNotice[ChannelT] | None:
        """Take a channel out of one group; return the notice to send.

        Members are told even when the channel was not one of them, as in RocketMQ.
        """
        group = self._groups.get(group_name)
        if group is None:
            return None
        self._remove(group, channel)
        return group.notice()

    def close(self, channel: ChannelT) -> list[ChangeNotice[ChannelT]]:
        """Take a lost channel out of every group; return the notices to send."""
        notices = []
        for name in sorted(self._groups_of.get(channel, ())):
            group = self._groups[name]
            self._remove(group, channel)
            notices.append(group.notice())
        return [notice for notice in notices if notice is not None]

    def expired(self, now_ms: int) -> list[ChannelT]:
        """Return the channels silent for more than 120 s; the caller closes them."""
        limit = now_ms - CHANNEL_EXPIRY_MS
        silent: dict[ChannelT, None] = {}
        for group in self._groups.values():
            for member in group.members.values():
                if member.last_update_ms < limit:
                    silent[member.channel] = None
        return list(silent)

    def _remove(self, group: ConsumerGroup[ChannelT], channel: ChannelT) -> None:
        if group.members.pop(channel, None) is not None:
            names = self._groups_of[channel]
            names.discard(group.name)
            if not names:
                del self._groups_of[channel]
        if not group.members:
            del self._groups[group.name]
