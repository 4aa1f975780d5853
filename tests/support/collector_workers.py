"""Collectors as they are deployed: Celery workers beside a cache and a database."""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import redis

from dashboard.live.metrics import worker_metrics
from dashboard.live.names import lease_key, overview_key
from dashboard.live.state import LiveState
from dashboard.supervisor import plan

from .forked import manage
from .ports import LOOPBACK
from .process import Process
from .valkey import Valkey

_HEAD_BYTES: Final = 400
_HEAD: Final = re.compile(rb'"run":"([^"]+)","seq":(\d+),.*"taken_at":(\d+)')


class Head(NamedTuple):
    """Which list of groups this is: its run, its number, its time in ms."""

    run: str
    seq: int
    taken_at: int


class CollectorWorkers:
    """Workers by name, over clusters of given addresses; no beat gives their ticks."""

    def __init__(self, folder: Path, clusters: Mapping[str, str]) -> None:
        self.clusters = tuple(clusters)
        self.processes: dict[str, Process] = {}
        self._folder = folder
        self._valkey = Valkey(folder)
        self._cache: Any = redis.Redis(port=self._valkey.port)
        surroundings = plan.Surroundings(
            listen_host=LOOPBACK,
            listen_port=1,
            var_dir=folder / "var",
            redis_url=self._valkey.url,
            embedded_name_server_port=None,
            embedded_log_mb=1,
        )
        self._env = {
            **plan.environment(surroundings),
            "ROCKETSCOPE_CLUSTERS": ",".join(map("=".join, clusters.items())),
        }

    def __enter__(self) -> Self:
        self._valkey.start()
        try:
            manage(self._env, "prepare")
        except BaseException:
            self._valkey.kill()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        for process in self.processes.values():
            process.kill()
        self._cache.close()
        self._valkey.kill()

    def start(self, name: str) -> None:
        """Start a worker, also one that had ended."""
        collector = next(each for each in plan.workers() if each.name == "collector")
        self.processes[name] = Process(
            [part.replace("collector@", f"{name}@") for part in collector.argv],
            log=self._folder / f"{name}.log",
            env=self._env,
            forked=True,
        )

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to one worker."""
        self.processes[name].signal(number)

    def leaders(self) -> dict[str, str | None]:
        """Return the worker that leads each cluster, None where nobody does."""
        tokens = self._cache.mget(map(lease_key, self.clusters))
        return {
            cluster: token and token.decode().partition("@")[0]
            for cluster, token in zip(self.clusters, tokens, strict=True)
        }

    def shares(self) -> Counter[str | None]:
        """Return how many clusters each leads."""
        return Counter(self.leaders().values())

    def figures(self) -> dict[str, dict[str, Any]]:
        """Return the counts of each worker, by cluster, as it last told them."""
        state = LiveState(self._cache)
        return {name: told["clusters"] for name, told in worker_metrics(state).items()}

    def skipped(self) -> int:
        """Return how many sweeps were left out until now."""
        return sum(
            told["skipped"]
            for clusters in self.figures().values()
            for told in clusters.values()
        )

    def heads(self) -> dict[str, Head]:
        """Return which list of groups each cluster has, where it has one."""
        with self._cache.pipeline(transaction=False) as asked:
            for cluster in self.clusters:
                asked.getrange(overview_key(cluster), 0, _HEAD_BYTES - 1)
            texts = asked.execute()
        found = {
            cluster: _HEAD.search(text)
            for cluster, text in zip(self.clusters, texts, strict=True)
        }
        return {
            cluster: Head(head[1].decode(), int(head[2]), int(head[3]))
            for cluster, head in found.items()
            if head is not None
        }
