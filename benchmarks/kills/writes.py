"""Writes of a person that were acknowledged, and whether each of them is kept.

Each write has a name of its own, by which it is found again: a scenario's name, or the
reason that the audit keeps. A write without an answer may be there or not.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Final
from urllib.parse import quote, urlencode

from benchmarks.session import Session

CLUSTER: Final = "embedded"
SCENARIO_EVERY_S: Final = 2.0
MOST_SCENARIOS: Final = 1900
RUNS_KEPT: Final = 20
"""Of each lab; only one lab is played."""
A_GROUP: Final = 150
"""So many scenarios are saved for one group: a user keeps 200 of each."""
FEWEST, MOST = 2, 5
STRATEGIES: Final = ("AVG_BY_CIRCLE", "AVG")
ENDED: Final = frozenset({"done", "failed", "cancelled"})
_API: Final = f"/api/v1/clusters/{CLUSTER}"


@dataclass(frozen=True, slots=True)
class Write:
    """One acknowledged write: what it was, its name, after which kill it was made.

    `id` is the number of a report, a change or a run of a lab.
    """

    what: str
    name: str
    after: int
    id: int = 0


@dataclass(frozen=True, slots=True)
class Seen:
    """What is there at the end, as pages and REST tell it."""

    audit: Sequence[Mapping[str, Any]]
    scenarios: frozenset[str]
    changes: frozenset[int]
    states: Mapping[tuple[str, int], str]
    """Of reports and labs, by what they are and their number."""


def kept_labs(writes: Iterable[Write]) -> list[Write]:
    """Return the runs of labs that are to be there: older ones were removed."""
    return [each for each in writes if each.what == "lab"][-RUNS_KEPT:]


def lost_writes(writes: Iterable[Write], seen: Seen) -> list[tuple[Write, str]]:
    """Return the acknowledged writes that are not there, and what is missing."""
    reasons = {entry["reason"] for entry in seen.audit}
    saved = {entry["details"].get("scenario") for entry in seen.audit}
    writes = list(writes)
    removed = {each.id for each in writes if each.what == "lab"}
    removed -= {each.id for each in kept_labs(writes)}
    lost = []
    for each in writes:
        if each.what == "lab" and each.id in removed:
            continue
        if each.what == "scenario":
            if each.name not in seen.scenarios:
                lost.append((each, "is not there"))
            if each.name not in saved:
                lost.append((each, "is not in the audit"))
        elif each.what in ("report", "lab"):
            state = seen.states.get((each.what, each.id), "not there")
            if state not in ENDED:
                lost.append((each, f"is {state}"))
        elif each.name not in reasons:
            lost.append((each, "is not in the audit"))
        elif each.what == "switch" and each.id not in seen.changes:
            lost.append((each, "is not there"))
    return lost


def wishes_apart(
    audit: Iterable[Mapping[str, Any]], hosted: Mapping[str, Any]
) -> list[str]:
    """Return where a hosted group is not as the newest entries of the audit say."""
    entries = [each for each in audit if each["target"] == hosted["name"]]
    members = [
        entry["details"]["members"]
        for entry in entries
        if entry["action"] in ("member.add", "member.remove")
    ]
    strategies = [
        entry["details"]["to"][0]
        for entry in entries
        if entry["action"] == "strategy.switch"
    ]
    found = []
    if members and members[0] != hosted["members_wanted"]:
        found.append(
            f"{hosted['members_wanted']} members are wanted, the audit says "
            f"{members[0]}"
        )
    if strategies and strategies[0] != hosted["strategy"]:
        found.append(
            f"the strategy is {hosted['strategy']}, the audit says {strategies[0]}"
        )
    return found


@dataclass(slots=True)
class Person:
    """Somebody who writes; `writes` are those that were acknowledged."""

    session: Session
    group: str
    kills: Callable[[], int]
    writes: list[Write] = field(default_factory=list)
    failed: int = 0
    _numbers: Any = field(default_factory=count)
    _ending: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Save a scenario every two seconds, in a thread, until `stop`."""
        self._thread = threading.Thread(target=self._save_scenarios, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Save no more."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()

    def change_members(self, now: int) -> None:
        """Add or remove one, so that there are always two to five."""
        number = next(self._numbers)
        action = "add" if now <= FEWEST or (now < MOST and number % 2) else "remove"
        reason = f"members {number}"
        body = {"action": action, "reason": reason, "confirm": self.group}
        self._send("members", reason, f"{self._group_api}/members", body)

    def switch(self, now: str) -> None:
        """Let the group divide its queues by the other of two strategies."""
        reason = f"switch {next(self._numbers)}"
        other = next(each for each in STRATEGIES if each != now)
        query = f"v=1&s={other}"
        path = f"{self._group_api}/switch"
        preview = self._get(f"{path}?{urlencode({'query': query})}")
        if preview is None:
            return
        body = {"query": query, "token": preview["token"], "reason": reason}
        self._send("switch", reason, path, body)

    def ask_for_report(self) -> None:
        """Ask for a report of the last quarter of an hour, with all of its files."""
        now = datetime.now(UTC)
        body = {
            "cluster": CLUSTER,
            "group": self.group,
            "since": (now - timedelta(minutes=15)).isoformat(),
            "until": now.isoformat(),
            "formats": ("csv", "html"),
        }
        name = f"report {next(self._numbers)}"
        self._send("report", name, "/api/v1/reports/runs", body)

    def play_lab(self, lab: str) -> None:
        """Ask for a lab to be played."""
        name = f"lab {next(self._numbers)}"
        self._send("lab", name, f"{_API}/labs/{lab}/runs", {"parameters": {}})

    def done_report(self) -> int | None:
        """Return the number of the newest report that is done."""
        runs = self._get("/api/v1/reports/runs?limit=100") or []
        return next((run["id"] for run in runs if run["state"] == "done"), None)

    def hosted(self) -> dict[str, Any] | None:
        """Return the group as it is wanted; None without an answer."""
        return self.all_hosted().get(self.group)

    def all_hosted(self) -> dict[str, dict[str, Any]]:
        """Return all hosted groups by name; empty without an answer."""
        return {each["name"]: each for each in self._get(f"{_API}/hosted") or ()}

    def see(self) -> Seen:
        """Read what is there now; raises `OSError` without an answer."""
        audit = [json.loads(line) for line in self._read("/audit/audit.jsonl")]
        groups = sorted({_scenario_group(n) for n in range(MOST_SCENARIOS)})
        scenarios = {
            row["name"]
            for group in groups
            for row in self._known(f"{_API}/scenarios?group={group}")
        }
        runs = self._known("/api/v1/reports/runs?limit=500")
        states = {("report", run["id"]): run["state"] for run in runs}
        for each in kept_labs(self.writes):
            run = self._known(f"/api/v1/labs/runs/{each.id}")
            states["lab", each.id] = run["state"]
        changes = {
            each.id
            for each in self.writes
            if each.what == "switch"
            and self._get(f"{self._group_api}/changes/{each.id}") is not None
        }
        return Seen(audit, frozenset(scenarios), frozenset(changes), states)

    # Private

    @property
    def _group_api(self) -> str:
        return f"{_API}/groups/{quote(self.group)}"

    def _save_scenarios(self) -> None:
        for number in range(MOST_SCENARIOS):
            name = f"scenario {number}"
            body = {"group": _scenario_group(number), "name": name, "query": "v=1"}
            self._send("scenario", name, f"{_API}/scenarios", body)
            if self._ending.wait(SCENARIO_EVERY_S):
                return

    def _send(self, what: str, name: str, path: str, body: object) -> None:
        after = self.kills()
        try:
            status, answer = self.session.post(path, body)
        except OSError:
            status, answer = 0, b""
        if status in (200, 201, 202):
            number = json.loads(answer).get("id", 0)
            self.writes.append(Write(what, name, after, number))
        else:
            self.failed += 1

    def _get(self, path: str) -> Any:
        try:
            return self._known(path)
        except OSError:
            return None

    def _known(self, path: str) -> Any:
        return json.loads(self._body(path))

    def _read(self, path: str) -> list[bytes]:
        return self._body(path).splitlines()

    def _body(self, path: str) -> bytes:
        status, body = self.session.get(path)
        if status != 200:
            raise ConnectionError(f"{path}: {status} {body[:200]!r}")
        return body


def _scenario_group(number: int) -> str:
    return f"scenarios-{number // A_GROUP}"
