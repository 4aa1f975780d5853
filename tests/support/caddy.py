"""A real Caddy that runs the configuration which ships with the project."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from dashboard.supervisor.ports import answers

from .launched import ROOT
from .ports import LOOPBACK, free_port
from .process import Process
from .waiting import wait_until

SHIPPED: Final = ROOT / "deploy/Caddyfile"
_AROUND: Final = """{{
	admin off
	default_bind {loopback}
	http_port {http}
	https_port {https}
	storage file_system {folder}
}}

"""


def shipped(*, web: int, certificate: Path, key: Path) -> str:
    """Return the shipped file with this port and certificate in place of its own."""
    text = SHIPPED.read_text("utf-8")
    for old, new in {
        "rocketscope.example {": f"rocketscope.example {{\n\ttls {certificate} {key}",
        "reverse_proxy 127.0.0.1:8300 {": f"reverse_proxy {LOOPBACK}:{web} {{",
    }.items():
        assert text.count(old) == 1, f"{old!r} in {SHIPPED}"
        text = text.replace(old, new)
    return text


@contextmanager
def running_caddy(
    folder: Path, *, web: int, certificate: Path, key: Path
) -> Iterator[tuple[int, int]]:
    """Start Caddy before a web process; yield its ports for http and https."""
    program = shutil.which("caddy")
    if program is None:
        pytest.skip("Caddy is not installed (Debian: caddy)")
    folder.mkdir(parents=True, exist_ok=True)
    http, https = free_port(), free_port()
    around = _AROUND.format(loopback=LOOPBACK, http=http, https=https, folder=folder)
    main = folder / "Caddyfile"
    text = around + shipped(web=web, certificate=certificate, key=key)
    main.write_text(text, "utf-8")
    caddy = Process(
        [program, "run", "--config", str(main), "--adapter", "caddyfile"],
        log=folder / "caddy.log",
        env={**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)},
    )
    try:
        wait_until(
            lambda: not caddy.running or answers(LOOPBACK, https), "Caddy to start"
        )
        assert caddy.running, caddy.tail()
        yield http, https
    finally:
        caddy.kill()
