"""The generated client of docs/rest.md: its lines, run as they stand on the demo."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Final

import pytest

from tests.support.launched import ROOT, LaunchedStack

from .test_access import COMMANDS, run

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
]

PAGE: Final = (ROOT / "docs/rest.md").read_text("utf-8")
(GENERATE,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
(LINES,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
FOLLOWED: Final = """
import time

from rocketscope_client.models import RunOut

assert "embedded" in names, names
assert group.group == "demo-consumers" and group.queues
assert len(first) == len(second) == 2 and first[0].name != second[0].name
assert refused.detail.startswith("no group 'nobody' was seen on cluster")
assert isinstance(run, RunOut), run
seen = run
while seen.state in {"queued", "running"}:
    time.sleep(1)  # a token has 600 calls a minute
    seen = reports_one_run.sync(run.id, client=client)
print(seen.state, seen.error)
if seen.state == "done":
    kept = None
    while kept is None or isinstance(kept, Problem):  # made after the report is done
        time.sleep(1)
        kept = reports_kept_file.sync(run.id, "csv", client=client)
    assert kept.payload.read(1), kept
"""


def test_the_documented_lines_work(stack: LaunchedStack, tmp_path: Path) -> None:
    stack.sign_in_link()
    (makes,) = (each for each in COMMANDS if "make_token" in each)
    manage = makes.replace("./rocketscope manage", f"{sys.executable} manage.py")
    manage = manage.replace("deploys --user robot", "client --user client")
    token = run(manage, stack).strip().splitlines()[-1]
    tools = str(Path(sys.executable).parent)
    env = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "ROCKETSCOPE": stack.address,
        "TOKEN": token,
        "PYTHONPATH": str(tmp_path),
    }
    # Made when first asked for; on a busy machine, the generator does not wait for it.
    document = f"{stack.address}/api/v1/openapi.json"
    with urllib.request.urlopen(document, timeout=120) as answer:
        assert answer.read(1)
    execute(["bash", "-euc", GENERATE], tmp_path, env)
    # Only the report needs them: a client is generated while they are being made.
    stack.wait_for_samples()
    printed = execute([sys.executable, "-c", LINES + FOLLOWED], tmp_path, env)
    assert printed.splitlines()[-1].startswith("done")


def execute(command: list[str], folder: Path, env: dict[str, str]) -> str:
    """Run a command there, which has to end well; return what it printed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout
