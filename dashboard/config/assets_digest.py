"""Static files without a build step: one digest for all of them in their address.

Any changed byte gives every file a new address, so nothing stale is ever mixed with
something new, and browsers may keep each answer for a year. Cost: one read of
`static/` when a process starts (a few megabytes).

Apart from `assets`, because the settings need it: what serves files is some two hundred
modules, which the supervisor, too, would load with its settings.
"""

from __future__ import annotations

import hashlib
from pathlib import Path


def digest(folder: Path) -> str:
    """Hash names and bytes of all files below `folder`, to 12 hex digits."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        total.update(path.relative_to(folder).as_posix().encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:12]
