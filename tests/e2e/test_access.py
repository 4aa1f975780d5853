"""The lines of docs/access.md, run as they stand against the demo."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from tests.support.launched import ROOT, LaunchedStack

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(1800)]

PAGE: Final = (ROOT / "docs/access.md").read_text("utf-8")
COMMANDS: Final = [
    command
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for command in re.split(r"\n\n", block.strip())
]


def run(command: str, stack: LaunchedStack, **given: str) -> str:
    """Run the lines of a shell in the surroundings of the demo."""
    done = subprocess.run(
        ["bash", "-euc", command],
        cwd=ROOT,
        env={
            **os.environ,
            "ROCKETSCOPE": stack.address,
            "ROCKETSCOPE_VAR_DIR": str(stack.var_dir),
            "ROCKETSCOPE_REDIS_URL": stack.redis_url(),
            **given,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_documented_calls_work(stack: LaunchedStack) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    stack.sign_in_link()
    stack.wait_for_samples()
    makes = [each for each in COMMANDS if "make_token" in each]
    calls = [each for each in COMMANDS if each not in makes]
    assert (len(makes), len(calls)) == (1, 6)
    manage = f"{sys.executable} manage.py"
    made = makes[0].replace("./rocketscope manage", manage)
    token = run(made, stack).strip().splitlines()[-1]
    now = datetime.now(UTC)
    for call in calls:
        answer = run(
            call.replace("curl ", "curl -sS --fail-with-body "),
            stack,
            TOKEN=token,
            SINCE=(now - timedelta(hours=1)).isoformat(),
            UNTIL=now.isoformat(),
        )
        assert json.loads(answer), call
    # What the documentation did is undone or done: others share this stack.
    undo = calls[4].replace('"add"', '"remove", "reason": "as documented"')
    assert undo != calls[4]
    run(undo, stack, TOKEN=token)
    stack.wait_for_reports()
