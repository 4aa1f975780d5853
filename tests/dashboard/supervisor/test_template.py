from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dashboard.supervisor import plan
from dashboard.supervisor.child import Child, ChildSpec
from dashboard.supervisor.inheritance import inherited
from dashboard.supervisor.template import NotForkedError, Template
from tests.support.waiting import until

PROGRAM = """
import os, sys, time
if __name__ == "__main__":
    url = os.environ.get("ROCKETSCOPE_REDIS_URL")
    print(url, os.nice(0), *sys.argv[1:], flush=True)
    time.sleep(0 if "end" in sys.argv else 600)
    sys.exit(3)
"""


@pytest.fixture
async def template(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Template]:
    (tmp_path / "program_of_a_child.py").write_text(PROGRAM, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("ROCKETSCOPE_REDIS_URL", "redis://secret:1/0")
    monkeypatch.setenv("OTHER_PROGRAMS_TOKEN", "secret")
    started = Template()
    started.start(inherited("template", os.environ) | plan.ONE_THREAD)
    yield started
    started.stop()


def spec(name: str, *arguments: str, **options: int) -> ChildSpec:
    argv = (sys.executable, "-m", "program_of_a_child", *arguments)
    return ChildSpec(name, argv, **options)  # type: ignore[arg-type]


def shown(pid: int, what: str) -> list[str]:
    return Path(f"/proc/{pid}/{what}").read_bytes().decode().rstrip("\0").split("\0")


async def test_a_forked_child_is_like_one_that_was_started(
    template: Template, tmp_path: Path
) -> None:
    child = Child(spec("beat", "one", nice=3), tmp_path, template=template)
    await child.start()
    await until(child.last_lines)
    assert child.last_lines() == [f"redis://secret:1/0 {os.nice(0) + 3} one"]
    assert child.pid is not None
    stat = Path(f"/proc/{child.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    parent, group, session = (int(field) for field in stat[1:4])
    assert (parent, group, session) == (os.getpid(), child.pid, child.pid)
    assert shown(child.pid, "cmdline") == list(spec("beat", "one").argv)
    pid = child.pid
    await child.stop()
    assert not Path(f"/proc/{pid}").exists()


async def test_a_forked_child_holds_only_the_secrets_it_needs(
    template: Template, tmp_path: Path
) -> None:
    other = Child(spec("cluster"), tmp_path, template=template)
    needy = Child(spec("beat"), tmp_path, template=template)
    for child in (other, needy):
        await child.start()
        await until(child.last_lines)
    assert other.last_lines()[0].startswith("None ")
    assert template.pid is not None
    assert other.pid is not None
    assert needy.pid is not None
    found = {pid: shown(pid, "environ") for pid in (template.pid, other.pid, needy.pid)}
    held = {pid for pid, lines in found.items() if "secret" in " ".join(lines)}
    assert held == {needy.pid}
    assert not [line for line in found[needy.pid] if line.startswith("OTHER_")]
    for child in (other, needy):
        await child.stop()


async def test_an_exit_code_and_a_kill_are_told_apart(
    template: Template, tmp_path: Path
) -> None:
    events: list[tuple[str, str]] = []
    ending = Child(
        spec("beat", "end"), tmp_path, lambda *e: events.append(e), template=template
    )
    await ending.start()
    await until(lambda: events)
    assert events[0] == ("beat", "ended (exit code 3), starts again in 0.5 s")
    await ending.stop()
    killed = Child(
        spec("web"), tmp_path, lambda *e: events.append(e), template=template
    )
    events.clear()
    await killed.start()
    first = killed.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await until(lambda: killed.starts == 2 and killed.pid)
    assert events[0] == ("web", "ended (SIGKILL), starts again in 0.5 s")
    assert killed.pid != first
    await killed.stop()


async def test_children_outlive_the_template_and_start_without_it(
    template: Template, tmp_path: Path
) -> None:
    forked = Child(spec("beat"), tmp_path, template=template)
    await forked.start()
    await until(forked.last_lines)
    assert template.pid is not None
    os.kill(template.pid, signal.SIGKILL)
    started = Child(spec("collector", "two"), tmp_path, template=template)
    await started.start()
    await until(started.last_lines)
    assert started.last_lines()[0].endswith(" two")
    assert forked.pid is not None
    for child in (forked, started):
        await child.stop()


async def test_other_commands_are_not_forked(template: Template) -> None:
    with pytest.raises(NotForkedError):
        await template.fork(["/bin/true"], {}, stdout=1, stderr=2)


SHARED = """
import os
import django
from django.conf import settings
from django.db import connection
from django.utils import translation
from dashboard.supervisor import forking

for _command, names in forking.STAGES:
    for name in names:
        forking.import_shared(name)
print(len(os.listdir("/proc/self/task")), connection.vendor)
forking.forget_settings()
print(settings.configured)
os.environ["DJANGO_SETTINGS_MODULE"] = "dashboard.config.settings"
django.setup()
print(connection.vendor, translation.gettext("Monday"), settings.LOGGING["version"])
"""


def test_what_is_shared_starts_no_thread_and_forgets_what_it_read(
    tmp_path: Path,
) -> None:
    """It ends with an error, too, when a shared module reads a setting of ours."""
    others = {
        "ROCKETSCOPE_DATABASE_URL": "postgres://user:secret@localhost/other",
        "ROCKETSCOPE_LANGUAGE": "zh-hans",
        "ROCKETSCOPE_VAR_DIR": str(tmp_path),
    }
    environ = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
    done = subprocess.run(
        [sys.executable, "-c", SHARED],
        env=environ | plan.ONE_THREAD | others,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["1 sqlite", "False", "postgresql 星期一 1"]
