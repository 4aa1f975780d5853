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
    SCRIPT_ROOMS,
    WORDS,
    Counted,
    plural,
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


@pytest.mark.parametrize("name", ["{left}", "{n}", "{lag}", "$&", r"\\1\g<0>", "{{n}}"])
def test_a_client_id_is_shown_as_itself_whatever_it_looks_like(name: str) -> None:
    with translation.override("en"):
        assert word("ui", "broker_had", name=name, lag="3") == f"{name} had 3"
        assert (
            word("change", "member_left", left=[name], members_before=1, members=0)
            == f"{name} left, members: 1 → 0"
        )
        said = plural("map_label", 2, queues=name, unowned=0)
        assert said == f"{name} over 2 members; 0 without owner"


COUNTED = [
    (room, key)
    for room, words in WORDS.items()
    for key, text in words.items()
    if isinstance(text, Counted)
]
NOUN = re.compile(r"(?<!\w)(\d+)(?: \w+)? (queue|broker|member|other|rule)(s?)\b")


@pytest.mark.parametrize(("room", "key"), COUNTED)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_counted_phrases_read_right(room: str, key: str, n: int) -> None:
    values = {"all": n, "n": n, "lag": "5", "time": "10:00"}
    values |= {"queues": "-", "unowned": "0", "title": "-", "span": "5 s"}
    with translation.override("en"):
        said = word(room, key, n, **values)
        for number, _noun, ending in NOUN.findall(said):
            assert (ending == "s") == (number != "1"), said
    with translation.override("zh-hans"):
        assert "{" not in word(room, key, n, **values)


def test_counted_phrases_in_both_languages() -> None:
    def said(key: str) -> list[str]:
        return [plural(key, n) for n in (0, 1, 2)]

    with translation.override("en"):
        assert said("n_queues") == ["0 queues", "1 queue", "2 queues"]
        assert said("others_answered")[1:] == ["1 other answered", "2 others answered"]
    with translation.override("zh-hans"):
        assert said("n_queues") == ["0 个队列", "1 个队列", "2 个队列"]


TEXT = "\n".join(path.read_text() for path in SCRIPTS)
QUOTED = set(re.findall(r"\"([\w.]+)\"", TEXT)) | set(re.findall(r"\b(\w+):", TEXT))
# Some templates name the word that a script shall write.
QUOTED |= {
    word
    for path in (ROOT / "templates").rglob("*.html")
    for word in re.findall(r"data-of=\"(\w+)\"", path.read_text())
}
BUILT = [
    re.compile(r"\w+".join(map(re.escape, re.split(r"\$\{.*?\}", text))))
    for text in re.findall(r"`([a-z_.${}]*_[a-z_.${}]*)`", TEXT)
    if "${" in text
]


def test_every_word_that_scripts_ask_for_is_in_the_catalogue() -> None:
    asked = set(re.findall(r"\b(?:ui|plural)\(\s*\"(\w+)\"", TEXT))
    assert asked <= set(INTERFACE)
    asked = set(re.findall(r"\bword\(\s*\"finding\",\s*\"([\w.]+)\"", TEXT))
    assert asked
    assert asked <= set(WORDS["finding"])


def test_every_word_in_the_catalogue_is_asked_for_by_a_script() -> None:
    unused = {
        key
        for key in INTERFACE
        if key not in QUOTED and not any(built.fullmatch(key) for built in BUILT)
    }
    assert not unused, " ".join(sorted(unused))


def test_the_catalogue_has_the_rooms_that_scripts_read() -> None:
    read = set(re.findall(r"\bword\(\s*\"(\w+)\"", TEXT))
    assert read == set(SCRIPT_ROOMS)
