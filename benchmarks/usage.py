"""Names, time, processor and memory of a process and its descendants, by `/proc`."""

from __future__ import annotations

import os
import re
import threading
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Final

PAGE: Final = os.sysconf("SC_PAGE_SIZE")
TICKS: Final = os.sysconf("SC_CLK_TCK")
EVERY_SECONDS: Final = 0.2
_HOSTNAME: Final = re.compile(r"--hostname\s(\S+)@")
_WORDS: Final = {
    "dashboard.config.web": "web",
    "dashboard.reports.maker": "files",
    "beat": "beat",
    "dashboard.supervisor": "supervisor",
    "dashboard": "supervisor",
    "dashboard.supervisor.forking": "template",
    "analytics": "analytics-child",
    "cluster": "embedded-cluster",
    "produce": "traffic",
    "valkey-server": "state",
    "analytics.python_workers": "spark-python",
    "java": "spark-java",
}

Name = tuple[int, str]
"""A process: its id and when it began, for ids are used again."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a span of work took: seconds by the clock, of processors, peak bytes."""

    clock: float
    cpu: float
    peak: int


class Watch:
    """Measures from entry to exit; everything is sampled five times a second.

    Pages that several processes share are counted for each of them. A process that
    ended counts with what it had used when it was last seen: nobody may have waited
    for it (a JVM outlives the Python that started it), and then no parent knows.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0
        self._used: dict[Name, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> Watch:
        before = processor_seconds(self._pid)
        self._before = sum(before.values())
        self._used.update(before)
        self._began = perf_counter()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()
        clock = perf_counter() - self._began
        self._used.update(processor_seconds(self._pid))
        self.usage = Usage(clock, sum(self._used.values()) - self._before, self._peak)

    def _sample(self) -> None:
        while True:
            self._peak = max(self._peak, resident_bytes(self._pid))
            self._used.update(processor_seconds(self._pid))
            if self._ended.wait(EVERY_SECONDS):
                return


def processor_seconds(pid: int) -> dict[Name, float]:
    """Return what a process and each of its living descendants used itself."""
    used = {}
    for each in family(pid):
        fields = _stat(each)
        if fields:
            ticks = int(fields[11]) + int(fields[12])
            used[each, fields[19]] = ticks / TICKS
    return used


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process and its descendants."""
    pages = 0
    for each in family(pid):
        fields = _stat(each)
        pages += int(fields[21]) if fields else 0
    return pages * PAGE


def family(pid: int) -> list[int]:
    """Return a process and its living descendants."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            fields = _stat(int(entry.name))
            if fields:
                children[int(fields[1])].append(int(entry.name))
    found = [pid]
    for each in found:
        found.extend(children[each])
    return found


def process_name(pid: int) -> str:
    """Return what a process of the stack is called, by its command.

    Raises `OSError` when it is gone.
    """
    words = Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace").split("\0")
    worker = _HOSTNAME.search(" ".join(words))
    if worker is not None:
        return worker[1]
    for word in words:
        short = word.partition(" ")[0].rsplit("/", 1)[-1]
        if short in _WORDS:
            return _WORDS[short]
    return words[0].rsplit("/", 1)[-1] or str(pid)


def began(pid: int) -> str:
    """Return when a process began, which tells it from a later one of the same id.

    Empty when it has ended.
    """
    fields = _stat(pid)
    return fields[19] if fields and fields[0] != "Z" else ""


def _stat(pid: int) -> list[str]:
    """Return the fields of `/proc/<pid>/stat` after the name; none when it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return text.rpartition(")")[2].split()
