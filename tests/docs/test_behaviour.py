"""The codes of RocketMQ's rules that comments cite are all explained in the docs."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_CITED = re.compile(r"(?<![\w@\"'`-])([A-F](?:\d|1\d)[a-c]?)(?![\w\"'`-])")
_EXPLAINED = re.compile(r"^\| `?([A-F]\d+[a-c]?)`? \|", re.MULTILINE)


def explained() -> set[str]:
    pages = (ROOT / "docs" / name for name in ("behaviour.md", "labs.md"))
    return {code for page in pages for code in _EXPLAINED.findall(page.read_text())}


def prose(source: str) -> Iterator[str]:
    """Yield the comments and the docstrings of a module."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_text = token.type == tokenize.STRING and token.string.startswith('"""')
        if token.type == tokenize.COMMENT or is_text:
            yield token.string


@pytest.mark.parametrize("package", ["rmqcore", "analytics", "dashboard"])
def test_every_code_that_is_cited_is_explained(package: str) -> None:
    known, unknown = explained(), []
    for path in sorted((ROOT / package).rglob("*.py")):
        for text in prose(path.read_text()):
            unknown += [
                f"{path.relative_to(ROOT)}: {code}"
                for code in _CITED.findall(text)
                if code not in known
            ]
    assert not unknown


def test_the_page_has_the_codes_that_are_cited_most() -> None:
    assert {"A4", "A5b", "B7", "C5", "C8", "D3", "E3", "E6", "F3b"} <= explained()
