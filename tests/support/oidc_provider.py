"""A real OpenID Connect provider, oidc-provider for Node, in a process of its own.

It comes from the lock of `tests/oidc`. Whoever signs in as `olga-admins` is `olga`, a
member of the group `admins`.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from dashboard.accounts.outside import Provider
from tests.scripts import ROOT, install

from .process import Process

_HERE: Final = ROOT / "tests" / "oidc"
_START_SECONDS: Final = 120.0


def missing_tool() -> str | None:
    """Say which program is missing to run it, None if none is."""
    return next(
        (f"{n} is missing" for n in ("node", "npm") if not shutil.which(n)), None
    )


@contextmanager
def oidc_provider(pages: str, folder: Path) -> Iterator[Provider]:
    """Run one that knows our pages by their address; return how we know it."""
    failed = install(_HERE)
    assert not failed, f"npm ended with code {failed}"
    process = Process(
        [
            *("node", str(_HERE / "provider.js")),
            *(f"{pages}/sign-in/provider/return/", f"{pages}/sign-in/"),
        ],
        log=folder / "oidc-provider.log",
    )
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not (issuer := _issuer(process.log)):
            if time.monotonic() > deadline or not process.running:
                raise RuntimeError(f"oidc-provider did not start:\n{process.tail()}")
            time.sleep(0.05)
        yield Provider(
            issuer=issuer,
            client_id="rocketscope",
            client_secret="a secret of sixteen or more",
            name="Example ID",
            scopes=("openid", "profile", "groups"),
        )
    finally:
        process.kill()


def _issuer(log: Path) -> str:
    lines = log.read_text("utf-8").split("\n")[:-1]
    return next((line for line in lines if line.startswith("http://127.0.0.1:")), "")
