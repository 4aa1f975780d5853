"""The order of start and stop, and the messages for the person at the terminal.

Start: lock the var directory; the template that children are forked from; volatile
state; embedded cluster beside migrations; web and collector; when the page answers,
fleet, beat and traffic. The address is printed when, and only when, the page answers;
the analytics worker starts after that. An embedded cluster that was not
planned is started when a page asks for it. If a process keeps ending before the
page answers, the start is abandoned and the end of its log is shown.

Stop: everything in reverse order, on Ctrl-C, SIGTERM or SIGHUP.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import stat
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Final

from analytics.places import COMMAND
from dashboard.gateway import embedded_request
from dashboard.gateway.settings import EMBEDDED

from . import plan
from .child import Child, ChildSpec
from .inheritance import inherited
from .on_request import is_ready, start_on_request
from .plan import Surroundings
from .ports import answers, free_port, is_free
from .redis_server import server_to_start
from .template import Forked, NotForkedError, Template

_PAGE_TIMEOUT_S: Final = 90.0
_SERVER_TIMEOUT_S: Final = 60.0
_STARTS_BEFORE_GIVING_UP: Final = 4
_POLL_S: Final = 0.1
_MB: Final = 1024 * 1024


class CannotStartError(Exception):
    """The stack cannot start; the message is for the person at the terminal."""


async def run(template: Template | None = None) -> int:
    """Start everything, wait for a signal, stop everything; return the exit code.

    Children are forked from the template, if one has been started.
    """
    from django.conf import settings

    var_dir: Path = settings.ROCKETSCOPE_VAR_DIR
    host, port = settings.ROCKETSCOPE_LISTEN
    with _only_one(var_dir, f"http://{host}:{port}/"):
        if not is_free(host, port):
            raise CannotStartError(
                f"port {port} on {host} is in use by another program. Choose another "
                f"one: {COMMAND} up --listen {host}:{port + 1}"
            )
        async with _stack(
            var_dir, settings.ROCKETSCOPE_LOG_MB * _MB, template
        ) as stack:
            stopped = _stop_signal()
            work = asyncio.ensure_future(_start(stack, settings, host=host, port=port))
            done, _ = await asyncio.wait(
                {work, stopped}, return_when=asyncio.FIRST_COMPLETED
            )
            if work in done:
                work.result()
                await stopped
            else:
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
            say("stopping …")
        say("stopped.")
    return 0


def say(text: str) -> None:
    """Print a line for the person at the terminal."""
    sys.stderr.write(f"rocketscope: {text}\n")
    sys.stderr.flush()


class Stack:
    """The children in the order of their start."""

    def __init__(
        self, log_dir: Path, most_log_bytes: int, template: Template | None = None
    ) -> None:
        self.log_dir = log_dir
        self._most_log_bytes = most_log_bytes
        self.children: list[Child] = []
        self.template = template or Template()

    async def start(self, spec: ChildSpec) -> Child:
        """Start one more child."""
        child = Child(
            spec,
            self.log_dir,
            self._tell,
            most_log_bytes=self._most_log_bytes,
            template=self.template,
        )
        self.children.append(child)
        try:
            await child.start()
        except OSError:
            self.children.remove(child)
            raise
        return child

    async def drop(self, child: Child) -> None:
        """Stop one child, as if it had never been started."""
        await child.stop()
        self.children.remove(child)

    async def stop(self) -> None:
        """Stop the children in reverse order; workers end in parallel."""
        servers = [child for child in self.children if child.spec.name in _SERVERS]
        others = [child for child in self.children if child not in servers]
        await asyncio.gather(*(child.stop() for child in reversed(others)))
        for child in reversed(servers):
            await child.stop()
        self.template.stop()

    async def until(
        self, ready: Callable[[], bool], what: str, *, timeout: float
    ) -> None:
        """Wait until `ready`; raise `CannotStartError` when a child keeps ending."""
        deadline = time.monotonic() + timeout
        while not await asyncio.to_thread(ready):
            for child in self.children:
                if child.starts >= _STARTS_BEFORE_GIVING_UP:
                    raise CannotStartError(
                        _failure(child, f"{child.spec.name} keeps ending")
                    )
            if time.monotonic() > deadline:
                raise CannotStartError(
                    _failure(self.children[-1], f"{what} within {timeout:g} s")
                )
            await asyncio.sleep(_POLL_S)

    def _tell(self, name: str, text: str) -> None:
        say(f"{name} {text} (log: {self.log_dir / name}.log)")


_SERVERS: Final = frozenset({"state", "cluster"})


@contextlib.asynccontextmanager
async def _stack(
    var_dir: Path, most_log_bytes: int, template: Template | None
) -> AsyncIterator[Stack]:
    stack = Stack(var_dir / "logs", most_log_bytes, template)
    try:
        yield stack
    finally:
        await stack.stop()


async def _start(stack: Stack, settings: object, *, host: str, port: int) -> None:
    began = time.monotonic()
    surroundings = await _servers(stack, settings, host=host, port=port)
    exporter: bool = settings.ROCKETSCOPE_EXPORTER  # type: ignore[attr-defined]
    if exporter:
        say("starting the exporter and the collector …")
    else:
        say("starting the page, the collector and two workers …")
    for cluster in settings.ROCKETSCOPE_CLUSTERS.values():  # type: ignore[attr-defined]
        if cluster.encryption == "unverified":
            say(f"TLS to cluster {cluster.name} is not verified, as its settings say")
    page = f"http://{_reachable(host)}:{port}/"
    ready = asyncio.ensure_future(_ready(stack.template, page, exporter=exporter))
    try:
        await stack.start(plan.web(surroundings))
        first, *others = plan.workers(fleet=0 if exporter else plan.FLEET_WORKERS)
        await stack.start(first)
        await stack.until(
            lambda: _page_answers(page),
            f"no answer from {page}",
            timeout=_PAGE_TIMEOUT_S,
        )
        took_s = time.monotonic() - began
        # The page had the processor to itself and the collector; now come the others.
        for spec in (*others, *plan.demo_traffic(surroundings)):
            await stack.start(spec)
        told, lines = await ready
    finally:
        ready.cancel()
        await asyncio.gather(ready, return_exceptions=True)
    say(f"ready after {took_s:.1f} s. {told}")
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()
    what = "exporter" if exporter else "page"
    say(f"the {what} is {page} · logs in {stack.log_dir} · Ctrl-C stops everything")
    await stack.start(plan.analytics())
    if surroundings.embedded_name_server is None and surroundings.embedded_request:
        await start_on_request(
            stack,
            surroundings,
            request=surroundings.embedded_request,
            manage=partial(_manage, stack.template),
            say=say,
        )


async def _ready(
    template: Template, page: str, *, exporter: bool
) -> tuple[str, list[str]]:
    """Return what to do next: open the link, or scrape the addresses."""
    if exporter:
        lines = [f"{page}{path}" for path in ("metrics", "metrics/groups")]
        return "Prometheus scrapes these addresses:", lines
    link = await _manage(template, "sign_in_link", "--base-url", page.rstrip("/"))
    told = "Sign in once with this link (valid 15 minutes):"
    return told, link.strip().splitlines()[-1:]


async def _servers(
    stack: Stack, settings: object, *, host: str, port: int
) -> Surroundings:
    """Start the servers that all else needs; put shared settings into os.environ."""
    var_dir: Path = settings.ROCKETSCOPE_VAR_DIR  # type: ignore[attr-defined]
    redis_url: str = settings.ROCKETSCOPE_REDIS_URL  # type: ignore[attr-defined]
    redis_port = 0
    if not redis_url:
        server = server_to_start(
            var_dir / "state",
            memory_mb=settings.ROCKETSCOPE_REDIS_MB,  # type: ignore[attr-defined]
        )
        if server is None:
            raise CannotStartError(
                "no Valkey or Redis server was found. Install one, or name a running "
                "one: ROCKETSCOPE_REDIS_URL=redis://host:6379/0"
            )
        say("starting Valkey for volatile state …")
        await stack.start(ChildSpec("state", server.argv))
        redis_url, redis_port = server.url, server.port
    request = var_dir / embedded_request.NAME
    given = settings.ROCKETSCOPE_CLUSTERS  # type: ignore[attr-defined]
    wanted = settings.ROCKETSCOPE_WANTS_EMBEDDED  # type: ignore[attr-defined]
    embedded = EMBEDDED not in given and (wanted or request.exists())
    surroundings = Surroundings(
        listen_host=host,
        listen_port=port,
        var_dir=var_dir,
        redis_url=redis_url,
        embedded_name_server_port=(
            free_port(prefer=plan.NAME_SERVER_PORT) if embedded else None
        ),
        embedded_log_mb=settings.ROCKETSCOPE_EMBEDDED_LOG_MB,  # type: ignore[attr-defined]
        embedded_request=None if EMBEDDED in given else request,
    )
    os.environ.update(plan.environment(surroundings))
    if redis_port:
        await stack.until(
            lambda: answers("127.0.0.1", redis_port),
            "Valkey did not answer",
            timeout=_SERVER_TIMEOUT_S,
        )
    return await _cluster_and_database(stack, surroundings)


async def _cluster_and_database(
    stack: Stack, surroundings: Surroundings
) -> Surroundings:
    if surroundings.embedded_name_server_port is None:
        say("bringing the database up to date …")
        await _manage(stack.template, "prepare")
        return surroundings
    say("starting the embedded cluster and bringing the database up to date …")
    preparing = asyncio.ensure_future(_manage(stack.template, "prepare", "--demo"))
    try:
        surroundings = await start_embedded(stack, surroundings)
        await preparing
    finally:
        preparing.cancel()
        await asyncio.gather(preparing, return_exceptions=True)
    os.environ.update(plan.environment(surroundings))
    say(f"name server of the embedded cluster: {surroundings.embedded_name_server}")
    return surroundings


async def start_embedded(stack: Stack, surroundings: Surroundings) -> Surroundings:
    """Start the embedded cluster; wait until it is ready, and return where it is.

    Its port was free when it was looked for. A program that has taken it since keeps
    it, and the cluster is started on another one.
    """
    while True:
        cluster = plan.embedded_cluster(surroundings)
        port = surroundings.embedded_name_server_port
        assert cluster is not None  # noqa: S101 - there is a port
        assert port is not None  # noqa: S101 - as above
        child = await stack.start(cluster)
        await stack.until(
            partial(_is_ready_or_late, child, port),
            "the embedded cluster did not answer",
            timeout=_SERVER_TIMEOUT_S,
        )
        if is_ready(child):
            return surroundings
        await stack.drop(child)
        say(f"another program took port {port} in the meantime; taking another one")
        surroundings = replace(surroundings, embedded_name_server_port=free_port())


def _is_ready_or_late(child: Child, port: int) -> bool:
    """Tell whether the cluster is complete, or has ended for want of its port."""
    return is_ready(child) or (child.pid is None and not is_free("127.0.0.1", port))


async def _manage(template: Template, *arguments: str) -> str:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = await _manager(template, arguments, out.fileno(), err.fileno())
        try:
            await process.wait()
        except asyncio.CancelledError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            raise
        found, words = (_text_of(each) for each in (out, err))
    if process.returncode != 0:
        told = "\n  ".join(words.strip().splitlines()[-6:])
        raise CannotStartError(
            f"{COMMAND} manage {' '.join(arguments)} failed:\n  {told}"
        )
    return found


async def _manager(
    template: Template, arguments: Sequence[str], out: int, err: int
) -> asyncio.subprocess.Process | Forked:
    # Our own command would read .env, and so what this child must not inherit.
    argv = (sys.executable, "-m", "django", *arguments)
    environ = inherited("manage", os.environ)
    try:
        return await template.fork(argv, environ, stdout=out, stderr=err)
    except NotForkedError:
        return await asyncio.create_subprocess_exec(
            *argv, env=environ, stdin=asyncio.subprocess.DEVNULL, stdout=out, stderr=err
        )


def _text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _page_answers(page: str) -> bool:
    try:
        with urllib.request.urlopen(page + "healthz", timeout=2) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def _reachable(host: str) -> str:
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _failure(child: Child, what: str) -> str:
    lines = child.last_lines()
    log = "\n  ".join(lines) if lines else "(its log is empty)"
    return f"{what}. The end of the log of {child.spec.name}:\n  {log}"


@contextlib.contextmanager
def _only_one(var_dir: Path, page: str) -> Iterator[None]:
    try:
        var_dir.mkdir(parents=True, exist_ok=True)
        _make_private(var_dir)
        lock = (var_dir / "supervisor.lock").open("a+", encoding="utf-8")
    except OSError as error:
        raise CannotStartError(
            f"{var_dir} cannot be written to ({error.strerror}). Choose another place: "
            f"{COMMAND} up --var-dir DIR"
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            raise CannotStartError(
                f"RocketScope already runs from {var_dir} ({lock.read().strip()})."
            ) from None
        lock.truncate(0)
        lock.write(f"process {os.getpid()}, {page}")
        lock.flush()
        yield


def _make_private(var_dir: Path) -> None:
    """Make private a directory that an older version left open; leave others' alone."""
    from django.conf import settings

    if (var_dir / "secret_key").exists() and var_dir.stat().st_uid == os.getuid():
        mode = stat.S_IMODE(var_dir.stat().st_mode)
        var_dir.chmod(mode & ~settings.ROCKETSCOPE_UMASK)


def _stop_signal() -> asyncio.Future[None]:
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[None] = loop.create_future()

    def stop() -> None:
        if not stopped.done():
            stopped.set_result(None)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop)
    return stopped
