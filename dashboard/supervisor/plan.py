"""The processes that the settings call for, as values; nothing is started here.

Without ROCKETSCOPE_CLUSTERS, or if it names `embedded`, the embedded cluster is part of
the plan, with traffic on the demo's topics; otherwise it can be asked for later.
Processes that others need start first; they are stopped in reverse order.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .child import ChildSpec

DEMO_TOPICS: Final = {"orders": 16, "payments": 8}
"""How many queues each has."""

DEMO_TRAFFIC: Final = (
    ("--topic", "orders", "--rate", "60", "--key-pattern", "order-{n}"),
    (
        *("--topic", "payments", "--rate", "20", "--key-pattern", "payment-{n}"),
        *("--orderly", "--hot", "0.7"),
    ),
)
"""What each producer sends: evenly to one topic, mostly to one queue of the other."""

FLEET_WORKERS: Final = 2
ANALYTICS_NICE: Final = 10
MALLOC: Final = {"MALLOC_ARENA_MAX": "2", "MALLOC_TRIM_THRESHOLD_": "131072"}
"""Settings of GNU's C library, which reads them when a process starts.

Each request runs in a thread of its own, and each thread gets one of 16 heaps on two
cores: every heap grows to what the largest page needs, and keeps it.
"""

FOR_ALL: Final = {"PYTHONUNBUFFERED": "1", **MALLOC}
"""What every process of the stack is started with, the template as well."""

ONE_THREAD: Final = {
    "OPENBLAS_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}
"""No process with threads may be forked. Nothing here computes with matrices, and
PyArrow takes another allocator than the one that it starts a thread for."""

NAME_SERVER_PORT: Final = 9876
"""RocketMQ's own port; another free one is taken when it is in use."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The facts found out before anything is planned."""

    listen_host: str
    listen_port: int
    var_dir: Path
    redis_url: str
    embedded_name_server_port: int | None
    """None as long as the embedded cluster is not to run."""
    embedded_log_mb: int
    embedded_request: Path | None = None
    """The file by which pages ask for the embedded cluster, None if they may not."""

    @property
    def embedded_name_server(self) -> str | None:
        """The address of the embedded name server, None without one."""
        port = self.embedded_name_server_port
        return None if port is None else f"127.0.0.1:{port}"


def environment(surroundings: Surroundings) -> dict[str, str]:
    """Return the settings that every process of the stack shares."""
    settings = {
        "ROCKETSCOPE_VAR_DIR": str(surroundings.var_dir),
        "ROCKETSCOPE_REDIS_URL": surroundings.redis_url,
        **FOR_ALL,
    }
    if surroundings.embedded_name_server is not None:
        settings["ROCKETSCOPE_EMBEDDED_CLUSTER"] = surroundings.embedded_name_server
    if surroundings.embedded_request is not None:
        settings["ROCKETSCOPE_EMBEDDED_REQUEST"] = str(surroundings.embedded_request)
    return settings


def embedded_cluster(surroundings: Surroundings) -> ChildSpec | None:
    """Return the embedded cluster's process, None while it is not to run."""
    port = surroundings.embedded_name_server_port
    if port is None:
        return None
    return ChildSpec(
        "cluster",
        (
            *_module("rmqcore", "cluster"),
            "--nameserver-port",
            str(port),
            "--brokers",
            "1",
            "--store",
            str(surroundings.var_dir / "embedded"),
            "--store-mb",
            str(surroundings.embedded_log_mb),
            *(
                part
                for name, queues in DEMO_TOPICS.items()
                for part in ("--topic", f"{name}:{queues}")
            ),
        ),
    )


def demo_traffic(surroundings: Surroundings) -> list[ChildSpec]:
    """Return the producers of the demo's topics, none without the embedded cluster."""
    name_server = surroundings.embedded_name_server
    if name_server is None:
        return []
    produce = _module("rmqcore", "produce", "--nameserver", name_server, "--count", "0")
    return [
        ChildSpec(f"traffic-{number}", (*produce, *what), nice=5)
        for number, what in enumerate(DEMO_TRAFFIC, start=1)
    ]


def web(surroundings: Surroundings) -> ChildSpec:
    """Return the web server's process."""
    return ChildSpec(
        "web",
        (
            *_module("dashboard.config.web"),
            "--host",
            surroundings.listen_host,
            "--port",
            str(surroundings.listen_port),
        ),
    )


def workers(fleet: int = FLEET_WORKERS) -> list[ChildSpec]:
    """Return the Celery workers and beat, first those that the first page needs.

    `fleet` is how many of them host consumers.
    """
    return [
        _worker("collector", queue="collector", roles=("collector", "schedules")),
        *(
            _worker(
                f"fleet-{number}", queue="fleet", roles=("fleet", "labs", "resends")
            )
            for number in range(1, fleet + 1)
        ),
        ChildSpec("beat", (*_celery(), "beat", "--loglevel", "WARNING")),
    ]


def analytics() -> ChildSpec:
    """Return the worker that runs Spark jobs; it starts late and yields to others."""
    return _worker("analytics", queue="analytics", nice=ANALYTICS_NICE)


def _worker(
    name: str, *, queue: str, roles: tuple[str, ...] = (), nice: int = 0
) -> ChildSpec:
    argv = (
        *_celery(),
        "worker",
        *("--hostname", f"{name}@%h"),
        *("--queues", queue),
        *("--pool", "solo"),
        *("--loglevel", "INFO"),
        *("--without-gossip", "--without-mingle"),
        *(part for role in roles for part in ("--role", role)),
    )
    return ChildSpec(name, argv, nice=nice)


def _celery() -> tuple[str, ...]:
    return (*_module("celery"), "--app", "dashboard.config.celery:app", "--quiet")


def _module(name: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", name, *arguments)
