"""Everything that grows has one row in the docs, and one bound that soaks measure."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.soak.bounds import FILES, KEYS, TABLES, pattern_of
from dashboard.live import names

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "operations.md").read_text("utf-8")
_NAME = re.compile(r"`([^`]+)`")
_LITERAL = re.compile(r"""["']rs:""")


def cells(heading: str, column: int) -> Iterator[str]:
    """Yield the names in one column of the table below a heading."""
    _before, _heading, after = PAGE.partition(f"\n### {heading}\n")
    assert after, heading
    part = re.split(r"^##", after, maxsplit=1, flags=re.MULTILINE)[0]
    for line in part.splitlines():
        if line.startswith("| ") and not line.startswith(("| what |", "| ---")):
            yield from _NAME.findall(line.split(" | ")[column])


def test_docs_and_bounds_name_the_same() -> None:
    assert list(cells("Tables of the database", 0)) == list(TABLES)
    assert list(cells("Files", 1)) == list(FILES)
    assert sorted(cells("Redis or Valkey", 1)) == sorted(KEYS)


def test_every_key_that_is_named_in_code_has_a_row() -> None:
    keys = {names.BEAT_KEY}
    for name, make in inspect.getmembers(names, inspect.isfunction):
        if name.endswith("_key"):
            given = inspect.signature(make).parameters.values()
            keys.add(make(*(7 if p.annotation == "int" else "x" for p in given)))
    assert len(keys) > 10
    assert not [key for key in sorted(keys) if pattern_of(key, KEYS) is None]


def test_keys_are_named_in_one_place() -> None:
    own = {"dashboard/live/names.py"}
    found = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "dashboard").rglob("*.py")
        if _LITERAL.search(path.read_text("utf-8"))
    }
    assert found == own
