"""The shipped units start what the supervisor starts, and systemd takes them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Final

import pytest

from dashboard.clock.ending import KILL_AFTER_SECONDS
from dashboard.supervisor import plan
from dashboard.supervisor.child import ChildSpec
from dashboard.supervisor.inheritance import inherited
from dashboard.supervisor.plan import Surroundings

ROOT: Final = Path(__file__).resolve().parents[2]
UNITS: Final = ROOT / "deploy/systemd"
VAR_DIR: Final = Path("/var/lib/rocketscope")
INSTALLED: Final = "/opt/rocketscope"
FOUND: Final = Surroundings("127.0.0.1", 8300, VAR_DIR, "redis://r:1/0", None, 1024)
PLANNED: Final = [plan.web(FOUND), *plan.workers(), plan.analytics()]
UNIT_OF: Final = {
    "web": "web@8300",
    "fleet-1": "fleet@1",
    "fleet-2": "fleet@2",
}
SECRETS: Final = {
    "clusters": ("ROCKETSCOPE_CLUSTER_PROD_SECRET_KEY",),
    "database": ("ROCKETSCOPE_DATABASE_URL",),
    "redis": ("ROCKETSCOPE_REDIS_URL",),
    "s3": ("ROCKETSCOPE_S3_SECRET_KEY",),
    "key": ("ROCKETSCOPE_SECRET_KEY",),
    "web": ("ROCKETSCOPE_METRICS_TOKEN",),
}
HARDENED: Final = {
    "User": "rocketscope",
    "UMask": "0077",
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "ProtectProc": "invisible",
    "PrivateDevices": "yes",
    "PrivateTmp": "yes",
    "StateDirectory": VAR_DIR.name,
    "StateDirectoryMode": "0700",
    "LimitCORE": "0",
}

Unit = dict[str, list[str]]


def read(path: Path, instance: str = "") -> Unit:
    """Return the values of each key, with the specifiers that are used resolved."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in path.read_text("utf-8").replace("\\\n", "").splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found[key].append(value.replace("%i", instance).replace("%%", "%"))
    return dict(found)


def unit_of(spec: ChildSpec) -> Unit:
    stem, at, instance = UNIT_OF.get(spec.name, spec.name).partition("@")
    return read(UNITS / f"rocketscope-{stem}{at}.service", instance)


def services() -> list[Path]:
    return sorted(UNITS.glob("*.service"))


def environment_of(unit: Unit) -> dict[str, str]:
    pairs = [pair for line in unit["Environment"] for pair in line.split()]
    return dict(pair.split("=", 1) for pair in pairs)


@pytest.mark.parametrize("spec", PLANNED, ids=lambda spec: spec.name)
def test_a_unit_starts_what_the_supervisor_starts(spec: ChildSpec) -> None:
    unit = unit_of(spec)
    python = f"{INSTALLED}/.venv/bin/python"
    wanted = [python if part == sys.executable else part for part in spec.argv]
    assert unit["ExecStart"][0].split() == wanted
    assert unit.get("Nice", ["0"]) == [str(spec.nice)]
    assert unit["Restart"] == ["always"]


def test_every_unit_is_of_a_planned_process() -> None:
    named = {UNIT_OF.get(spec.name, spec.name).partition("@")[0] for spec in PLANNED}
    found = {path.stem.removeprefix("rocketscope-").rstrip("@") for path in services()}
    assert found == named | {"prepare"}


@pytest.mark.parametrize("path", services(), ids=lambda path: path.stem)
def test_a_unit_has_the_settings_of_all_processes(path: Path) -> None:
    settings = plan.environment(FOUND)
    # This one may hold a password, and command lines show what a unit says.
    del settings["ROCKETSCOPE_REDIS_URL"]
    assert environment_of(read(path)) == settings


@pytest.mark.parametrize("spec", PLANNED, ids=lambda spec: spec.name)
def test_a_unit_reads_the_secrets_that_its_process_inherits(spec: ChildSpec) -> None:
    wanted = {
        file
        for file, names in SECRETS.items()
        if inherited(spec.name, dict.fromkeys(names, "x")).keys() & set(names)
    }
    files = unit_of(spec)["EnvironmentFile"]
    assert files[0] == "/etc/rocketscope/settings.env"
    assert files[1:] == [f"-/etc/rocketscope/{file}.env" for file in sorted(wanted)]


@pytest.mark.parametrize("path", services(), ids=lambda path: path.stem)
def test_a_unit_is_hardened(path: Path) -> None:
    unit = read(path)
    assert {key: unit.get(key, ["missing"])[-1] for key in HARDENED} == HARDENED


def test_a_stop_waits_as_long_as_the_supervisor() -> None:

    waits = {unit_of(spec)["TimeoutStopSec"][0] for spec in PLANNED}
    assert waits == {f"{KILL_AFTER_SECONDS:g}"}


def systemd_analyze(*arguments: str, folder: Path) -> str:
    """Return what it says of units that are copied to `folder` and installed here."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd is not installed (Debian: systemd)")
    for path in UNITS.iterdir():
        name = path.name.replace("@.", f"@{'8300' if 'web' in path.name else '1'}.")
        text = path.read_text("utf-8")
        python = f"{INSTALLED}/.venv/bin/python"
        text = text.replace(python, sys.executable).replace(INSTALLED, str(ROOT))
        (folder / name).write_text(text, "utf-8")
    done = subprocess.run(
        [program, *arguments, *sorted(map(str, folder.iterdir()))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stderr + done.stdout


def test_systemd_has_nothing_to_say_against_the_units(tmp_path: Path) -> None:
    assert not systemd_analyze("verify", "--man=no", folder=tmp_path)
