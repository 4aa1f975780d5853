"""Tell what the stream of roll-ups has yet to read, and which checkpoint is its own."""

from __future__ import annotations

import json
import secrets
from typing import Final

from analytics import contracts as c
from analytics.errors import LakeError

from .ladder import QUEUES, dataset_of
from .manifest import load_manifest
from .naming import LANDING
from .source_log import CHECKPOINT, read_log
from .storage import Storage

_BIRTH: Final = f"{CHECKPOINT}/born.json"


def unread_files(storage: Storage, dataset: str) -> dict[str, int]:
    """Return landing files that the stream has yet to read: when each was written."""
    # Read the log first: files that land and are read in between count as unread and
    # stay.
    log = read_log(storage)
    counted = log.counted
    return {
        file.path: file.modified_ms
        for file in storage.list_files(f"{LANDING}/{dataset}")
        if file.path not in counted and file.modified_ms >= log.reads_from_ms
    }


def check_checkpoint(storage: Storage) -> None:
    """Note a checkpoint's creation; refuse a new one over roll-ups of an older one.

    The new one would number its batches from 0 again, and count samples twice.
    """
    if not storage.write_new(_BIRTH, json.dumps({"id": secrets.token_hex(8)}).encode()):
        return
    listed = load_manifest(storage, dataset_of(QUEUES, c.ROLLUP_LEVELS[0]))
    if listed.version:
        storage.delete(_BIRTH)
        raise LakeError(
            f"{storage.url}/{CHECKPOINT} is gone, but there are roll-ups made with it: "
            "put it back, or begin anew without compact/rollup_* and manifest/rollup_*"
        )
