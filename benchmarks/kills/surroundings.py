"""The whole product as a user starts it, a person, a producer, and a live socket."""

from __future__ import annotations

import re
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final

from benchmarks.running import Running, looping
from benchmarks.session import Session
from benchmarks.silence.watching import Page
from rmqcore.admin import Admin
from rmqcore.errors import RmqError
from tests.support.launched import LaunchedStack
from tests.support.postgresql import PostgreSQL, programs

from .kinds import Victim, strike
from .messages import Consumed, Sent, send
from .truth import Truth
from .writes import CLUSTER, Person

TOPIC: Final = "kills"
QUEUES: Final = 8
GROUP: Final = "kills"
DEMO_GROUP: Final = "demo-consumers"
GROUPS: Final = (GROUP, DEMO_GROUP)
MEMBERS: Final = 3
PATIENCE_S: Final = 15.0
"""For one answer: a page that takes longer is wrong."""
START_S: Final = 120.0
DOWN_S: Final = 2.0
"""For which PostgreSQL is away before somebody starts it again."""
LOUD: Final = (sys.executable, "-m", "dashboard.supervisor")
QUIET: Final = (sys.executable, "-m", "tests.support.quiet_demo")
"""With and without the load that the demo makes for itself."""
LOG_MB: Final = 10_000
"""The fleet's logs say what was consumed, so nothing of them may go."""
_NAME_SERVER: Final = re.compile(r"name server of the embedded cluster: (\S+)")


class Surroundings(Running):
    """Everything that runs; a context manager that ends it all. For the main thread."""

    def __init__(
        self, folder: Path, *, postgresql: bool, rate: float, quiet: bool = False
    ) -> None:
        self._folder = folder
        self._command = QUIET if quiet else LOUD
        self._with_postgresql = postgresql
        self._rate = rate
        self._postgresql: PostgreSQL | None = None
        self.kills = 0
        """How many there were: what is acknowledged is noted as after the last."""
        self.sent = Sent()

    @property
    def database(self) -> str | Path:
        """Where to ask the stack's database; see `tests.support.database`."""
        return self._postgresql.url if self._postgresql else self.stack.var_dir

    def strike(self, kind: str, chance: Random) -> Victim:
        """Kill one process of a kind; PostgreSQL is started again, too."""
        if kind != "postgresql":
            return strike(self.stack.pid, kind, chance)
        assert self._postgresql is not None
        self._postgresql.kill()
        time.sleep(DOWN_S)
        self._postgresql.start()
        return Victim(kind, 0)

    def truths(self) -> dict[str, Truth]:
        """Ask brokers and members what is true now; raises RmqError without them."""
        snapshot = self._loop.call(
            self._admin.snapshot(groups=GROUPS, running_info=True), PATIENCE_S
        )
        return {name: Truth.of(snapshot.groups.get(name)) for name in GROUPS}

    def offsets_ahead(self) -> list[str]:
        """Return where a committed offset says more than was consumed."""
        committed = self._loop.call(
            self._admin.committed_offsets(GROUP, TOPIC), PATIENCE_S
        )
        self.consumed.read()
        return self.consumed.ahead(committed)

    def stop_sending(self) -> None:
        """Let the producer and the person end."""
        self._sending.cancel()
        self.person.stop()

    def check(self) -> None:
        """Raise what made the traffic or the socket end."""
        for task in (self._sending, self._watching):
            if task.done():
                task.result()

    def _start(self) -> None:
        env = {"ROCKETSCOPE_LOG_MB": str(LOG_MB)}
        if self._with_postgresql:
            folder = programs()
            assert folder is not None
            self._postgresql = PostgreSQL(folder)
            self._ended.callback(self._postgresql.remove)
            env["ROCKETSCOPE_DATABASE_URL"] = self._postgresql.url
        self.stack = LaunchedStack(self._folder, env, command=self._command)
        self._ended.callback(self.stack.stop)
        self.session = Session(self.stack.address, PATIENCE_S)
        self.session.sign_in(self.stack.sign_in_link())
        found = _NAME_SERVER.search(self.stack.output())
        assert found is not None
        self.name_server = found[1]
        self._loop = self._ended.enter_context(looping("kills"))
        self._admin = Admin(self.name_server)
        self._ended.callback(lambda: self._loop.call(self._admin.close()))
        self._loop.call(self._admin.create_topic(TOPIC, QUEUES), START_S)
        self._host()
        self.page = Page(self.session, CLUSTER, GROUPS)
        self._watching = self._loop.submit(self.page.run())
        self._sending = self._loop.submit(
            send(self.name_server, TOPIC, self._rate, self.sent, self._count)
        )
        logs = sorted((self.stack.var_dir / "logs").glob("fleet-*.log"))
        self.consumed = Consumed(logs, TOPIC)
        self.person = Person(self.session, GROUP, self._count)
        self.person.start()
        self._ended.callback(self.stop_sending)

    def _count(self) -> int:
        return self.kills

    def _host(self) -> None:
        wish = {
            "topics": [{"topic": TOPIC}],
            "listener": "log",
            "start_position": "CONSUME_FROM_FIRST_OFFSET",
            "members": MEMBERS,
            "reason": "to be killed",
            "confirm": GROUP,
        }
        path = f"/api/v1/clusters/{CLUSTER}/hosted/{GROUP}"
        deadline = time.monotonic() + START_S
        while True:
            status, body = self.session.send("PUT", path, wish)
            if status == 200:
                return
            if time.monotonic() > deadline:
                raise RuntimeError(f"{path}: {status} {body[:500]!r}")
            time.sleep(1.0)


def truths_or_none(surroundings: Surroundings) -> dict[str, Truth] | None:
    """Return what is true, None while brokers do not answer."""
    with suppress(RmqError, OSError, TimeoutError):
        return surroundings.truths()
    return None
