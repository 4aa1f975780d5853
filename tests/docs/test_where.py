"""Every module has tests of its name, or a row of the table that names them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
_ROW = re.compile(r"^\| (`(?:dashboard|rmqcore|analytics)/[^|]*) \| ([^|]*) \|$", re.M)
_NAME = re.compile(r"`([^`]+)`")


def rows() -> Iterator[tuple[list[str], list[str]]]:
    """Yield patterns of modules, and the tests that the table names for them."""
    for modules, tests in _ROW.findall((TESTS / "README.md").read_text()):
        yield _NAME.findall(modules), _NAME.findall(tests)


def modules() -> Iterator[Path]:
    for package in ("rmqcore", "analytics", "dashboard"):
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT)
            if path.stem.startswith("__") or "migrations" in place.parts:
                continue
            yield place.with_suffix("")


def has_tests_of_its_name(module: Path) -> bool:
    folder = TESTS / module.parent
    own = folder / f"test_{module.name}.py"
    return own.exists() or any(folder.glob(f"test_{module.name}_*.py"))


def test_every_module_says_where_it_is_tested() -> None:
    patterns = [pattern for names, _tests in rows() for pattern in names]
    missing = [
        str(module)
        for module in modules()
        if not has_tests_of_its_name(module)
        and not any(fnmatch(str(module), pattern) for pattern in patterns)
    ]
    assert not missing


def test_the_tests_that_are_named_are_there() -> None:
    named = {test for _names, tests in rows() for test in tests}
    assert len(named) > 50
    assert not [test for test in sorted(named) if not any(TESTS.glob(test))]


def test_no_row_is_about_nothing() -> None:
    known = [str(module) for module in modules()]
    empty = [
        pattern
        for names, _tests in rows()
        for pattern in names
        if not any(fnmatch(module, pattern) for module in known)
    ]
    assert not empty
