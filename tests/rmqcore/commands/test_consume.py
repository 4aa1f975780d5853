"""`python -m rmqcore consume`: its JSON lines, its options, its end."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from rmqcore.client import LockGained, LockLost, Producer, PullDelayed
from rmqcore.cluster import LocalCluster
from rmqcore.commands.consume import event_line, message_line, strategy_options
from rmqcore.errors import ArgumentError
from rmqcore.model import Message, MessageQueue
from tests.rmqcore.client.records import QUEUE, message

from .running import Consuming, cluster_of_t, run_command, start_command

__all__ = ["cluster_of_t"]

G_ON_T = ("--group", "G", "--topic", "T", "--from", "first")


async def consuming(cluster: LocalCluster, *arguments: str) -> Consuming:
    process = await start_command("consume", cluster, *G_ON_T, *arguments)
    started = Consuming(process)
    await started.until("allocation")
    return started


async def produce(cluster: LocalCluster, *messages: Message) -> None:
    async with Producer(cluster.nameserver_address) as producer:
        for each in messages:
            await producer.send(each)


async def test_allocation_messages_and_commits_are_printed(
    cluster_of_t: LocalCluster,
) -> None:
    running = await consuming(cluster_of_t)
    allocated = next(a for a in running.of("allocation") if a["topic"] == "T")
    assert allocated["queues"] == [["broker-a", number] for number in range(4)]
    await produce(cluster_of_t, Message.of("T", b"hello", tags="t", keys=["k1", "k2"]))
    (line,) = await running.until("message")
    assert line["body"] == "hello"
    assert (line["broker"], line["offset"], line["times"]) == ("broker-a", 0, 0)
    assert (line["keys"], line["tags"]) == (["k1", "k2"], "t")
    assert await running.stop() == 0
    committed = [c for c in running.of("commit") if c["topic"] == "T"]
    assert (line["queue_id"], 1) in {(c["queue_id"], c["offset"]) for c in committed}


async def test_two_processes_divide_and_hand_over(cluster_of_t: LocalCluster) -> None:
    first = await consuming(cluster_of_t, "--instance-name", "a")
    second = await consuming(cluster_of_t, "--instance-name", "b")
    await first.until_part(0, 1)
    await second.until_part(2, 3)
    assert await first.stop(signal.SIGINT) == 0
    await second.until_part(0, 1, 2, 3)
    assert await second.stop() == 0


async def test_it_ends_by_itself_after_as_many_as_asked(
    cluster_of_t: LocalCluster,
) -> None:
    await produce(cluster_of_t, *[Message("T", b"x")] * 5)
    code, lines, _ = await run_command(
        "consume", cluster_of_t, *G_ON_T, "--count", "5", "--quiet", "--orderly"
    )
    assert code == 0
    assert not [line for line in lines if '"message"' in line]


async def test_broadcasting_keeps_its_offsets_where_told(
    cluster_of_t: LocalCluster, tmp_path: Path
) -> None:
    await produce(cluster_of_t, Message("T", b"x"))
    code, _, _ = await run_command(
        "consume",
        cluster_of_t,
        *G_ON_T,
        *("--mode", "broadcasting", "--offsets-dir", str(tmp_path), "--count", "1"),
        *("--client-ip", "10.1.1.1", "--work-ms", "1"),
    )
    assert code == 0
    assert (tmp_path / "10.1.1.1@DEFAULT" / "G" / "offsets.json").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--strategy", "NO_SUCH"], "unknown allocation strategy 'NO_SUCH'"),
        (["--strategy-options", "{"], "strategy options"),
        (["--fail-rate", "2"], "--fail-rate is 2.0, allowed 0 to 1"),
        (["--threads", "0"], "threads is 0"),
        (["--tag", "||"], "tag expression"),
    ],
)
async def test_wrong_options_are_named(
    cluster_of_t: LocalCluster, arguments: list[str], words: str
) -> None:
    code, lines, errors = await run_command(
        "consume", cluster_of_t, *G_ON_T, *arguments
    )
    assert (code, lines) == (2, [])
    assert words in errors
    assert "Traceback" not in errors


# Lines


def test_a_body_that_is_no_text_is_printed_in_base64() -> None:
    line = message_line(message(1, body=b"\xff\x00"), 5)
    assert "body" not in line
    assert (line["body_base64"], line["at"]) == ("/wA=", 5)


@pytest.mark.parametrize(
    ("event", "name"),
    [
        (LockGained("G", "c", 5, QUEUE), "lock_gained"),
        (LockLost("G", "c", 5, QUEUE), "lock_lost"),
        (PullDelayed("G", "c", 5, QUEUE, "full"), "pull_delayed"),
    ],
)
def test_events_of_a_queue_name_it(
    event: LockGained | LockLost | PullDelayed, name: str
) -> None:
    line = event_line(event)
    assert line["event"] == name
    assert (line["topic"], line["broker"], line["queue_id"]) == ("T", "broker-a", 0)
    assert (line["at"], line["client_id"]) == (5, "c")


def test_strategy_options_are_json() -> None:
    assert strategy_options('{"virtual_nodes": 20}') == {"virtual_nodes": 20}
    assert strategy_options('{"config": [["T", "b", 1]]}') == {
        "config": [MessageQueue("T", "b", 1)]
    }


@pytest.mark.parametrize("text", ["[]", "{", '{"config": 1}', '{"config": [["T", 1]]}'])
def test_other_options_are_refused(text: str) -> None:
    with pytest.raises(ArgumentError):
        strategy_options(text)
