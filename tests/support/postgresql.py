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


class PostgreSQL:
    """One server with an empty database at `url`, in a folder of its own.

    The server refuses to run as root, so that root starts it as the user postgres.
    """

    def __init__(self, bin_folder: Path) -> None:
        self._bin = bin_folder
        self._user = (
            "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        )
        # A socket's path has 107 bytes at most, and other users must reach it.
        self._folder = Path(tempfile.mkdtemp(prefix="rs-pg-"))
        if os.getuid() == 0:
            shutil.chown(self._folder, self._user)
        self._data, self._port = self._folder / "data", free_port()
        self._server: subprocess.Popen[bytes] | None = None
        host = quote(str(self._folder), safe="")
        self.url = f"postgresql://{self._user}@{host}:{self._port}/rocketscope"
        self._run(
            *("initdb", "--auth=trust", "--no-sync", "-U", self._user),
            *("--encoding=UTF8", "--locale=C", str(self._data)),
        )
        self.start()
        self._ask("postgres", "CREATE DATABASE rocketscope").check_returncode()

    def start(self) -> None:
        """Start the server, and return once it answers.

        One that was killed can only start when the last of its processes has ended.
        """
        wait_until(
            self._answers, f"PostgreSQL to answer; its log: {self._folder / 'log'}"
        )

    def kill(self) -> None:
        """End the server at once; what it has committed is there after `start`."""
        if self._server is not None:
            self._server.kill()
            self._server.wait()

    def remove(self) -> None:
        """Shut down fast, sending away whoever is connected, and delete all data."""
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            self._server.wait(30)
        shutil.rmtree(self._folder)

    def _answers(self) -> bool:
        if self._server is None or self._server.poll() is not None:
            self._launch()
        return not self._ask("postgres", "SELECT 1").returncode

    def _launch(self) -> None:
        settings = [f"--{name}={value}" for name, value in _SETTINGS.items()]
        with (self._folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                self._as_user(
                    *("postgres", "-D", str(self._data), "-p", str(self._port)),
                    *("-k", str(self._folder), *settings),
                ),
                stdout=log,
                stderr=log,
                # Ctrl-C is for the tests, which then shut it down.
                start_new_session=True,
            )

    def _ask(self, database: str, query: str) -> subprocess.CompletedProcess[bytes]:
        where = ["-h", str(self._folder), "-p", str(self._port), "-U", self._user]
        return subprocess.run(
            [str(self._bin / "psql"), *where, "-d", database, "-c", query],
            capture_output=True,
            check=False,
        )

    def _run(self, *command: str) -> None:
        subprocess.run(self._as_user(*command), check=True, capture_output=True)

    def _as_user(self, program: str, *arguments: str) -> list[str]:
        user = self._user
        switch = ["setpriv", "--reuid", user, "--regid", user, "--init-groups"]
        command = [str(self._bin / program), *arguments]
        return [*(switch if os.getuid() == 0 else []), *command]


@contextmanager
def running_server() -> Iterator[str]:
    """Start a server; yield the URL of an empty database."""
    bin_folder = programs()
    if bin_folder is None:
        pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
    server = PostgreSQL(bin_folder)
    try:
        yield server.url
    finally:
        server.remove()
