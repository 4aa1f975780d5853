"""The catalogue keeps to the glossary: one Chinese word for one thing."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from dashboard.management.commands.compile_catalogs import (
    catalog_sources,
    read_catalog,
)

ROOT: Final = Path(__file__).resolve().parents[2]
TITLE: Final = "## One Chinese word for one thing"
PLACE: Final = re.compile(r"%\(\w+\)s|\{\w+\}|[\w./-]*[=_.][\w./=-]+|<[^>]*>")
"""Values, addresses and settings, which are no words."""


def rows() -> list[tuple[str, str, list[str]]]:
    text = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    table = text.partition(TITLE)[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]
    return [(word, ours, others.split(", ")) for word, ours, others in cells[2:]]


@cache
def translations() -> dict[str, str]:
    """Return each English text with its Chinese one; of plurals, the one of many."""
    (source,) = catalog_sources()
    found = {}
    for message in read_catalog(source.read_text("utf-8"), str(source)):
        several = not isinstance(message.id, str)
        english = message.id[1] if several else message.id
        chinese = message.string[0] if several else message.string
        if english:
            found[str(english)] = str(chinese)
    return found


def test_the_table_can_be_read() -> None:
    assert len(rows()) > 30
    assert ("Lag", "堆积", ["积压", "滞后量"]) in rows()


@pytest.mark.parametrize(("word", "ours", "others"), rows(), ids=str)
def test_a_thing_has_one_word(word: str, ours: str, others: list[str]) -> None:
    found = translations()
    assert ours in found.get(word, found.get(word.capitalize(), "")), word
    wrong = [
        (english, chinese)
        for english, chinese in found.items()
        if any(in_words(other, chinese) for other in others)
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("word", "other", "unless"),
    [
        ("owner", "消费者", "consumer"),
        ("member", "消费者", "consumer"),
    ],
)
def test_a_word_of_another_thing_does_not_stand_for_it(
    word: str, other: str, unless: str
) -> None:
    """Such a word is right elsewhere, so that the table cannot refuse it."""
    wrong = [
        (english, chinese)
        for english, chinese in translations().items()
        if re.search(rf"\b{word}s?\b", english, re.I)
        and other in chinese
        and unless not in english.lower()
    ]
    assert not wrong


def in_words(other: str, chinese: str) -> bool:
    """Tell whether a word stands in a text, apart from what is not translated."""
    text = PLACE.sub(" ", chinese)
    if other.isascii() or other.endswith(" id"):
        return (
            re.search(rf"(?<![\w-]){re.escape(other)}(?![\w-])", text, re.A) is not None
        )
    return other in text


@pytest.mark.parametrize(
    ("other", "chinese", "stands"),
    [
        ("积压", "积压增长", True),
        ("broker", "整个 broker 的权限", True),
        ("broker", "以 %(broker)s 为例，broker-a=hz1", False),
        ("Tag", "按 Tag 过滤", True),
        ("Tag", "enableMsgTag=on，TagA", False),
        ("客户端 id", "两个客户端 id", True),
        ("客户端 id", "两个客户端 ID", False),
    ],
)
def test_a_word_is_told_from_names(other: str, chinese: str, stands: bool) -> None:
    assert in_words(other, chinese) is stands
