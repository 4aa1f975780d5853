"""The template's side: import what children share, then fork them (see `template`).

`python -m dashboard.supervisor.forking FD`. Requests are a length, with the descriptors
of a child's output, and a JSON document; the answer is the child's process id.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from dashboard.config import structure

MODELS: Final = "dashboard.models"
"""Django imports it with all apps; modules that are named after it may use models."""

STAGES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("rmqcore", ("rmqcore.commands.cluster", "rmqcore.commands.produce")),
    (
        "django",
        (
            "django.core.management.commands.migrate",
            "django.contrib.messages.middleware",
            "django.contrib.staticfiles.finders",
            "django.core.cache.backends.redis",
            "django.db.backends.sqlite3.base",
            "django.db.migrations.executor",
            "argon2",
            "cryptography.fernet",
            MODELS,
        ),
    ),
    (
        "dashboard.config.web",
        (
            "django.core.handlers.asgi",
            "django.middleware.csrf",
            "django.middleware.gzip",
            "django.template.backends.django",
            "django.template.loader_tags",
            "django.test",  # for ninja
            "django.views.generic",
            "django.views.i18n",
            "channels.auth",
            "channels.generic.websocket",
            "channels.routing",
            "channels_redis.pubsub",
            "csp.middleware",
            "whitenoise.middleware",
            "uvicorn",
            "uvicorn.lifespan.on",
            "uvicorn.loops.auto",
            "uvicorn.protocols.http.h11_impl",
            "uvicorn.protocols.http.httptools_impl",
            "uvicorn.protocols.websockets.websockets_sansio_impl",
            "pydantic.deprecated.decorator",
            "pydantic.networks",
            "pydantic.root_model",
            "authlib.integrations.base_client",
            "authlib.integrations.requests_client",
            "joserfc.jwt",
            "requests",
            "rmqcore.admin",
            "rmqcore.client",
            "segno",
            "xlsxwriter",
            "dashboard.config.handler",
            "dashboard.live.routing",
        ),
    ),
    (
        "",
        (
            "billiard.pool",
            "celery.app.control",
            "celery.app.log",
            "celery.apps.beat",
            "celery.apps.worker",
            "celery.backends.redis",
            "celery.bin.beat",
            "celery.bin.celery",
            "celery.bin.worker",
            "celery.concurrency.solo",
            "celery.contrib.django.task",
            "celery.events.receiver",
            "celery.fixups.django",
            "celery.worker.autoscale",
            "celery.worker.components",
            "celery.worker.consumer",
            "celery.worker.consumer.delayed_delivery",
            "celery.worker.control",
            "celery.worker.strategy",
            "kombu.transport.redis",
            "numpy",
            "dashboard.clock.beat",
            "dashboard.collector.service",
            "dashboard.dead_letters.service",
            "dashboard.fleet.service",
            "dashboard.labs.service",
            "dashboard.reports.starting",
        ),
    ),
)
"""What is imported, and which command needs no more than what stands up to there.

