from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dashboard.supervisor.child import Child, ChildSpec
from dashboard.supervisor.logs import earlier, rotate
from tests.support.waiting import until

CHATTY = """
import time
for number in range(300):
    print(f"line {number:04d} " + "x" * 90, flush=True)
    time.sleep(0.002)
print("end", flush=True)
time.sleep(600)
"""


def test_a_log_of_the_allowed_size_stays(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    assert not rotate(log, 4)
    log.write_bytes(b"four")
    assert not rotate(log, 4)
    assert log.read_bytes() == b"four"
    assert not earlier(log).exists()


def test_a_longer_one_is_kept_once_and_goes_on_in_the_same_file(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    earlier(log).write_bytes(b"much older")
    with log.open("ab", buffering=0) as writing:
        writing.write(b"old line\n")
        assert rotate(log, 4)
        writing.write(b"new line\n")
    assert log.read_bytes() == b"new line\n"
    assert earlier(log).read_bytes() == b"old line\n"
    assert {path.name for path in tmp_path.iterdir()} == {"web.log", "web.log.1"}


def test_one_that_cannot_be_copied_is_not_emptied(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_bytes(b"old line\n")
    (tmp_path / "web.log.new").mkdir()
    with pytest.raises(OSError, match=r"web\.log\.new"):
        rotate(log, 4)
    assert log.read_bytes() == b"old line\n"


async def test_the_log_of_a_talkative_process_stays_small(tmp_path: Path) -> None:
    spec = ChildSpec("chatty", (sys.executable, "-c", CHATTY))
    child = Child(spec, tmp_path, most_log_bytes=5_000, log_look_s=0.02)
    await child.start()
    await until(lambda: child.last_lines(1) == ["end"])
    await child.stop()
    log = tmp_path / "chatty.log"
    assert earlier(log).stat().st_size > 5_000
    # 300 lines have 30,000 bytes.
    assert log.stat().st_size + earlier(log).stat().st_size < 25_000


async def test_a_log_that_cannot_be_copied_is_told_of_once(tmp_path: Path) -> None:
    events: list[tuple[str, str]] = []
    (tmp_path / "chatty.log.new").mkdir()
    spec = ChildSpec("chatty", (sys.executable, "-c", CHATTY))
    child = Child(
        spec,
        tmp_path,
        lambda *event: events.append(event),
        most_log_bytes=100,
        log_look_s=0.02,
    )
    await child.start()
    await until(lambda: child.last_lines(1) == ["end"])
    await child.stop()
    assert [name for name, text in events if "keeps its long log" in text] == ["chatty"]
