from __future__ import annotations

import pytest

from dashboard.live.messages import (
    MAX_MESSAGE_CHARS,
    MessageError,
    Ping,
    Unwatch,
    Watch,
    parse_message,
)

CLUSTERS = {"east", "west"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"op":"ping"}', Ping()),
        ('{"op":"watch","cluster":"east"}', Watch("east")),
        ('{"op":"watch","cluster":"east","group":"g"}', Watch("east", "g")),
        ('{"op":"unwatch","cluster":"west","group":"g"}', Unwatch("west", "g")),
    ],
)
def test_reads_each_operation(text: str, expected: object) -> None:
    assert parse_message(text, CLUSTERS) == expected


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{", "not JSON"),
        ("[]", "[]"),
        ("{}", "op is None"),
        ('{"op":"sing"}', "op is 'sing', expected one of watch, unwatch, ping"),
        ('{"op":["watch"]}', "op is ['watch']"),
        ('{"op":"watch"}', "unknown cluster None; configured: east, west"),
        ('{"op":"watch","cluster":"north"}', "unknown cluster 'north'"),
        ('{"op":"watch","cluster":{"a":1}}', "unknown cluster {'a': 1}"),
        ('{"op":"watch","cluster":"east","group":7}', "group is 7"),
    ],
)
def test_names_what_is_wrong(text: str, named: str) -> None:
    with pytest.raises(MessageError) as caught:
        parse_message(text, CLUSTERS)
    assert named in str(caught.value)


def test_refuses_a_long_message_with_its_length_and_the_limit() -> None:
    with pytest.raises(
        MessageError, match=f"5000 characters, limit {MAX_MESSAGE_CHARS}"
    ):
        parse_message(" " * 5000, CLUSTERS)


def test_refuses_a_long_group_name() -> None:
    text = '{"op":"watch","cluster":"east","group":"%s"}' % ("g" * 256)
    with pytest.raises(MessageError, match="256 characters, limit 255"):
        parse_message(text, CLUSTERS)


def test_shortens_what_it_repeats() -> None:
    with pytest.raises(MessageError) as caught:
        parse_message('{"op":"%s"}' % ("x" * 1000), CLUSTERS)
    assert len(str(caught.value)) < 150


def test_labs_are_watched_by_cluster() -> None:
    text = '{"op": "watch", "cluster": "east", "labs": true}'
    assert parse_message(text, {"east"}) == Watch("east", labs=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"op": "watch", "cluster": "east", "labs": 1}', "labs is 1, expected true"),
        (
            '{"op": "watch", "cluster": "east", "labs": true, "group": "g"}',
            "expected one of them",
        ),
    ],
)
def test_a_wrong_watch_of_labs_is_named(text: str, words: str) -> None:
    with pytest.raises(MessageError, match=words):
        parse_message(text, {"east"})