Such a command is forked at once, and goes on beside the template. What only one process
imports, as pages, is not here: it would take the template as long. No module starts a
thread when it is imported, or reads a setting other than those of
`_settings_of_models`, which are forgotten (ninja and our Celery application read
others). What is not installed is left out.
"""

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_MM: Final = 35
_PR_SET_MM_MAP: Final = 14
_ADDRESSES: Final = (26, 27, 45, 46, 47)
_STACK: Final = 28
"""Where `/proc/PID/stat` has the beginnings and ends of code, data and stack."""
_libc = ctypes.CDLL(None, use_errno=True)
_shown: list[Any] = []
"""What `/proc` shows lies in these buffers, which must not be freed."""


def main() -> list[str] | None:
    """Fork children until the supervisor is gone; return, in a child, its command."""
    # Settings are read after the fork, with what the child inherits.
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    supervisor = os.getppid()
    asked = socket.socket(fileno=int(sys.argv[1]))
    waiting: list[tuple[dict[str, Any], list[int]]] = []
    # Whatever is imported stays, so that looking for garbage would find nothing.
    gc.disable()
    for complete in _imported():
        if select.select([asked], [], [], 0)[0]:
            waiting.append(_receive(asked))
        if waiting and _stage_of(waiting[0][0]) < complete:
            request, descriptors = waiting.pop(0)
            if _fork(asked, request, descriptors, supervisor):
                return list(request["argv"])
    while True:
        try:
            request, descriptors = waiting.pop(0) if waiting else _receive(asked)
        except EOFError:
            return None
        if _fork(asked, request, descriptors, supervisor):
            return list(request["argv"])


def _imported() -> Iterator[int]:
    """Import all modules; yield, between them, how many stages are complete."""
    for complete, (_command, names) in enumerate(STAGES):
        for name in names:
            with contextlib.suppress(ImportError):
                import_shared(name)
            yield complete
    yield len(STAGES)


def import_shared(name: str) -> None:
    """Import a module of `STAGES`; models as Django does."""
    if name == MODELS:
        import django
        from django.conf import settings

        settings.configure(_settings_of_models())
        django.setup(set_prefix=False)
    importlib.import_module(name)


def _settings_of_models() -> SimpleNamespace:
    """Return what Django reads to import models: nothing that users set."""
    return SimpleNamespace(
        INSTALLED_APPS=structure.INSTALLED_APPS,
        AUTH_USER_MODEL=structure.AUTH_USER_MODEL,
        DEFAULT_AUTO_FIELD=structure.DEFAULT_AUTO_FIELD,
        ABSOLUTE_URL_OVERRIDES={},
        # For the longest name of a table, which none of ours comes near.
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3"}},
        DEBUG=False,
        DEFAULT_INDEX_TABLESPACE="",
        DEFAULT_TABLESPACE="",
        LOGGING={},
        LOGGING_CONFIG=None,
        USE_I18N=False,
    )


def forget_settings() -> None:
    """Let Django read the settings again, and with them what it derived."""
    if MODELS not in sys.modules:
        return
    from django.conf import settings
    from django.db import connections
    from django.utils import translation
    from django.utils.functional import empty

    settings._wrapped = empty
    connections.__dict__.clear()
    connections.__init__()  # type: ignore[misc]
    vars(translation)["_trans"].__dict__.clear()


def _stage_of(request: dict[str, Any]) -> int:
    """Return the stage after which a command can be forked."""
    commands = [command for command, _names in STAGES]
    module = request["argv"][2]
    return commands.index(module) if module in commands else len(commands) - 1


def run(argv: list[str]) -> None:
    """Run `python -m MODULE …` in this process."""
    sys.argv = [argv[2], *argv[3:]]
    runpy.run_module(argv[2], run_name="__main__", alter_sys=True)


def _receive(asked: socket.socket) -> tuple[dict[str, Any], list[int]]:
    head, descriptors, _flags, _from = socket.recv_fds(asked, 4, 2)
    while 0 < len(head) < 4:
        head += asked.recv(4 - len(head)) or b"\0" * 4
    if not head:
        raise EOFError
    size, body = int.from_bytes(head[:4], "big"), b""
    while len(body) < size:
        more = asked.recv(size - len(body))
        if not more:
            raise EOFError
        body += more
    return json.loads(body), list(descriptors)


def _fork(
    asked: socket.socket, request: dict[str, Any], outputs: list[int], supervisor: int
) -> bool:
    """Fork a child of the supervisor; return True in it."""
    # Collecting garbage would write to every object that is shared.
    gc.freeze()
    reading, writing = os.pipe()
    middle = os.fork()
    if middle == 0:
        child = os.fork()
        if child == 0:
            asked.close()
            os.close(reading)
            os.close(writing)
            _become(request, outputs, supervisor)
            return True
        os.write(writing, child.to_bytes(4, "big"))
        os._exit(0)
    os.close(writing)
    for descriptor in outputs:
        os.close(descriptor)
    answer = os.read(reading, 4)
    os.close(reading)
    os.waitpid(middle, 0)  # only then is the child the supervisor's
    asked.sendall(answer)
    return False


def _become(request: dict[str, Any], outputs: list[int], supervisor: int) -> None:
    os.setsid()
    while os.getppid() != supervisor:
        if not _is_alive(supervisor):
            os._exit(1)
        time.sleep(0.001)
    gc.enable()
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != supervisor:
        # It died before the line above, so nothing would end this process.
        os._exit(1)
    if request["nice"]:
        os.nice(request["nice"])
    for number, descriptor in zip((1, 2), outputs, strict=True):
        os.dup2(descriptor, number)
    for descriptor in outputs:
        os.close(descriptor)
    forget_settings()
    os.environ.clear()
    os.environ.update(request["environ"])
    time.tzset()
    with contextlib.suppress(OSError, ValueError):
        _show(request["argv"], request["environ"])


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _show(argv: list[str], environ: dict[str, str]) -> None:
    """Let `ps` and `/proc` show this command and its environment.

    Without it they show the template's, where a kernel refuses.
    """
    arguments = b"".join(os.fsencode(each) + b"\0" for each in argv)
    variables = b"".join(
        os.fsencode(f"{name}={value}") + b"\0" for name, value in environ.items()
    )
    text = arguments + variables
    kept = ctypes.create_string_buffer(text, len(text))
    begin = ctypes.addressof(kept)
    middle = begin + len(arguments)
    stat = Path("/proc/self/stat").read_text("utf-8", "replace")
    fields = stat.rpartition(")")[2].split()
    # The first field after the name is the third.
    code, code_end, data, data_end, heap = (int(fields[n - 3]) for n in _ADDRESSES)
    _libc.sbrk.restype = ctypes.c_void_p
    places = struct.pack(
        "11QQII",
        *(code, code_end, data, data_end, heap, _libc.sbrk(0)),
        int(fields[_STACK - 3]),
        *(begin, middle, middle, begin + len(text)),
        *(0, 0, 0xFFFFFFFF),
    )
    given = ctypes.create_string_buffer(places, len(places))
    if _libc.prctl(
        _PR_SET_MM,
        _PR_SET_MM_MAP,
        ctypes.c_void_p(ctypes.addressof(given)),
        ctypes.c_ulong(len(places)),
        ctypes.c_ulong(0),
    ):
        raise OSError(ctypes.get_errno(), "the command cannot be shown")
    _shown.append(kept)


if __name__ == "__main__":
    command = main()
    if command is not None:
        run(command)
