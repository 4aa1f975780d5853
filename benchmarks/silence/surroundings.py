"""A real cluster of two brokers, the seven groups on it, and the dashboard beside it.

The second broker is reached through a proxy on another loopback address, so that its
answers can be held back; the truth is read from it directly.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.live_latency import launched
from benchmarks.running import Running, looping
from benchmarks.session import Session
from benchmarks.seven_groups import BY_NAME, GUEST, SevenGroups, send_traffic
from tests.support.apache import (
    start_broker,
    start_cluster,
    wait_until_registered,
)
from tests.support.delaying import DelayingProxy
from tests.support.ports import LOOPBACK, free_broker_ports
from tests.support.process import Process

from .truth import Silence, Truth
from .watching import NAMESERVER, Page, Reader, now_ms

CLUSTER: Final = "apache"
DIRECT: Final = "broker-a"
PROXIED: Final = "broker-b"
BROKERS: Final = (DIRECT, PROXIED)
_OTHER_LOOPBACK: Final = "127.0.0.2"
_BEHIND: Final = {"brokerIP1": _OTHER_LOOPBACK, "brokerIP2": _OTHER_LOOPBACK}
_START_S: Final = 180.0


@dataclass
class Surroundings(Running):
    """Everything that runs; a context manager that ends it all.

    `messages` are those a second to each topic. Belongs to the main thread, which
    starts and signals processes; reading and looking is done on a loop beside it.
    """

    folder: Path
    messages: float
    truth: Truth = field(default_factory=Truth)

    def _start(self) -> None:
        enter = self._ended.enter_context
        self.apache = enter(start_cluster(self.folder / "apache", brokers=[DIRECT]))
        (self._port,) = free_broker_ports(1)
        self.proxy = enter(
            DelayingProxy(
                f"{_OTHER_LOOPBACK}:{self._port}",
                f"{LOOPBACK}:{self._port}",
                log=self.folder / "proxy.log",
            )
        )
        self.restart(PROXIED)
        wait_until_registered(self.apache)
        self.groups = SevenGroups(self.apache.nameserver, self.folder / "java")
        self._ended.callback(self.groups.stop)
        self.groups.start()
        clusters = f"{CLUSTER}={self.apache.nameserver}"
        self.stack, _ = enter(launched(self.folder, {"ROCKETSCOPE_CLUSTERS": clusters}))
        session = Session(self.stack.address)
        session.sign_in(self.stack.sign_in_link())
        self.page = Page(session, CLUSTER)
        self.reader = Reader(self.truth, self.apache.nameserver, self.apache.brokers)
        loop = enter(looping("silence"))
        self._tasks = [
            loop.submit(self.reader.run()),
            loop.submit(self.page.run()),
            loop.submit(send_traffic(self.apache.nameserver, BROKERS, self.messages)),
        ]
        self.wait(lambda: len(self.page.groups) == len(BY_NAME), _START_S)

    def process(self, name: str) -> Process:
        """Return a process of the cluster, `nameserver` or a broker's name."""
        return self.apache.processes[name]

    def restart(self, broker: str) -> None:
        """Start a broker, again where it ended, on its port and with its store."""
        if broker == PROXIED:
            start_broker(self.apache, broker, self._port, _BEHIND)
        else:
            port = int(self.apache.brokers[broker].rpartition(":")[2])
            start_broker(self.apache, broker, port)

    def refresh(self) -> None:
        """Take into the truth what members told meanwhile; fail when a reader did."""
        self.truth.connections = tuple(self.groups.connections)
        self.truth.holds = self.groups.holds()
        for task in self._tasks:
            if task.done():
                task.result()

    def wait(self, holds: Callable[[], bool], seconds: float) -> bool:
        """Wait until something holds; tell whether it came to that."""
        deadline = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        return True


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One kind of silence: who falls silent, how it begins and how it ends."""

    who: str
    begin: Callable[[Surroundings], None]
    end: Callable[[Surroundings], None]


def _signalling(who: str) -> Disturbance:
    return Disturbance(
        who,
        lambda all_: all_.process(who).signal(signal.SIGSTOP),
        lambda all_: all_.process(who).signal(signal.SIGCONT),
    )


def _begin_delay(all_: Surroundings) -> None:
    all_.proxy.delay(8.0)


def _end_delay(all_: Surroundings) -> None:
    all_.proxy.delay(0.0)


DISTURBANCES: Final[Mapping[str, Disturbance]] = {
    "stop-a": _signalling(DIRECT),
    "stop-b": _signalling(PROXIED),
    "stop-nameserver": _signalling(NAMESERVER),
    "kill-a": Disturbance(
        DIRECT,
        lambda all_: all_.process(DIRECT).kill(),
        lambda all_: all_.restart(DIRECT),
    ),
    "kill-member": Disturbance(
        GUEST,
        lambda all_: all_.groups.kill_process(GUEST),
        lambda all_: all_.groups.start_process(GUEST),
    ),
    "delay-b": Disturbance(PROXIED, _begin_delay, _end_delay),
}
"""By name, in the order of a round."""


def silence_of(name: str, disturbance: Disturbance) -> Silence | None:
    """Return the silence that begins now; none where answers are only late."""
    is_late = name.startswith("delay")
    return None if is_late else Silence(disturbance.who, now_ms())
