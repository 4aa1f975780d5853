"""The size at one moment of everything that grows: rows, files, keys of Redis."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import redis

from .bounds import FILES, KEYS, Bound, all_bounds, pattern_of

KEYS_AT_ONCE: Final = 1_000
_ENDLESS: Final = -1
_GONE: Final = -2


@dataclass(frozen=True, slots=True)
class Size:
    """How much one row of the table has; `endless` of its keys never run out."""

    count: int = 0
    bytes: int = 0
    endless: int = 0

    def plus(self, count: int, size: int, endless: int = 0) -> Size:
        """Return the sum with so much more."""
        return Size(self.count + count, self.bytes + size, self.endless + endless)


Sizes = Mapping[str, Size]
"""By the rows' names; what belongs to no row stands under its own name."""


@dataclass(frozen=True, slots=True)
class Growth:
    """One row at the beginning and at the end of the measured time."""

    name: str
    bound: Bound | None
    most: int
    begin: Size
    end: Size
    hours: float

    @property
    def unit(self) -> str:
        """What is bounded; bytes where nothing is."""
        return self.bound.unit if self.bound else "bytes"

    def of(self, size: Size) -> int:
        """Return the figure that is bounded."""
        return size.bytes if self.unit == "bytes" else size.count

    @property
    def an_hour(self) -> float:
        """How much was added in an hour; below 0 where it became less."""
        return (self.of(self.end) - self.of(self.begin)) / self.hours

    @property
    def expected(self) -> float:
        """What it has reached when something is first removed."""
        grows_h = self.bound.grows_h if self.bound else 0.0
        return self.of(self.end) + max(0.0, self.an_hour) * grows_h

    @property
    def fault(self) -> str:
        """What is wrong with it; empty where it stays within its bound."""
        if self.bound is None:
            return "is in no table of what grows"
        if self.end.endless and not self.bound.may_be_endless:
            return f"{self.end.endless} keys never run out"
        if self.expected > self.most:
            return f"reaches {self.expected:.0f} {self.unit}"
        return ""


def sizes(var_dir: Path, server: redis.Redis) -> dict[str, Size]:
    """Measure everything of a stack that may be running."""
    return {
        **table_sizes(var_dir / "rocketscope.sqlite3"),
        **file_sizes(var_dir),
        **key_sizes(server),
    }


def table_sizes(database: Path) -> dict[str, Size]:
    """Return the rows of each table of SQLite, and its bytes with its indexes."""
    url = f"file:{database}?mode=ro"
    with closing(sqlite3.connect(url, uri=True, timeout=30)) as connection:
        tables = [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' "
                "AND name NOT LIKE 'sqlite_%'"
            )
        ]
        in_bytes = dict(
            connection.execute(
                "SELECT m.tbl_name, sum(s.pgsize) FROM dbstat s "
                "JOIN sqlite_master m ON m.name = s.name "
                "WHERE s.aggregate = TRUE GROUP BY m.tbl_name"
            ).fetchall()
        )
        counts = {
            name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
            for name in tables
        }
    return {name: Size(counts[name], in_bytes.get(name, 0)) for name in tables}


def file_sizes(var_dir: Path) -> dict[str, Size]:
    """Return the files and bytes of each row, as the disk holds them."""
    found: dict[str, Size] = {}
    for path in _files(var_dir):
        # One that was removed meanwhile is no longer there.
        with suppress(FileNotFoundError):
            size = path.stat().st_blocks * 512
            place = path.relative_to(var_dir).as_posix()
            name = pattern_of(place, FILES) or place.split("/")[0]
            found[name] = found.get(name, Size()).plus(1, size)
    return found


def key_sizes(server: redis.Redis) -> dict[str, Size]:
    """Return the keys of each row, their memory, and how many never run out."""
    found: dict[str, Size] = {}
    keys: list[bytes] = []
    for key in server.scan_iter(count=KEYS_AT_ONCE):
        keys.append(key)
        if len(keys) == KEYS_AT_ONCE:
            _add_keys(server, keys, found)
            keys = []
    _add_keys(server, keys, found)
    return found


def growths(begin: Sizes, end: Sizes, hours: float, groups: int) -> list[Growth]:
    """Return every row, also those that nothing is in, and what is in no row."""
    bounds: dict[str, Bound] = dict(all_bounds())
    strangers = sorted((begin.keys() | end.keys()) - bounds.keys())
    return [
        Growth(
            name,
            bound,
            bound.for_groups(groups) if bound else 0,
            begin.get(name, Size()),
            end.get(name, Size()),
            hours,
        )
        for name, bound in (*bounds.items(), *((each, None) for each in strangers))
    ]


def growth_table(rows: Iterable[Growth]) -> list[str]:
    """Return the table that a soak ends with."""
    lines = [
        f"{'what grows':34} {'begin':>9} {'end':>9} {'an hour':>9} {'bound':>13} "
        f"{'unit':5} {'MB begin':>9} {'MB end':>9} {'endless':>7}"
    ]
    for row in rows:
        begin, end = (row.of(each) for each in (row.begin, row.end))
        scale = 1_000_000 if row.unit == "bytes" else 1
        digits = 1 if row.unit == "bytes" else 0
        figures = (
            f"{begin / scale:9.{digits}f} {end / scale:9.{digits}f} "
            f"{row.an_hour / scale:9.1f} {row.most / scale:13.0f} "
            f"{'MB' if row.unit == 'bytes' else row.unit:5} "
            f"{row.begin.bytes / 1e6:9.2f} {row.end.bytes / 1e6:9.2f} "
            f"{row.end.endless:7}"
        )
        lines.append(f"{row.name:34} {figures}  {row.fault or 'within'}")
    return lines


def _files(folder: Path) -> Iterator[Path]:
    for parent, _folders, names in os.walk(folder):
        yield from (Path(parent) / name for name in names)


def _add_keys(
    server: redis.Redis, keys: Sequence[bytes], found: dict[str, Size]
) -> None:
    with server.pipeline(transaction=False) as pipeline:
        for key in keys:
            pipeline.memory_usage(key, samples=0)
            pipeline.pttl(key)
        answers = pipeline.execute()
    for key, size, left_ms in zip(keys, answers[::2], answers[1::2], strict=True):
        # -2: it has gone since it was listed; -1: it never does.
        if size is not None and left_ms != _GONE:
            text = key.decode("utf-8", "replace")
            name = pattern_of(text, KEYS) or text
            known = found.get(name, Size())
            found[name] = known.plus(1, size, left_ms == _ENDLESS)
