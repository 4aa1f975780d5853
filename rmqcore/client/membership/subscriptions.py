"""One member's subscriptions: topics with tag expressions and their versions.

A broker keeps, per group and topic, the subscription with the newest version, whoever
sent it (E2), and refuses pulls whose version is newer than what it has. So a change
here must reach the brokers by heartbeat before the next pull.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from rmqcore.errors import ArgumentError
from rmqcore.model import SubscriptionData
from rmqcore.protocol.tags import parse_tag_expression


class Subscriptions:
    """Subscriptions of one member, by topic."""

    __slots__ = ("_by_topic",)

    def __init__(self) -> None:
        self._by_topic: dict[str, SubscriptionData] = {}

    @property
    def topics(self) -> Collection[str]:
        """The subscribed topics."""
        return self._by_topic.keys()

    @property
    def all(self) -> tuple[SubscriptionData, ...]:
        """Every subscription, in the order of subscribing."""
        return tuple(self._by_topic.values())

    def add(self, topic: str, expression: str, now_ms: int) -> None:
        """Subscribe to a topic: `*` for all of it, or tags joined by `||`."""
        if not topic:
            raise ArgumentError("a subscription needs a topic, got an empty one")
        self._by_topic[topic] = parse_tag_expression(topic, expression, now_ms)

    def remove(self, topic: str) -> None:
        """Unsubscribe from a topic."""
        self._by_topic.pop(topic, None)

    def of(self, topic: str) -> SubscriptionData | None:
        """Return the subscription of a topic, None when there is none."""
        return self._by_topic.get(topic)

    def renew(self, topics: Iterable[str], now_ms: int) -> None:
        """Give subscriptions a newer version, so that brokers accept ours again."""
        for topic in topics:
            known = self._by_topic.get(topic)
            if known is not None:
                version = max(now_ms, known.sub_version + 1)
                self._by_topic[topic] = replace(known, sub_version=version)
