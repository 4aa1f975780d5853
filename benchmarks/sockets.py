"""How soon every reader has a change, with thousands of live sockets.

    python -m benchmarks.sockets [--sockets 5000] [--groups 200] [--seconds 30]

Two web processes serve the sockets; each of the groups changes once a second, and is
published as the collector publishes it: the document is stored, then an update is sent.
One process publishes, another reads. A time is from the moment at which an update is
handed over to the cache to its arrival at a reader.

Afterwards one socket in a hundred stops reading, and the others are measured again. The
memory of the web processes is what they share with nobody, and their share of the rest.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks.goals import Goal
from benchmarks.startup import memory_of
from benchmarks.whatif_page import process_seconds
from tests.support.ports import LOOPBACK
from tests.support.web_processes import CLUSTER, WebProcesses, running_web

SHARE: Final = 0.95
GOAL_MS: Final = 1000.0
WEB_PROCESSES: Final = 2
QUEUES: Final = 16
MEMBERS: Final = 4
CHANGED: Final = 4
A_USERS_SOCKETS: Final = 25
"""Of one user in one web process, which allows 32."""
AT_ONCE: Final = 50
FROZEN_ONE_IN: Final = 100
TEXT, PING, PONG = 1, 9, 10
SENT: Final = b'"sent":'

_SESSIONS: Final = """
import sys
from django.conf import settings
from django.test import Client
from dashboard.models import User
for at in range(int(sys.argv[1])):
    client = Client()
    client.force_login(User.objects.create_user(f"reader-{at}", role="viewer"))
    print(client.cookies[settings.SESSION_COOKIE_NAME].OutputString().split(";")[0])
