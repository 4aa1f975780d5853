"""The dashboard's own processes around an embedded cluster, for tests marked so.

Starts what `dashboard.supervisor.plan` plans, each part by name, without the web
server and Spark: name server and broker, Valkey, collector, two fleet workers, beat.
They are forked from one process that has imported what they share, as `rocketscope up`
does: ten starts of Python fewer.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, cast

import orjson
import redis

from dashboard.live.names import group_key
from dashboard.supervisor import plan
from dashboard.supervisor.plan import FLEET_WORKERS, Surroundings

from .database import rows_of
from .forked import manage, script
from .ports import LOOPBACK, free_port
from .process import Process
from .valkey import Valkey
from .waiting import pause_after

GROUP: Final = "demo-consumers"
CLUSTER: Final = "embedded"
_PATIENCE_SECONDS: Final = 120.0
_PAUSE_S: Final = 0.05


class Stack:
    """The processes by name; whoever starts it stops it."""

    def __init__(
        self, folder: Path, *, fleet: int = FLEET_WORKERS, topics: Sequence[str] = ()
    ) -> None:
        self.folder = folder
        self.fleet = [f"fleet-{number}" for number in range(1, fleet + 1)]
        self.valkey = Valkey(folder)
        self.processes: dict[str, Process] = {}
        surroundings = Surroundings(
            listen_host=LOOPBACK,
            listen_port=free_port(),
            var_dir=folder / "var",
            redis_url=self.valkey.url,
            embedded_name_server_port=free_port(),
            embedded_log_mb=1024,
        )
        self._env = plan.environment(surroundings)
        cluster = plan.embedded_cluster(surroundings)
        assert cluster is not None
        self._argv = {s.name: s.argv for s in (cluster, *plan.workers(fleet))}
        self._argv["cluster"] += tuple(
            part for topic in topics for part in ("--topic", topic)
        )
        self.name_server = f"{LOOPBACK}:{surroundings.embedded_name_server_port}"

    def start(self) -> None:
        """Start everything and wait until the demo's group is shown."""
        self.valkey.start()
        self.launch("cluster")
        self.until(self._cluster_answers, "the cluster answers")
        self.manage("prepare")
        self.manage("prepare_demo", "--only", GROUP)
        for name in ("collector", *self.fleet, "beat"):
            self.launch(name)
        self.until(lambda: sum(self.owned().values()) == 16, "16 queues are owned")

    def stop(self) -> None:
        """End what still runs."""
        for process in reversed(self.processes.values()):
            process.kill()
        self.valkey.kill()

    def launch(self, name: str) -> None:
        """Start one process, again if it had ended."""
        log = self.folder / "logs" / f"{name}.log"
        self.processes[name] = Process(
            self._argv[name], log=log, env=self._env, forked=True
        )

    def ensure(self, *names: str) -> None:
        """Start the processes that do not run."""
        for name in names:
            if not self.processes[name].running:
                self.launch(name)

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to one process."""
        self.processes[name].signal(number)

    def manage(self, *arguments: str) -> None:
        """Run a management command in the stack's surroundings."""
        manage(self._env, *arguments)

    def want_members(self, count: int) -> None:
        """Wish for that many members of the demo's group."""
        if self.rows("select members_wanted from dashboard_managedgroup") == [(count,)]:
            return
        self.script(_WANT_MEMBERS.format(count=count))

    def group(self, name: str = GROUP) -> dict[str, Any] | None:
        """Return a group's document, None while there is none."""
        try:
            with redis.Redis(port=self.valkey.port) as client:
                text = cast("bytes | None", client.get(group_key(CLUSTER, name)))
        except redis.RedisError:
            return None
        return None if text is None else cast("dict[str, Any]", orjson.loads(text))

    def owned(self, name: str = GROUP) -> dict[str, int]:
        """Return how many queues each member reports, by the member's label."""
        counts: dict[str, int] = {}
        document = self.group(name)
        labels = {
            m["client_id"]: m["label"] for m in (document or {"members": ()})["members"]
        }
        for queue in document["queues"] if document else ():
            if queue["owner_source"] == "reported" and len(queue["owners"]) == 1:
                label = labels.get(queue["owners"][0], queue["owners"][0])
                counts[label] = counts.get(label, 0) + 1
        return counts

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Ask the stack's database."""
        return rows_of(self.folder / "var", query)

    def until(
        self, holds: Callable[[], bool], what: str, seconds: float = _PATIENCE_SECONDS
    ) -> float:
        """Wait until something holds; return how long that took."""
        began = time.monotonic()
        while not holds():
            if time.monotonic() - began > seconds:
                logs = "\n".join(
                    f"--- {name}\n{process.tail()}"
                    for name, process in self.processes.items()
                )
                raise AssertionError(f"not within {seconds} s: {what}\n{logs}")
            time.sleep(pause_after(began, _PAUSE_S))
        return time.monotonic() - began

    def _cluster_answers(self) -> bool:
        # All of the log: what a busy cluster writes next must not push the line away.
        written = self.processes["cluster"].log.read_text("utf-8", "replace")
        return any(
            line.startswith("{") and "brokers" in json.loads(line)
            for line in written.splitlines(keepends=True)
            if line.endswith("\n")
        )

    def script(self, text: str, *arguments: str) -> str:
        """Run Python text with Django set up there; return what it printed."""
        return script(self._env, text, *arguments)


_WANT_MEMBERS: Final = """
from dashboard.models import ManagedGroup
from dashboard.hosting.writes import add_member, remove_member
group = ManagedGroup.objects.get(name="demo-consumers")
for _ in range({count} - group.members_wanted):
    add_member(None, "embedded", group.name)
for _ in range(group.members_wanted - {count}):
    remove_member(None, "embedded", group.name)
"""
