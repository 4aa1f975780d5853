from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from analytics import work_dirs
from analytics.work_dirs import own_work_dir

WORKER = """
import sys
from pathlib import Path
from analytics.work_dirs import own_work_dir
own = own_work_dir(Path(sys.argv[1]))
(own / "shuffle").write_bytes(b"x")
print(own.name, flush=True)
sys.stdin.read()
"""


def let_go() -> None:
    while work_dirs._held:
        _parent, (_own, lock) = work_dirs._held.popitem()
        os.close(lock)


@pytest.fixture(autouse=True)
def nothing_held(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(work_dirs, "_held", {})
    yield
    let_go()


def test_a_process_has_one_folder(tmp_path: Path) -> None:
    own = own_work_dir(tmp_path / "spark")
    assert own.parent == tmp_path / "spark"
    assert own_work_dir(tmp_path / "spark") == own


def test_what_a_killed_process_left_goes_with_the_next_start(tmp_path: Path) -> None:
    process = subprocess.Popen(
        (sys.executable, "-c", WORKER, str(tmp_path)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        left = tmp_path / process.stdout.readline().strip()
        own_work_dir(tmp_path)
        assert (left / "shuffle").exists(), "its process lives"
        process.kill()
    let_go()
    own_work_dir(tmp_path)
    assert not left.exists()


def test_what_cannot_be_removed_stops_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "run-odd").write_bytes(b"not a folder")
    assert own_work_dir(tmp_path).exists()
    assert "run-odd not removed" in caplog.text
