"""Which landing files the stream of roll-ups has read: what retention must not delete.

The stream keeps a log beside its checkpoint, a line of JSON for each file with the
batch that it went into; a batch counts once it is committed.
"""

from __future__ import annotations

import json
import secrets
from typing import Final
from urllib.parse import unquote

from analytics import contracts as c
from analytics.errors import LakeError

from .ladder import QUEUES, dataset_of
from .manifest import load_manifest
from .naming import LANDING
from .storage import Storage

CHECKPOINT: Final = "checkpoints/rollup"
_BIRTH: Final = f"{CHECKPOINT}/born.json"
_SOURCE_LOG: Final = f"{CHECKPOINT}/sources/0"
_COMMITS: Final = f"{CHECKPOINT}/commits"


def streamed_files(storage: Storage) -> set[str]:
    """Return the paths of landing files that are in committed batches."""
    committed = _last_number(storage, _COMMITS)
    found = set()
    for file in storage.list_files(_SOURCE_LOG):
        # The first line is the version of the log.
        for line in storage.read(file.path).decode().splitlines()[1:]:
            entry = json.loads(line)
            if entry["batchId"] <= committed:
                found.add(
                    f"{LANDING}/{unquote(entry['path']).split(f'/{LANDING}/')[-1]}"
                )
    return found


def unread_files(
    storage: Storage, dataset: str, written_after_ms: int
) -> frozenset[str]:
    """Return landing files that the stream has yet to read.

    Those written earlier than `written_after_ms` are given up: a stream that never
    runs must not fill the disk.
    """
    read = streamed_files(storage)
    return frozenset(
        file.path
        for file in storage.list_files(f"{LANDING}/{dataset}")
        if file.path not in read and file.modified_ms >= written_after_ms
    )


def check_checkpoint(storage: Storage) -> None:
    """Note the birth of a checkpoint; refuse a new one over roll-ups of an older one.

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


def _last_number(storage: Storage, folder: str) -> int:
    names = (file.path.rsplit("/", 1)[1] for file in storage.list_files(folder))
    return max((int(name) for name in names if name.isdigit()), default=-1)
