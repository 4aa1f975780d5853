"""The optional packages that speak LDAP, built from their lock beside the environment.

They are no part of the locked environment, since python-ldap takes a compiler and the
headers of OpenLDAP. Built once for each lock and Python (some five seconds).
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib
import importlib.util
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

from tests.scripts import ROOT

_LOCK: Final = ROOT / "requirements-ldap.txt"


@cache
def missing() -> str | None:
    """Make `ldap` importable; say what is missing where that cannot be done."""
    if importlib.util.find_spec("ldap") and importlib.util.find_spec(
        "django_auth_ldap"
    ):
        return None
    made = hashlib.sha256(_LOCK.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = Path(sys.prefix) / f"ldap-{made}"
    try:
        with _LOCK.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            if not (folder / ".whole").exists():
                _build(folder)
    except (OSError, subprocess.CalledProcessError) as error:
        said = error.stderr if isinstance(error, subprocess.CalledProcessError) else ""
        last = ([*(said or "").strip().splitlines()] or [str(error)])[-1]
        return f"python-ldap is not built (Debian: libldap2-dev libsasl2-dev): {last}"
    sys.path.append(str(folder))
    importlib.invalidate_caches()
    return None


def _build(folder: Path) -> None:
    uv = Path(sys.executable).parent / "uv"
    subprocess.run(
        [
            *(str(uv), "pip", "install", "--quiet", "--no-deps", "--require-hashes"),
            *("--target", str(folder), "-r", str(_LOCK)),
        ],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "VIRTUAL_ENV": sys.prefix, "UV_NO_CONFIG": "1"},
    )
    (folder / ".whole").touch()
