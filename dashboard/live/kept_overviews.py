"""The last overview of each cluster that this process read, and what was made of it.

An overview of 10,000 groups is 7 MB of text. Parsing it takes longer than answering for
a page, and it changes only with a sweep. Requests between two sweeps read its first
bytes, which hold its number, and share one document: nobody may change it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Final, TypeVar, cast

from .documents import Overview

Made = TypeVar("Made")

HEAD_BYTES: Final = 512
"""An overview begins with its run, number, cluster and time, which fit in here."""
MOST_CLUSTERS: Final = 4
MOST_MADE: Final = 16


class _Kept:
    """One document, and what was made of it by key."""

    def __init__(self, mark: Hashable, document: Overview) -> None:
        self.mark = mark
        self.document = document
        self.made: dict[Hashable, Any] = {}


_kept: Final[dict[str, _Kept]] = {}
"""By cluster, the least recently used first."""
_lock: Final = Lock()
_reading: Final[dict[str, Lock]] = {}


def kept_overview(
    cluster: str, mark: Hashable, read: Callable[[], Overview | None]
) -> Overview | None:
    """Return the overview that `mark` stands for; read it if it is not kept.

    Threads that want the same one wait for the first of them.
    """
    with _lock:
        reading = _reading.setdefault(cluster, Lock())
    with reading:
        last = _kept.get(cluster)
        if last is None or last.mark != mark:
            document = read()
            last = None if document is None else _Kept(mark, document)
        with _lock:
            _kept.pop(cluster, None)
            if last is not None:
                _kept[cluster] = last
            if len(_kept) > MOST_CLUSTERS:
                del _kept[next(iter(_kept))]
    return last.document if last else None


def made_of(overview: Overview, key: Hashable, make: Callable[[], Made]) -> Made:
    """Return what `make` makes of an overview, made once for each key while it is kept.

    `make` must depend on nothing but the overview and the key.
    """
    last = _kept.get(overview["cluster"])
    if last is None or last.document is not overview:
        return make()
    try:
        return cast("Made", last.made[key])
    except KeyError:
        made = make()
    if len(last.made) >= MOST_MADE:
        last.made.clear()
    last.made[key] = made
    return made


def forget_overviews() -> None:
    """Drop everything."""
    with _lock:
        _kept.clear()
