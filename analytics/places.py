"""Where this copy of RocketScope has its files, and where it keeps its state.

A clone has everything beside the packages, and keeps its state there. A wheel has the
files that belong to no package in a folder `rocketscope` (`pyproject.toml` maps them);
where it is installed nothing may be written, so its state is kept in the user's home.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
"""The folder of the packages."""

INSTALLED: Final = (ROOT / "rocketscope").is_dir()
"""A clone has the launcher under this name."""

FILES: Final = ROOT / "rocketscope" if INSTALLED else ROOT
"""The folder of `static`, `templates` and `deploy`."""

COMMAND: Final = "rocketscope" if INSTALLED else "./rocketscope"
"""How the command is typed."""


def home(environ: Mapping[str, str], installed: bool = INSTALLED) -> Path:
    """Return the folder of `.env` and `var`, in which processes are started.

    As in the XDG Base Directory Specification, a relative path is ignored.
    """
    if not installed:
        return ROOT
    state = Path(environ.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():
        state = Path(os.path.expanduser("~"), ".local", "state")  # noqa: PTH111  never fails
    return state / "rocketscope"
