"""The shipped image and composition, run as processes on loopback.

There is no runtime of containers here. What the image would run while it is built, and
each container's command and health check, is run as it stands in the files; only
places, addresses and ports become those of the test.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from .apache import BRIEF_SPARK
from .launched import ROOT
from .ports import free_port, listens
from .process import Process
from .waiting import wait_until
from .wheel import see_the_packages_of_others

SHIPPED: Final = ROOT / "deploy" / "container"
SECRETS: Final = {"POSTGRES_PASSWORD": "elephant", "VALKEY_PASSWORD": "key"}
_ENVIRONMENT: Final = "/opt/rocketscope"
_STATE: Final = "/var/lib/rocketscope"
_START_S: Final = 120.0
_REDIS_CLI: Final = """#!{python}
import os, redis
url = "redis://:%s@127.0.0.1:{port}/0" % os.environ["REDISCLI_AUTH"]
print("PONG" if redis.Redis.from_url(url).ping() else "")
"""


def instructions() -> Iterator[tuple[str, str]]:
    """Yield the image's instructions with what follows each."""
    for line in (SHIPPED / "Containerfile").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _space, rest = line.partition(" ")
            yield name, rest


def image_environment() -> dict[str, str]:
    """Return what the image sets for all processes."""
    lines = [rest for name, rest in instructions() if name == "ENV"]
    return dict(line.split("=", 1) for line in lines)


def image_list(wanted: str) -> list[str]:
    """Return the words of the image's instruction CMD or HEALTHCHECK."""
    (rest,) = (rest for name, rest in instructions() if name == wanted)
    words: list[str] = json.loads(rest[rest.index("[") :])
    return words


def services() -> dict[str, dict[str, Any]]:
    """Return the composition's services, with variables and `$$` resolved."""
    text = (SHIPPED / "compose.yaml").read_text("utf-8")
    text = re.sub(r"\$\{(\w+):\?\}", lambda found: SECRETS[found[1]], text)
    found: dict[str, dict[str, Any]] = yaml.safe_load(text)["services"]
    return found


@dataclass(slots=True)
class Containers:
    """Processes by the names of their services; `folder` takes all that they write."""

    folder: Path
    postgresql_url: str
    settings: Mapping[str, str]
    processes: dict[str, Process] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        """The volume that all processes share."""
        return self.folder / "state"

    def build(self, wheel: Path) -> None:
        """Run the image's own lines that make the environment, without network."""
        (self.folder / "tmp").mkdir(parents=True)
        (self.folder / "tmp" / wheel.name).write_bytes(wheel.read_bytes())
        self.state.mkdir()
        lines = [rest for name, rest in instructions() if name == "RUN"]
        make, install = (line for line in lines if _ENVIRONMENT in line)
        make, _and, _others = make.partition(" && ")
        for line in (make, install):
            done = subprocess.run(
                ["sh", "-c", self._here(line, "")],
                env={
                    "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
                    "HOME": str(self.folder),
                    "PIP_NO_INDEX": "1",
                },
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr + done.stdout
        see_the_packages_of_others(self.folder / "opt" / ".venv")

    def environment(self, service: str) -> dict[str, str]:
        """Return what a container's processes have in their environment."""
        given = {
            name: self._here(value, service)
            for name, value in services()[service].get("environment", {}).items()
        }
        ours = {k: self._here(v, service) for k, v in image_environment().items()}
        if not services()[service]["image"].startswith("rocketscope:"):
            ours = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        # Sparks find each other by the machine's name, which means nothing here.
        spark = {"SPARK_LOCAL_IP": "127.0.0.1", "JAVA_TOOL_OPTIONS": BRIEF_SPARK}
        return {**ours, **self.settings, **given, **spark}

    def start(self, service: str) -> Process:
        """Start a container's process."""
        log = self.folder / "logs" / f"{service}.log"
        words = services()[service]["command"]
        self.processes[service] = Process(
            self._words(service, words),
            log=log,
            env={**self.environment(service), "PYTHONPATH": ""},
            cwd=self.state,
        )
        return self.processes[service]

    def run(self, service: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command in a container, as `docker compose exec` does."""
        return subprocess.run(
            self._words(service, words),
            env=self.environment(service),
            cwd=self.state,
            capture_output=True,
            text=True,
            check=False,
        )

    def is_healthy(self, service: str) -> bool:
        """Run a container's health check."""
        how, *words = services()[service]["healthcheck"]["test"]
        if how == "CMD-SHELL":
            words = ["sh", "-c", *words]
        return self.run(service, *words).returncode == 0

    def address(self, name: str) -> str:
        """Return the address of a web process's pages, without a slash at the end."""
        return f"http://127.0.0.1:{self.port(name)}"

    def wait_until_healthy(self, service: str) -> None:
        """Wait for a container that listens to be healthy, by its own check.

        A check is a Python of its own, which takes time from those that start: nothing
        is asked before somebody listens.
        """
        port = self.port(service)
        wait_until(lambda: listens(port), service, seconds=_START_S)
        wait_until(lambda: self.is_healthy(service), service)

    def stop(self) -> None:
        """End what still runs."""
        for process in reversed(self.processes.values()):
            process.kill()

    def stand_in_for_the_client_of_valkey(self, server: str) -> None:
        """Put the server, and a client like its own, where its container has them."""
        folder = self.folder / "bin"
        folder.mkdir()
        (folder / "valkey-server").symlink_to(server)
        client = folder / "valkey-cli"
        port = self.port("valkey")
        client.write_text(_REDIS_CLI.format(python=sys.executable, port=port), "utf-8")
        client.chmod(0o755)

    def port(self, name: str) -> int:
        """Return the port that stands for a container's own."""
        return self.ports.setdefault(name, free_port())

    def _words(self, service: str, words: Any) -> list[str]:
        found = [self._here(str(word), service) for word in words]
        if found[0] in ("python", "rocketscope"):
            found[0] = str(self.folder / "opt" / ".venv" / "bin" / found[0])
        return found

    def _here(self, text: str, service: str) -> str:
        """Return a text with the test's own places, addresses and ports."""
        if text.startswith("postgresql://"):
            return self.postgresql_url
        here = {
            "$$": "$",
            _ENVIRONMENT: str(self.folder / "opt"),
            _STATE: str(self.state),
            "/tmp/": f"{self.folder / 'tmp'}/",
            "@valkey:": "@127.0.0.1:",
            "spark-master": "127.0.0.1",
            "0.0.0.0": "127.0.0.1",
            "6379": str(self.port("valkey")),
            "7077": str(self.port("spark-master")),
            "8080": "0",
            "8081": "0",
            "8300": str(self.port(service)),
        }
        places = "|".join(map(re.escape, here))
        return re.sub(places, lambda found: here[found[0]], text)
