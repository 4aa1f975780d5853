"""`python -m rmqcore produce`, as a process against a real cluster."""

from __future__ import annotations

import argparse
import json

import pytest

from rmqcore.cluster import LocalCluster
from rmqcore.commands.produce import make_key, make_message
from rmqcore.errors import ArgumentError

from .running import cluster_of_t, run_command

__all__ = ["cluster_of_t"]


@pytest.mark.parametrize(
    ("pattern", "key"),
    [
        ("", ""),
        ("fixed", "fixed"),
        ("k{n}", "k17"),
        ("k{n%10}", "k7"),
        ("{n%3}-{n}", "2-17"),
        ("}", "}"),
    ],
)
def test_a_key_is_made_from_the_number(pattern: str, key: str) -> None:
    assert make_key(pattern, 17) == key


@pytest.mark.parametrize(
    "pattern", ["{x}", "{n%0}", "{n%a}", "{n", "{}", "{n.__init__}"]
)
def test_other_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(ArgumentError, match="key pattern"):
        make_key(pattern, 17)


def options(**changed: object) -> argparse.Namespace:
    given = {"topic": "T", "size": 0, "key_pattern": "", "tag": "", "delay_level": 0}
    return argparse.Namespace(**{**given, "hot": 0.0, **changed})


def test_a_body_is_the_number_or_as_long_as_asked() -> None:
    assert make_message(options(), 17).body == b"17"
    assert make_message(options(size=5), 17).body == b"17..."
    assert make_message(options(size=1), 17).body == b"1"


def test_tag_key_and_delay_are_set() -> None:
    message = make_message(options(tag="t", key_pattern="k{n}", delay_level=3), 17)
    assert (message.tags, message.keys) == ("t", ("k17",))
    assert message.properties["DELAY"] == "3"


def test_a_share_of_the_messages_has_one_key() -> None:
    args = options(key_pattern="k{n}", hot=0.7)
    keys = [make_message(args, number).keys[0] for number in range(100)]
    assert keys.count("k0") == 71, "message 0 has that key anyway"
    assert len(set(keys)) == 30


async def test_messages_are_sent_and_counted(cluster_of_t: LocalCluster) -> None:
    code, lines, _ = await run_command(
        "produce", cluster_of_t, "--topic", "T", "--count", "20"
    )
    (report,) = map(json.loads, lines)
    assert code == 0
    assert (report["event"], report["sent"], report["failed"]) == ("sent", 20, 0)


async def test_orderly_sends_keep_a_key_in_one_queue(
    cluster_of_t: LocalCluster,
) -> None:
    arguments = (
        "--count",
        "6",
        "--orderly",
        "--key-pattern",
        "k{n%2}",
        "--rate",
        "999",
    )
    code, lines, _ = await run_command(
        "produce", cluster_of_t, "--topic", "T", *arguments
    )
    assert code == 0
    store = cluster_of_t.brokers["broker-a"].state.store
    ends = [store.max_offset("T", queue_id) for queue_id in range(4)]
    assert sorted(ends) == [0, 0, 3, 3]
    assert json.loads(lines[0])["sent"] == 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--count", "-1"], "--count is -1, must be at least 0"),
        (["--orderly"], "--orderly needs --key-pattern"),
        (["--key-pattern", "{x}"], "neither {n} nor {n%M}"),
        (["--hot", "1.5"], "--hot is 1.5, allowed 0 to 1"),
    ],
)
async def test_wrong_options_are_named(
    cluster_of_t: LocalCluster, arguments: list[str], words: str
) -> None:
    code, lines, errors = await run_command(
        "produce", cluster_of_t, "--topic", "T", *arguments
    )
    assert (code, lines) == (2, [])
    assert words in errors
    assert "Traceback" not in errors
