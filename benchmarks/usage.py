"""Time, processor and memory of a process and all its descendants, from `/proc`."""

from __future__ import annotations

import os
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


@dataclass(frozen=True, slots=True)
class Usage:
    """What a span of work took: seconds by the clock, of processors, peak bytes."""

    clock: float
    cpu: float
    peak: int


class Watch:
    """Measures from entry to exit; memory is sampled five times a second.

    Pages that several processes share are counted for each of them.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> Watch:
        self._cpu = processor_seconds(self._pid)
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
        self.usage = Usage(
            perf_counter() - self._began,
            processor_seconds(self._pid) - self._cpu,
            self._peak,
        )

    def _sample(self) -> None:
        while True:
            self._peak = max(self._peak, resident_bytes(self._pid))
            if self._ended.wait(EVERY_SECONDS):
                return


def processor_seconds(pid: int) -> float:
    """Return what a process and its descendants used, ended ones included."""
    ticks = 0
    for each in family(pid):
        fields = _stat(each)
        ticks += sum(map(int, fields[11:15])) if fields else 0
    return ticks / TICKS


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


def _stat(pid: int) -> list[str]:
    """Return the fields of `/proc/<pid>/stat` after the name; none when it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return text.rpartition(")")[2].split()
