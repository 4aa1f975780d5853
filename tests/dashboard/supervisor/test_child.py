import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from dashboard.supervisor.child import Child, ChildSpec
from tests.support.waiting import until

SLEEPER = "import time; print('up', flush=True); time.sleep(600)"
PARENT = f"""
import subprocess, sys, time
inner = subprocess.Popen([sys.executable, "-c", {SLEEPER!r}])
print(inner.pid, flush=True)
time.sleep(600)
"""


def python(name: str, code: str, **options: object) -> ChildSpec:
    argv = (sys.executable, "-c", textwrap.dedent(code))
    return ChildSpec(name, argv, **options)  # type: ignore[arg-type]


def is_alive(pid: int) -> bool:
    try:
        state = (
            Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()[0]
        )
    except OSError:
        return False
    return state != "Z"


@pytest.fixture
def events() -> list[tuple[str, str]]:
    return []


async def test_a_child_writes_its_log_and_ends_when_told(tmp_path: Path) -> None:
    child = Child(python("one", SLEEPER), tmp_path)
    await child.start()
    await until(child.last_lines)
    assert child.last_lines() == ["up"]
    pid = child.pid
    assert pid is not None
    await child.stop()
    assert child.pid is None
    assert not is_alive(pid)
    await child.stop()


async def test_a_killed_child_is_started_again(
    tmp_path: Path, events: list[tuple[str, str]]
) -> None:
    child = Child(python("one", SLEEPER), tmp_path, lambda *event: events.append(event))
    await child.start()
    first = child.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await until(lambda: child.starts == 2 and child.pid)
    assert child.pid != first
    assert events == [("one", "ended (SIGKILL), starts again in 0.5 s")]
    await child.stop()


async def test_what_a_killed_child_leaves_behind_is_ended(tmp_path: Path) -> None:
    child = Child(python("one", PARENT), tmp_path)
    await child.start()
    await until(lambda: any(line.isdigit() for line in child.last_lines()))
    inner = int(next(line for line in child.last_lines() if line.isdigit()))
    first = child.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    try:
        await until(lambda: child.starts == 2 and not is_alive(inner), seconds=20)
    finally:
        await child.stop()
        if is_alive(inner):
            os.kill(inner, signal.SIGKILL)


async def test_stopping_during_the_pause_starts_nothing(
    tmp_path: Path, events: list[tuple[str, str]]
) -> None:
    child = Child(
        python("one", "raise SystemExit(3)"), tmp_path, lambda *e: events.append(e)
    )
    await child.start()
    await until(lambda: events)
    assert "exit code 3" in events[0][1]
    await child.stop()
    assert child.starts == 1


async def test_the_childs_own_children_end_with_it(tmp_path: Path) -> None:
    child = Child(python("one", PARENT), tmp_path)
    await child.start()
    await until(child.last_lines)
    inner = int(child.last_lines()[0])
    await child.stop()
    await until(lambda: not is_alive(inner))


async def test_environment_and_niceness_reach_the_child(tmp_path: Path) -> None:
    code = "import os, time; print(os.environ['X'], os.nice(0), flush=True)"
    child = Child(python("one", code, env={"X": "x"}, nice=7), tmp_path)
    await child.start()
    await until(child.last_lines)
    assert child.last_lines() == [f"x {os.nice(0) + 7}"]
    await child.stop()


async def test_the_earlier_log_is_kept(tmp_path: Path) -> None:
    (tmp_path / "one.log").write_text("earlier\n", "utf-8")
    child = Child(python("one", SLEEPER), tmp_path)
    await child.start()
    await child.stop()
    assert (tmp_path / "one.log.1").read_text("utf-8") == "earlier\n"


def test_a_killed_supervisor_leaves_no_child(tmp_path: Path) -> None:
    code = f"""
    import asyncio, sys
    from pathlib import Path
    from dashboard.supervisor.child import Child, ChildSpec

    async def main():
        spec = ChildSpec("c", (sys.executable, "-c", {SLEEPER!r}))
        child = Child(spec, Path(sys.argv[1]))
        await child.start()
        print(child.pid, flush=True)
        await asyncio.sleep(600)

    asyncio.run(main())
    """
    supervisor = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)],
        stdout=subprocess.PIPE,
    )
    assert supervisor.stdout is not None
    pid = int(supervisor.stdout.readline())
    assert is_alive(pid)
    supervisor.kill()
    supervisor.wait()
    supervisor.stdout.close()
    asyncio.run(until(lambda: not is_alive(pid)))
