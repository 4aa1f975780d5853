"""A PostgreSQL server of the tests' own, on a Unix socket, from Debian's packages."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest

from .ports import free_port
from .waiting import wait_until

_SETTINGS: Final = {
    "listen_addresses": "",
    # Lost with the test anyway.
    "fsync": "off",
    "max_connections": "40",
}


def programs() -> Path | None:
    """Return the newest folder that has PostgreSQL's programs."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"),
        key=lambda each: int(each.parent.name),
    )
    return folders[-1] if folders else None


@contextmanager
def running_server() -> Iterator[str]:
    """Start a server; yield the URL of an empty database.

    The server refuses to run as root, so that root starts it as the user postgres.
    """
    bin_folder = programs()
    if bin_folder is None:
        pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
    user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    # The path of a socket has 107 bytes at most, and other users must reach it.
    folder = Path(tempfile.mkdtemp(prefix="rs-pg-"))
    if os.getuid() == 0:
        shutil.chown(folder, user)
    data, port = folder / "data", free_port()

    def as_user(*command: str) -> list[str]:
        switch = ["setpriv", "--reuid", user, "--regid", user, "--init-groups"]
        return [*(switch if os.getuid() == 0 else []), *command]

    subprocess.run(
        as_user(
            *(str(bin_folder / "initdb"), "--auth=trust", "--no-sync", "-U", user),
            *("--encoding=UTF8", "--locale=C", str(data)),
        ),
        check=True,
        capture_output=True,
    )
    settings = [f"--{name}={value}" for name, value in _SETTINGS.items()]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            as_user(
                *(str(bin_folder / "postgres"), "-D", str(data), "-p", str(port)),
                *("-k", str(folder), *settings),
            ),
            stdout=log,
            stderr=log,
        )
    try:
        ask = [str(bin_folder / "psql"), "-h", str(folder), "-p", str(port), "-U", user]

        def is_ready() -> bool:
            return not subprocess.run(
                [*ask, "-d", "postgres", "-c", "CREATE DATABASE rocketscope"],
                capture_output=True,
                check=False,
            ).returncode

        wait_until(is_ready, f"PostgreSQL to answer; its log: {folder / 'log'}")
        yield f"postgresql://{user}@{quote(str(folder), safe='')}:{port}/rocketscope"
    finally:
        # A fast shutdown: whoever is connected is sent away.
        server.send_signal(signal.SIGINT)
        server.wait(30)
        shutil.rmtree(folder)
