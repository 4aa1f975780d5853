"""The commands that serve, as processes of their own."""

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rmqcore.__main__ import COMMANDS, main
from rmqcore.protocol.codes import RequestCode as Code
from tests.support.process import Process

from .broker.peer import Peer


class Served:
    """A command that has printed its line of addresses."""

    def __init__(self, directory: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "rmqcore", *arguments]
        self.process = Process(command, log=directory / "log", piped=True)
        line = self.process.stdout.readline()
        assert line, self.process.tail()
        self.addresses: dict[str, Any] = json.loads(line)

    def end(self, number: int) -> int | None:
        self.process.signal(number)
        return self.process.wait(60)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Any]:
    """Start commands; what is left at the end is killed."""
    running: list[Served] = []

    def start(*arguments: str) -> Served:
        running.append(Served(tmp_path / str(len(running)), *arguments))
        return running[-1]

    yield start
    for each in running:
        each.process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_cluster_serves_until_it_is_told_to_stop(
    tmp_path: Path, served: Any, number: int
) -> None:
    options = ("--nameserver-port", "0", "--brokers", "2", "--topic", "T:3")
    cluster = served("cluster", *options, "--store", str(tmp_path / "store"))
    assert cluster.addresses["topics"] == ["T"]
    assert set(cluster.addresses["brokers"]) == {"broker-a", "broker-b"}
    peer = await Peer.connected(cluster.addresses["nameserver"])
    await peer.ok(Code.GET_ROUTEINFO_BY_TOPIC, {"topic": "T"})
    await peer.close()
    assert cluster.end(number) == 0
    assert (tmp_path / "store/broker-a/checkpoint.json").exists()


async def test_name_server_and_broker_as_two_processes(
    tmp_path: Path, served: Any
) -> None:
    nameserver = served("nameserver", "--listen", "127.0.0.1:0")
    address = nameserver.addresses["nameserver"]
    options = ("--nameserver", address, "--listen", "127.0.0.1:0", "--sync-flush")
    store = ("--store", str(tmp_path / "store"))
    broker = served("broker", *options, *store, "--name", "b1", "--cluster", "c1")
    assert broker.addresses["broker"] == "b1"
    peer = await Peer.connected(broker.addresses["address"])
    assert (await peer.send()).code == 0
    await peer.close()
    peer = await Peer.connected(address)
    response = await peer.ok(Code.GET_BROKER_CLUSTER_INFO)
    assert b'"c1":["b1"]' in response.body
    assert broker.end(signal.SIGTERM) == 0
    response = await peer.ok(Code.GET_BROKER_CLUSTER_INFO)
    assert b"b1" not in response.body
    await peer.close()
    assert nameserver.end(signal.SIGTERM) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cluster", "--topic", "T"], "topic 'T' is not of the form NAME:QUEUES"),
        (["cluster", "--topic", ":3"], "topic ':3' is not of the form"),
        (["cluster", "--topic", "T:x"], "topic 'T:x' is not of the form"),
        (["cluster", "--topic", "T:0"], "topic T with 0 queues, allowed 1 to 10000"),
        (["cluster", "--nameserver-port", "0", "--brokers", "99"], "99 brokers"),
        (["cluster", "--store-mb", "63"], "a store of 63 MB, at least 64"),
        (["nameserver", "--listen", "x"], "address 'x' is not of the form host:port"),
    ],
)
def test_wrong_arguments_give_one_clear_sentence(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"rmqcore {arguments[0]}: ")
    assert words in error
    assert error.count("\n") == 1


def test_a_store_in_use_is_one_clear_sentence(
    tmp_path: Path, served: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--nameserver-port", "0", "--store", str(tmp_path)]
    served("cluster", *options)
    assert main(["cluster", *options]) == 2
    assert "is in use by another process" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["--topic", "cluster"]])
def test_a_command_must_be_chosen(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: python -m rmqcore" in capsys.readouterr().err


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert all(command in shown for command in COMMANDS)


def test_help_of_a_command_names_its_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["cluster", "--help"])
    assert "--nameserver-port" in capsys.readouterr().out
