"""Waits briefly for the document of a group that nobody has been watching.

On a large cluster only watched groups have a document. A request for another group
watches it, and gets its document with the collector's next sweep of watched groups.
"""

from __future__ import annotations

import time
from typing import Final

import orjson

from .overview_rows import row_of
from .state import LiveState

WAIT_SECONDS: Final = 2.5
_PAUSE_SECONDS: Final = 0.1


def group_text(
    state: LiveState, cluster: str, group: str, *, newer_than_ms: int = 0
) -> bytes | None:
    """Return the encoded document; None when there is no such group.

    Blocks up to 2.5 s if the group is known but has no document yet, or one that was
    taken before `newer_than_ms`; the older document is returned if no other comes.
    """
    text = state.group_text(cluster, group)
    if _is_new(text, newer_than_ms) or not _is_known(state, cluster, group):
        return text
    state.watch(cluster, group, time.time())
    deadline = time.monotonic() + WAIT_SECONDS
    while not _is_new(text, newer_than_ms) and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
        text = state.group_text(cluster, group)
    return text


def _is_new(text: bytes | None, newer_than_ms: int) -> bool:
    if text is None:
        return False
    return not newer_than_ms or bool(orjson.loads(text)["taken_at"] >= newer_than_ms)


def _is_known(state: LiveState, cluster: str, group: str) -> bool:
    overview = state.overview(cluster)
    return overview is not None and row_of(overview["groups"], group) is not None
