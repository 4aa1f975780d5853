"""Our own command line, as a user runs it: clusters, consumers and producers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from .java_driver import Queue
from .json_lines import JsonLines

_RMQCORE: Final = (sys.executable, "-m", "rmqcore")
_ROOT: Final = Path(__file__).parents[2]


class OurCommand(JsonLines):
    """One `python -m rmqcore …` with its JSON lines."""

    def __init__(self, directory: Path, *arguments: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        super().__init__(
            [*_RMQCORE, *arguments],
            log=directory / "stderr",
            env={"PYTHONPATH": str(_ROOT), "HOME": str(directory)},
        )


class OurCluster(OurCommand):
    """The embedded cluster in a process of its own; topics are `NAME:QUEUES`."""

    def __init__(
        self,
        directory: Path,
        *,
        brokers: int = 1,
        topics: Sequence[str] = (),
        options: Sequence[str] = (),
    ) -> None:
        super().__init__(
            directory,
            *("cluster", "--nameserver-port", "0", "--brokers", str(brokers)),
            *(word for topic in topics for word in ("--topic", topic)),
            *options,
        )
        ready = self.wait_for(lambda line: "nameserver" in line)
        self.nameserver = str(ready["nameserver"])
        self.brokers: dict[str, str] = ready["brokers"]


class OurConsumer(OurCommand):
    """A push consumer that starts at the first message of each queue."""

    def __init__(
        self,
        directory: Path,
        nameserver: str,
        *,
        group: str,
        topic: str,
        **options: str,
    ) -> None:
        words = [
            word
            for name, value in options.items()
            for word in (f"--{name.replace('_', '-')}", value)
        ]
        super().__init__(
            directory,
            *("consume", "--nameserver", nameserver, "--group", group),
            *("--topic", topic, "--from", "first", *words),
        )
        self._topic = topic

    def messages(self) -> list[dict[str, Any]]:
        """Return what was delivered so far."""
        return self.events("message")

    def queues(self) -> list[Queue]:
        """Return what the consumer owned when that last changed."""
        allocations = [
            event
            for event in self.events("allocation")
            if event["topic"] == self._topic
        ]
        if not allocations:
            return []
        return [
            (self._topic, broker, int(queue_id))
            for broker, queue_id in sorted(allocations[-1]["queues"])
        ]


def produce(
    directory: Path, nameserver: str, *, topic: str, count: int, **options: str
) -> None:
    """Send messages with our producer; return when all are acknowledged."""
    with OurCommand(
        directory,
        *("produce", "--nameserver", nameserver, "--topic", topic),
        *("--count", str(count), *_words(options)),
    ) as command:
        report = command.wait_for(lambda line: "sent" in line)
        if report["sent"] != count or report.get("failed"):
            raise RuntimeError(f"not all of {count} were sent: {report}")


def _words(options: Mapping[str, str]) -> list[str]:
    return [
        word
        for name, value in options.items()
        for word in (f"--{name.replace('_', '-')}", value)
    ]
