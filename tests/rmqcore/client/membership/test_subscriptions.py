"""Subscriptions and their versions, which brokers compare (E2)."""

from __future__ import annotations

import pytest

from rmqcore.client.membership.subscriptions import Subscriptions
from rmqcore.errors import ArgumentError


@pytest.fixture
def subscriptions() -> Subscriptions:
    made = Subscriptions()
    made.add("T", "a || b", 100)
    made.add("U", "*", 101)
    return made


def test_tags_and_their_codes_are_kept(subscriptions: Subscriptions) -> None:
    found = subscriptions.of("T")
    assert found is not None
    assert (found.tags, found.codes) == ({"a", "b"}, {97, 98})
    assert found.sub_version == 100
    assert list(subscriptions.topics) == ["T", "U"]
    assert [each.topic for each in subscriptions.all] == ["T", "U"]


def test_a_topic_can_be_given_up(subscriptions: Subscriptions) -> None:
    subscriptions.remove("T")
    subscriptions.remove("unknown")
    assert subscriptions.of("T") is None


def test_subscribing_again_replaces(subscriptions: Subscriptions) -> None:
    subscriptions.add("T", "c", 200)
    found = subscriptions.of("T")
    assert found is not None
    assert (found.sub_string, found.sub_version) == ("c", 200)


def test_a_renewed_version_is_always_newer(subscriptions: Subscriptions) -> None:
    subscriptions.renew(["T", "U", "unknown"], 100)
    assert [each.sub_version for each in subscriptions.all] == [101, 102]
    subscriptions.renew(["T"], 500)
    assert [each.sub_version for each in subscriptions.all] == [500, 102]


@pytest.mark.parametrize(("topic", "expression"), [("", "*"), ("T", "||")])
def test_what_is_no_subscription_is_refused(topic: str, expression: str) -> None:
    with pytest.raises(ArgumentError):
        Subscriptions().add(topic, expression, 0)
