"""Real web processes on one database and one Valkey, and a browser that asks them."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from dashboard.supervisor import plan
from dashboard.supervisor.plan import Surroundings

from . import forked
from .ports import LOOPBACK, free_port, listens
from .process import Process
from .valkey import Valkey
from .waiting import wait_until

PASSWORD: Final = "correct horse battery"
CLUSTER: Final = "east"
_ADD_USERS: Final = """
import sys
from dashboard.models import User
for name in sys.argv[1:]:
    User.objects.create_user(name, password={password!r}, role="viewer")
"""


@dataclass(slots=True)
class WebProcesses:
    """What runs: `ports` of the processes, whose state is in `var_dir` and `valkey`."""

    var_dir: Path
    valkey: Valkey
    ports: list[int]
    env: dict[str, str]
    pids: list[int] = field(default_factory=list)

    def manage(self, *arguments: str) -> str:
        """Run a management command on the same state; return what it printed."""
        return forked.manage(self.env, *arguments)

    def add_users(self, *names: str) -> None:
        """Add viewers, who all have `PASSWORD`."""
        self.run(_ADD_USERS.format(password=PASSWORD), *names)

    def run(self, code: str, *arguments: str) -> str:
        """Run code with Django set up, on the same state; return what it printed."""
        return forked.script(self.env, code, *arguments)


@contextmanager
def running_web(
    folder: Path, *, count: int, settings: Mapping[str, str]
) -> Iterator[WebProcesses]:
    """Start that many web processes as the supervisor does; wait until they answer."""
    valkey = Valkey(folder)
    var_dir = folder / "var"
    ports = [free_port() for _ in range(count)]
    found = [
        Surroundings(LOOPBACK, port, var_dir, valkey.url, None, 64) for port in ports
    ]
    env = {
        **plan.environment(found[0]),
        "ROCKETSCOPE_CLUSTERS": f"{CLUSTER}={LOOPBACK}:9",
        **settings,
    }
    web: list[Process] = []
    valkey.start()
    try:
        made = WebProcesses(var_dir, valkey, ports, env)
        made.manage("prepare")
        web += [
            Process(
                plan.web(each).argv,
                log=folder / f"web-{each.listen_port}.log",
                env=env,
                forked=True,
            )
            for each in found
        ]
        for process, port in zip(web, ports, strict=True):
            wait_until(partial(_ended_or_listens, process, port), "a web process")
            assert process.running, process.tail()
            made.pids.append(process.pid)
        yield made
    finally:
        for process in web:
            process.kill()
        valkey.kill()


def _ended_or_listens(process: Process, port: int) -> bool:
    return not process.running or listens(port)


@dataclass(slots=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes


@dataclass(slots=True)
class Browser:
    """Keeps cookies, and names the origin of its forms and sockets as browsers do.

    With `tls` it speaks to a proxy. Without, it plays the proxy in front of one web
    process, which has to trust loopback. `address` is where it comes from.
    """

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    address: str = LOOPBACK
    cookies: dict[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        return f"https://{self.host}"

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request on a connection of its own."""
        connection = self._connection()
        try:
            connection.request(
                method, path, body, {**self._headers(), **(headers or {})}
            )
            answer = connection.getresponse()
            found = Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()
        for line in found.headers.get_all("Set-Cookie", []):
            for name, morsel in SimpleCookie(line).items():
                self.cookies[name] = morsel.value
        return found

    def post(
        self, path: str, headers: Mapping[str, str] | None = None, **fields: str
    ) -> Answer:
        """Send a form of one of our pages."""
        token = self.cookies.get("rocketscope_csrf", "")
        body = urlencode({"csrfmiddlewaretoken": token, **fields}).encode()
        sent = {
            "Origin": self.origin,
            "Content-Type": "application/x-www-form-urlencoded",
        }
        return self.ask("POST", path, body, {**sent, **(headers or {})})

    def sign_in(
        self,
        name: str,
        password: str = PASSWORD,
        headers: Mapping[str, str] | None = None,
    ) -> bool:
        """Fill in the form; tell whether that let us in."""
        self.ask("GET", "/sign-in/")
        answer = self.post("/sign-in/", headers, username=name, password=password)
        assert answer.status in (200, 302), answer.body
        return answer.status == 302

    def live(self, origin: str = "") -> ClientConnection:
        """Return a live socket to enter; raises InvalidStatus when it is refused."""
        plain = self._plain_socket()
        headers = self._headers()
        del headers["Host"]
        scheme = "wss" if self.tls else "ws"
        return connect(
            f"{scheme}://{self.host}/ws/live/",
            sock=plain,
            ssl=self.tls,
            server_hostname=LOOPBACK if self.tls else None,
            origin=Origin(origin or self.origin),
            additional_headers=headers,
            proxy=None,
        )

    def _headers(self) -> dict[str, str]:
        headers = {"Host": self.host}
        if self.cookies:
            pairs = (f"{name}={value}" for name, value in self.cookies.items())
            headers["Cookie"] = "; ".join(pairs)
        if self.tls is None:
            headers |= {
                "X-Forwarded-For": self.address,
                "X-Forwarded-Proto": "https",
            }
        return headers

    def _connection(self) -> http.client.HTTPConnection:
        source = (self.address, 0) if self.tls else None
        if self.tls is None:
            return http.client.HTTPConnection(LOOPBACK, self.port, timeout=60)
        return http.client.HTTPSConnection(
            LOOPBACK, self.port, timeout=60, context=self.tls, source_address=source
        )

    def _plain_socket(self) -> socket.socket:
        source = (self.address, 0) if self.tls else None
        return socket.create_connection(
            (LOOPBACK, self.port), timeout=60, source_address=source
        )


def browsers_of(ports: Sequence[int], host: str, address: str) -> list[Browser]:
    """Return browsers that share cookies and ask one web process each."""
    cookies: dict[str, str] = {}
    return [Browser(host, port, address=address, cookies=cookies) for port in ports]
