from __future__ import annotations

import re
import string

import pytest
from django.utils import translation

from dashboard.labs.catalogue import entries, entry_named, text_of
from dashboard.labs.words import (
    EXPLANATIONS,
    FINDINGS,
    PARAMETERS,
    TAKES,
    sentence,
    spans,
)
from rmqcore.errors import ArgumentError
from rmqcore.labs import LABS
from rmqcore.labs.steps import EVERYWHERE

HAN = re.compile(r"[\u4e00-\u9fff]")
TEXTS = sorted(
    {*EVERYWHERE.values(), *(t for lab in LABS.values() for t in lab.texts.values())}
)


def places(text: str) -> list[str]:
    """Return the values that a sentence has room for, with how they are written."""
    parts = string.Formatter().parse(text)
    return sorted(f"{name}:{spec}" for _text, name, spec, _how in parts if name)


def test_every_lab_is_explained_and_its_numbers_have_names() -> None:
    assert set(EXPLANATIONS) == set(LABS)
    assert set(TAKES) <= set(LABS)
    for entry in entries():
        assert set(entry.parameters) <= set(PARAMETERS)


@pytest.mark.parametrize("text", TEXTS)
def test_every_sentence_is_translated_with_the_same_values(text: str) -> None:
    with translation.override("zh-hans"):
        translated = translation.gettext(text)
    assert HAN.search(translated), text
    assert places(translated) == places(text)


@pytest.mark.parametrize("words", [EXPLANATIONS, PARAMETERS, TAKES, FINDINGS])
def test_every_word_of_the_pages_is_translated(words: dict[str, object]) -> None:
    with translation.override("zh-hans"):
        assert [key for key, text in words.items() if not HAN.search(str(text))] == []


def test_titles_are_translated() -> None:
    with translation.override("zh-hans"):
        missing = [
            lab.name
            for lab in LABS.values()
            if not HAN.search(translation.gettext(lab.title))
        ]
    assert missing == []


def test_a_division_is_written_in_the_readers_language() -> None:
    params = {"topic": "T", "division": "c1 0-2; c2 nothing", "after": "joined"}
    params |= {"parts": {"c1": [0, 1, 2], "c2": []}}
    assert sentence("F5", "division", params) == (
        "At rest, T is divided: c1 0-2; c2 nothing."
    )
    with translation.override("zh-hans"):
        assert "nothing" not in sentence("F5", "division", params)


def test_words_of_a_lab_among_the_values_are_said_in_words() -> None:
    told = sentence("F2b", "F2b.found", {"case": "other_host", "found_in": "nowhere"})
    assert told == ("Case another host: its offsets are found in: no file.")


def test_a_list_of_queues_is_read_as_one() -> None:
    params = {"queues": [2, 3], "expiry_s": 60.0}
    assert "Queues 2, 3 wait" in sentence("F7", "F7.waiting", params)


def test_an_unknown_key_and_an_unknown_lab_are_named() -> None:
    with pytest.raises(ArgumentError, match=r"lab F5 has no text 'F5\.what'"):
        text_of("F5", "F5.what")
    with pytest.raises(
        ArgumentError, match="unknown lab 'F9'; the known ones are F1, F2"
    ):
        entry_named("F9")


def test_spans() -> None:
    assert spans([0, 1, 2, 7, 9, 10]) == "0-2, 7, 9-10"
    assert spans([]) == ""