"""


class Reader(asyncio.Protocol):
    """One live socket that watches a group, and notes how late its messages are."""

    def __init__(self, head: bytes, watch: bytes) -> None:
        self.head, self.watch = head, watch
        self.watching: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.late_ms: list[float] = []
        self.lost = False
        self._bytes = b""
        self._upgraded = False

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(self.head)

    def data_received(self, data: bytes) -> None:
        now = time.time()
        self._bytes += data
        if not self._upgraded:
            head, end, self._bytes = self._bytes.partition(b"\r\n\r\n")
            if not end:
                self._bytes = head
                return
            if b" 101 " not in head:
                self._fail(head.decode(errors="replace"))
                return
            self._upgraded = True
            self.transport.write(_frame(self.watch))
        for text in self._texts():
            at = text.rfind(SENT)
            if at >= 0:
                self.late_ms.append((now - float(text[at + len(SENT) : -1])) * 1000)
            elif not self.watching.done():
                if text.startswith(b'{"type":"watching"'):
                    self.watching.set_result(None)
                else:
                    self._fail(text.decode())

    def connection_lost(self, error: Exception | None) -> None:
        self.lost = True
        self._fail(f"the socket was closed: {error}")

    def _fail(self, why: str) -> None:
        if not self.watching.done():
            self.watching.set_exception(ConnectionError(why))

    def _texts(self) -> list[bytes]:
        found = []
        while len(self._bytes) >= 2:
            size, begin = self._bytes[1], 2
            if size == 126:
                size, begin = int.from_bytes(self._bytes[2:4]), 4
            elif size == 127:
                size, begin = int.from_bytes(self._bytes[2:10]), 10
            if len(self._bytes) < begin + size:
                break
            kind, content = self._bytes[0] & 0xF, self._bytes[begin : begin + size]
            if kind == TEXT:
                found.append(content)
            elif kind == PING:
                self.transport.write(_frame(content, PONG))
            self._bytes = self._bytes[begin + size :]
        return found


def _frame(content: bytes, kind: int = TEXT) -> bytes:
    """Return a short frame of a client, masked with zeros."""
    return bytes((0x80 | kind, 0x80 | len(content))) + bytes(4) + content


async def read(given: Mapping[str, Any]) -> None:
    """Open the sockets, say so, and print what was measured for each line read."""
    ports, cookies = given["ports"], given["cookies"]
    loop = asyncio.get_running_loop()
    turns = asyncio.Semaphore(AT_ONCE)

    async def enter(at: int) -> Reader:
        port = ports[at % len(ports)]
        cookie = cookies[at // (A_USERS_SOCKETS * len(ports))]
        head = (
            f"GET /ws/live/ HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Version: 13\r\n"
            f"Origin: http://{LOOPBACK}:{port}\r\nCookie: {cookie}\r\n\r\n"
        )
        group = group_name(at // len(ports) % given["groups"])
        watch = {"op": "watch", "cluster": CLUSTER, "group": group}
        async with turns:
            _transport, reader = await loop.create_connection(
                lambda: Reader(head.encode(), orjson.dumps(watch)), LOOPBACK, port
            )
            await reader.watching
        return reader

    readers = await asyncio.gather(*map(enter, range(given["sockets"])))
    print(json.dumps({"open": len(readers)}), flush=True)
    reading = list(readers)
    while order := (await asyncio.to_thread(sys.stdin.readline)).strip():
        if order == "freeze":
            frozen, reading = readers[::FROZEN_ONE_IN], []
            for reader in frozen:
                reader.transport.pause_reading()
            stopped = set(map(id, frozen))
            reading = [each for each in readers if id(each) not in stopped]
        late = sorted(each for reader in reading for each in reader.late_ms)
        told = {
            "messages": len(late),
            "median": late[len(late) // 2] if late else 0.0,
            "share": late[int(len(late) * SHARE)] if late else 0.0,
            "last": late[-1] if late else 0.0,
            "lost": sum(each.lost for each in reading),
        }
        for reader in reading:
            reader.late_ms.clear()
        print(json.dumps(told), flush=True)


def group_name(number: int) -> str:
    return f"group-{number}"


def measure(web: WebProcesses, given: argparse.Namespace) -> None:
    """Open sockets and publish, twice."""
    # These read the settings.
    from benchmarks.changing import change
    from tests.dashboard.documents import large_group, now_ms

    documents = [
        large_group(
            *(QUEUES, MEMBERS, now_ms()), cluster=CLUSTER, group=group_name(number)
        )
        for number in range(given.groups)
    ]
    users = -(-given.sockets // (A_USERS_SOCKETS * WEB_PROCESSES))
    cookies = web.run(_SESSIONS, str(users)).split("\n")[:users]
    alone = sum(map(resident, web.pids))
    readers = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.sockets", "--readers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert readers.stdin is not None
    assert readers.stdout is not None

    def told(order: Any) -> Any:
        print(order, file=readers.stdin, flush=True)
        line = readers.stdout.readline()  # type: ignore[union-attr]
        if not line:
            raise SystemExit("the readers ended")
        return json.loads(line)

    try:
        began = time.monotonic()
        asked = {
            "ports": web.ports,
            "cookies": cookies,
            "sockets": given.sockets,
            "groups": given.groups,
        }
        before = sum(map(process_seconds, web.pids))
        opened = told(json.dumps(asked))["open"]
        took = time.monotonic() - began
        each_ms = (sum(map(process_seconds, web.pids)) - before) * 1000 / opened
        print(
            f"{opened:,} sockets opened in {took:.1f} s, "
            f"{each_ms:.1f} ms of processor each"
        )
        print(f"web processes: {alone:,.0f} MB before")
        for what, order in (("all read", "measure"), ("some frozen", "freeze")):
            told(order)
            before = sum(map(process_seconds, web.pids))
            work = change(documents, CHANGED, given.seconds, web.valkey.url)
            changes, behind = asyncio.run(work)
            time.sleep(2)
            used = sum(map(process_seconds, web.pids)) - before
            found = told("measure")
            memory = sum(map(resident, web.pids))
            print(
                f"{what}: {changes:,} changes, {found['messages']:,} messages read, "
                f"median {found['median']:.0f} ms, last {found['last']:.0f} ms, "
                f"{found['lost']} lost; the publisher was {behind * 1000:.0f} ms late "
                f"at worst; web processes {used / given.seconds:.2f} cores, "
                f"{memory:,.0f} MB"
            )
            name = f"a change at {given.sockets:,} readers, {what}, 95 %"
            print(Goal(name, GOAL_MS, "ms").line(found["share"]), flush=True)
    finally:
        readers.kill()
        readers.wait()


def resident(pid: int) -> float:
    """Return the memory (MB) of a web process and its children."""
    return sum(each.pss for each in memory_of(pid))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures, each beside its goal."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sockets", type=int, default=5000)
    parser.add_argument("--groups", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--readers", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if given.readers:
        asyncio.run(read(json.loads(sys.stdin.readline())))
        return
    if hard < given.sockets + 100:
        raise SystemExit(f"{given.sockets} sockets: the system allows {hard} files")
    with (
        tempfile.TemporaryDirectory() as name,
        running_web(Path(name), count=WEB_PROCESSES, settings={}) as web,
    ):
        os.environ.update(web.env)
        os.environ["DJANGO_SETTINGS_MODULE"] = "dashboard.config.settings"
        import django

        django.setup()
        measure(web, given)


if __name__ == "__main__":
    main()
