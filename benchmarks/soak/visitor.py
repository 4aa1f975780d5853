"""A person who looks at everything, again and again, and asks for reports."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import quote

from benchmarks.session import Session

FORMATS: Final = ("csv", "xlsx", "parquet", "html", "pdf")
FAILED: Final = 500
ACTIVE: Final = frozenset({"queued", "running"})


@dataclass
class Visits:
    """How often each kind of page was looked at, and what failed."""

    looked: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)


class Visitor:
    """Looks at the pages of a cluster in turn, in a thread, until told to stop.

    Every `report_every_s` it asks for a report of each group with files of all forms,
    and looks at the reports that are there.
    """

    def __init__(
        self,
        session: Session,
        cluster: str,
        groups: Sequence[str],
        *,
        report_every_s: float,
        pause_s: float = 0.2,
    ) -> None:
        self.visits = Visits()
        self._session = session
        self._cluster = cluster
        self._groups = tuple(groups)
        self._every = timedelta(seconds=report_every_s)
        self._pause_s = pause_s
        self._asked_at = datetime.min.replace(tzinfo=UTC)
        self._asked = 0
        self.has_seen_report = threading.Event()
        """Set once every page, figure and file of a report was looked at."""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._walk, daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the page that is being looked at."""
        self._stopping.set()
        self._thread.join()

    def _walk(self) -> None:
        while not self._stopping.is_set():
            for kind, path in self._pages():
                self._look(kind, path)
                if self._stopping.wait(self._pause_s):
                    return
            self._ask_for_report(datetime.now(UTC))

    def _pages(self) -> Iterator[tuple[str, str]]:
        here = f"/clusters/{quote(self._cluster)}"
        yield from (
            ("home", "/"),
            ("cluster", f"{here}/"),
            ("groups", f"{here}/groups/"),
            ("sheet", f"{here}/whatif/"),
            ("timers", "/timers/"),
            ("reports", "/reports/"),
            ("metrics", "/metrics"),
        )
        for group in self._groups:
            base = f"{here}/groups/{quote(group)}"
            yield from (
                ("group", f"{base}/"),
                ("members", f"{base}/members/"),
                ("timeline", f"{base}/timeline/?minutes=60"),
                ("what-if", f"{base}/whatif/"),
                ("document", f"/api/v1{base}"),
                ("findings", f"/api/v1{base}/findings"),
            )
        yield from self._report_pages()

    def _report_pages(self) -> Iterator[tuple[str, str]]:
        for run in self._runs()[:3]:
            if run["state"] != "done":
                continue
            pk = run["id"]
            yield "report", f"/reports/{pk}/"
            yield "facts", f"/api/v1/reports/runs/{pk}/facts"
            for name in ("lag", "queues", "skew", "strategies", "members"):
                yield "figure", f"/api/v1/reports/runs/{pk}/figures/{name}"
            for form in FORMATS:
                yield "download", f"/api/v1/reports/runs/{pk}/download/{form}"
            self.has_seen_report.set()

    def _runs(self) -> list[dict[str, Any]]:
        status, body = self._get("runs", "/api/v1/reports/runs?limit=10")
        return list(json.loads(body)) if status == 200 else []

    def _ask_for_report(self, now: datetime) -> None:
        if now < self._asked_at + self._every:
            return
        if any(run["state"] in ACTIVE for run in self._runs()):
            return
        group = self._groups[self._asked % len(self._groups)]
        self._asked += 1
        self._asked_at = now
        wish = {
            "cluster": self._cluster,
            "group": group,
            "since": (now - timedelta(hours=1)).isoformat(),
            "until": now.isoformat(),
            "formats": FORMATS,
        }
        status, _ = self._session.post("/api/v1/reports/runs", wish)
        self._note("report asked for", status)

    def _look(self, kind: str, path: str) -> None:
        self._get(kind, path)

    def _get(self, kind: str, path: str) -> tuple[int, bytes]:
        try:
            status, body = self._session.get(path)
        except OSError as error:
            self.visits.failed[f"{kind}: {type(error).__name__}"] += 1
            return 0, b""
        self._note(kind, status)
        return status, body

    def _note(self, kind: str, status: int) -> None:
        self.visits.looked[kind] += 1
        if status >= FAILED:
            self.visits.failed[f"{kind}: {status}"] += 1
