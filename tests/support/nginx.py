"""A real nginx that runs the configuration which ships with the project."""

from __future__ import annotations

import getpass
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from .launched import ROOT
from .ports import LOOPBACK, free_port
from .process import Process
from .waiting import wait_until

SHIPPED: Final = ROOT / "deploy/nginx.conf"
HOST: Final = "rocketscope.example"
# Another address of loopback, for the lines that listen on IPv6, which may be missing.
_SECOND_LOOPBACK: Final = "127.0.0.2"
_AROUND: Final = """
daemon off;
user {user};
pid {folder}/nginx.pid;
error_log stderr warn;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/rocketscope.conf;
}}
"""


def shipped(
    *, http: int, https: int, web: Sequence[int], certificate: Path, key: Path
) -> str:
    """Return the shipped file with these ports and files in place of its own."""
    text = SHIPPED.read_text("utf-8")
    servers = "\n    ".join(f"server {LOOPBACK}:{port};" for port in web)
    for old, new in {
        "server 127.0.0.1:8300;": servers,
        "listen 80;": f"listen {LOOPBACK}:{http};",
        "listen [::]:80;": f"listen {_SECOND_LOOPBACK}:{http};",
        "listen 443 ": f"listen {LOOPBACK}:{https} ",
        "listen [::]:443 ": f"listen {_SECOND_LOOPBACK}:{https} ",
        "/etc/ssl/rocketscope/fullchain.pem;": f"{certificate};",
        "/etc/ssl/rocketscope/privkey.pem;": f"{key};",
    }.items():
        assert text.count(old) == 1, f"{old!r} in {SHIPPED}"
        text = text.replace(old, new)
    return text


@contextmanager
def running_nginx(
    folder: Path, *, web: Sequence[int], certificate: Path, key: Path
) -> Iterator[tuple[int, int]]:
    """Start nginx before web processes; yield its ports for http and https."""
    # Debian has it where only root's PATH leads.
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        pytest.skip("nginx is not installed (Debian: nginx)")
    folder.mkdir(parents=True, exist_ok=True)
    http, https = free_port(), free_port()
    (folder / "rocketscope.conf").write_text(
        shipped(http=http, https=https, web=web, certificate=certificate, key=key),
        "utf-8",
    )
    main = folder / "nginx.conf"
    main.write_text(_AROUND.format(folder=folder, user=getpass.getuser()), "utf-8")
    nginx = Process(
        [program, "-p", str(folder), "-c", str(main)], log=folder / "nginx.log"
    )
    try:
        wait_until(
            lambda: not nginx.running or (folder / "nginx.pid").exists(),
            "nginx to start",
        )
        assert nginx.running, nginx.tail()
        yield http, https
    finally:
        nginx.kill()


def directive(name: str) -> str:
    """Return the value of a directive of the shipped file, which has it once."""
    found = re.findall(rf"^\s*{name}\s+(.+);$", SHIPPED.read_text("utf-8"), re.M)
    assert len(found) == 1, f"{name} in {SHIPPED}: {found}"
    return str(found[0])
