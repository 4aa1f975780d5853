"""Waits briefly for the document of a group that nobody has been watching.

On a large cluster only watched groups have a document. A request for another group
watches it, and gets its document with the collector's next sweep of watched groups.
"""

from __future__ import annotations

import time
from typing import Final

from .state import LiveState

WAIT_SECONDS: Final = 2.5
_PAUSE_SECONDS: Final = 0.1


def group_text(state: LiveState, cluster: str, group: str) -> bytes | None:
    """Return the encoded document; None when there is no such group.

    Blocks up to 2.5 s if the group is known but has no document yet.
    """
    text = state.group_text(cluster, group)
    if text is not None or not _is_known(state, cluster, group):
        return text
    state.watch(cluster, group, time.time())
    deadline = time.monotonic() + WAIT_SECONDS
    while text is None and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
        text = state.group_text(cluster, group)
    return text


def _is_known(state: LiveState, cluster: str, group: str) -> bool:
    overview = state.overview(cluster)
    return overview is not None and any(
        row["group"] == group for row in overview["groups"]
    )
