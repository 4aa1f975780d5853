"""Where files of the lake are stored, and how their names are parsed.

landing/<data set>/cluster=<name>/day=2026-03-13/1430-<run>-000017.parquet
compact/<data set>/cluster=<name>/day=2026-03-13/<first ms>-<last ms>-<id>.parquet
manifest/<data set>/00000000000000000042.json
rollup/… checkpoints/… results/…     written by jobs
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, unquote

LANDING: Final = "landing"
COMPACT: Final = "compact"
MANIFEST: Final = "manifest"

MINUTE_MS: Final = 60_000


def landing_path(
    dataset: str, cluster: str, minute_ms: int, run: str, number: int
) -> str:
    """Return the path of the `number`th landing file of a writer run."""
    minute = datetime.fromtimestamp(minute_ms / 1000, UTC)
    return (
        f"{LANDING}/{dataset}/{partition(cluster, minute)}/"
        f"{minute:%H%M}-{run}-{number:06d}.parquet"
    )


def compact_path(
    dataset: str, cluster: str, first_ms: int, last_ms: int, name: str
) -> str:
    """Return the path of a compacted file; `name` distinguishes equal spans."""
    day = datetime.fromtimestamp(first_ms / 1000, UTC)
    return (
        f"{COMPACT}/{dataset}/{partition(cluster, day)}/"
        f"{first_ms}-{last_ms}-{name}.parquet"
    )


def manifest_path(dataset: str, version: int) -> str:
    """Return the path of one version of a data set's manifest."""
    return f"{MANIFEST}/{dataset}/{version:020d}.json"


def cluster_of(path: str) -> str:
    """Return the cluster that a landing or compacted file holds."""
    for part in path.split("/"):
        if part.startswith("cluster="):
            return unquote(part.removeprefix("cluster="))
    raise ValueError(f"no cluster=… in the path {path!r}")


def partition(cluster: str, moment: datetime) -> str:
    """Return the folders for a cluster's files of one day."""
    return f"cluster={quote(cluster, safe='')}/day={moment:%Y-%m-%d}"
