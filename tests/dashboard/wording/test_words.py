from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from django.utils import translation

from dashboard.findings import RULES
from dashboard.live.documents import Kind, Word
from dashboard.models import Epoch
from dashboard.wording.words import (
    INTERFACE,
    WORDS,
    catalog,
    word,
)
from rmqcore.model.columns import Reason

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = sorted((ROOT / "static" / "js").rglob("*.js"))


@pytest.mark.parametrize(
    ("room", "keys"),
    [
        ("status", get_args(Word)),
        ("status", [rule.key for rule in RULES]),
        ("finding", [f"{rule.key}.title" for rule in RULES]),
        ("kind", get_args(Kind)),
        ("unknown", [reason.value for reason in Reason]),
        ("change", [cause.value for cause in Epoch.Cause]),
        (
            "kind_sentence",
            [kind for kind in get_args(Kind) if kind != "owned"],
        ),
    ],
)
def test_every_key_that_documents_hold_has_words(room: str, keys: list[str]) -> None:
    assert set(keys) <= set(WORDS[room])


def test_a_key_without_words_is_shown_as_it_is() -> None:
    assert word("status", "half_asleep") == "half asleep"
    assert word("status", None) == ""


def test_values_fill_the_braces() -> None:
    with translation.override("en"):
        said = word(
            "change", "member_joined", joined=["a", "b"], members_before=1, members=3
        )
    assert said == "a, b joined, members: 1 → 3"


def test_a_value_cannot_smuggle_in_another() -> None:
    with translation.override("en"):
        assert word("whatif", "refused", message="{message} {x}") == "{message} {x}"
        said = word("ui", "broker_had", name="{lag}", lag="3")
        assert said == "{lag} had 3"


def used_keys() -> set[str]:
    text = "\n".join(path.read_text() for path in SCRIPTS)
    return set(re.findall(r"\bui\(\s*\"(\w+)\"", text))


def test_every_word_that_scripts_ask_for_is_in_the_catalog() -> None:
    assert used_keys() <= set(INTERFACE)


def test_the_catalog_follows_the_language() -> None:
    with translation.override("zh-hans"):
        assert catalog()["status"]["no_owner"] == "无消费者"
    with translation.override("en"):
        assert catalog()["status"]["no_owner"] == "No owner"
