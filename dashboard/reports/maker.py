"""The process that makes files of reports: `python -m dashboard.reports.maker`.

It reads wishes as JSON lines from its standard input and says on its standard output
when each is done (see `making`, and `jobs.child` for the events). It ends at once with
its input, whatever it is doing, and when nothing has come for a while.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import resource
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

logger = logging.getLogger(__name__)

COMMAND: Final = (sys.executable, "-m", "dashboard.reports.maker")
MISSING: Final = "missing"
IDLE_SECONDS: Final = 60.0
MEMORY_BYTES: Final = 2 * 1024**3
"""Beyond what the process has once it is loaded, some 1.5 GB of address space."""

Wish = Mapping[str, Any]


def make_file(wish: Wish) -> None:
    """Make the file of a wish, in its language and zone, at its path."""
    from django.utils import timezone, translation

    from dashboard.models import JobRun
    from dashboard.reports.report import Report, View
    from dashboard.reports.writers.formats import FORMATS, FileOptions, table_named

    zone = ZoneInfo(wish["zone"])
    with translation.override(wish["language"]), timezone.override(zone):
        run = JobRun.objects.get(pk=wish["run"])
        report = Report(run, zone, wish["zone_name"], View(**wish["view"]))
        options = FileOptions(table_named(report, wish["table"]), wish["paper"])
        FORMATS[wish["form"]].write(report, Path(wish["path"]), options)


def ending_of(wish: Wish, make: Callable[[Wish], None] = make_file) -> dict[str, str]:
    """Make a file, and return the event that says how it ended."""
    from dashboard.reports.data.results import NoResultError

    try:
        make(wish)
    except (NoResultError, FileNotFoundError) as error:
        return {"event": "failed", "kind": MISSING, "error": str(error)}
    except MemoryError:
        limit = f"{MEMORY_BYTES // 1024**2} MB"
        return {"event": "failed", "error": f"the file needs more than {limit}"}
    except Exception as error:
        # Whatever prevents one file is told to who asked; the next must still be made.
        logger.exception("run=%s format=%s not made", wish["run"], wish["form"])
        return {"event": "failed", "error": str(error) or type(error).__name__}
    return {"event": "done"}


def main() -> None:
    """Make files until the input ends or nothing has come for a while."""
    import django
    from django.db import close_old_connections

    # Ctrl-C in the parent's terminal is the parent's to act on.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    events = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints must not mix with events
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.config.settings")
    django.setup()
    limit_memory(MEMORY_BYTES)
    while True:
        try:
            message = json.loads(lines.get(timeout=IDLE_SECONDS))
        except queue.Empty:
            return
        close_old_connections()
        ending = ending_of(message["request"])
        events.write(json.dumps({**ending, "id": message["id"]}) + "\n")


def limit_memory(more: int) -> None:
    """Let this process take so many bytes more; beyond them it gets a MemoryError."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except FileNotFoundError:  # no Linux
        return
    most = pages * resource.getpagesize() + more
    _soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _read(lines: queue.Queue[str]) -> None:
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)  # a writer that is stuck must not outlive the parent


if __name__ == "__main__":
    main()
