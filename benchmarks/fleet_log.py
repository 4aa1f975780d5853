"""What the fleet's `log` listeners were given, read from the logs of its workers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

QueueName: TypeAlias = tuple[str, int]
"""Broker, queue id."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One call of a listener, by the worker's log: seconds since 1970."""

    at_s: float
    queue: QueueName
    offset: int


class FleetLog:
    """One worker's log, read from where the last reading ended."""

    def __init__(self, path: Path, topic: str) -> None:
        self._path = path
        self._read = 0
        self._line = re.compile(
            rf"^(\S+ \S+) INFO dashboard\.fleet\.listeners topic={re.escape(topic)} "
            r"broker=(\S+) queue=(\d+) offset=(\d+) "
        )

    def read(self) -> list[Delivery]:
        """Return what whole lines have told since the last reading."""
        with self._path.open("rb") as log:
            log.seek(self._read)
            text = log.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._read += len(whole)
        return list(self._deliveries(whole.decode(errors="replace")))

    def _deliveries(self, text: str) -> Iterator[Delivery]:
        for line in text.splitlines():
            found = self._line.match(line)
            if found is not None:
                at, broker, queue, offset = found.groups()
                moment = datetime.strptime(at, "%Y-%m-%d %H:%M:%S,%f")  # noqa: DTZ007
                yield Delivery(moment.timestamp(), (broker, int(queue)), int(offset))
