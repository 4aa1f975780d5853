from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from dashboard.frame import catalogue
from dashboard.models import Role
from dashboard.wording.words import WORDS
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import overview, waiting_for_locks

GROUP = "/clusters/hangzhou/groups/order-settlement/"


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    catalogue._script.cache_clear()
    catalogue._digest.cache_clear()
    yield
    catalogue._script.cache_clear()
    catalogue._digest.cache_clear()


def address(language: str) -> str:
    with translation.override(language):
        return catalogue.catalogue_address()


def rooms(language: str) -> Any:
    text = Client().get(address(language)).content.decode()
    words = json.loads(text.removeprefix("globalThis.catalogue=").rstrip(";\n"))
    assert words["language"] == language
    return words["rooms"]


def test_the_words_follow_the_language() -> None:
    assert rooms("en")["status"]["no_owner"] == "No owner"
    assert rooms("zh-hans")["status"]["no_owner"] == "无持有者"


def test_counted_phrases_have_the_forms_of_the_language() -> None:
    english, chinese = rooms("en")["ui"], rooms("zh-hans")["ui"]
    assert english["n_queues"] == {"one": "{n} queue", "other": "{n} queues"}
    assert chinese["n_queues"] == {"other": "{n} 个队列"}


def test_strangers_get_them_to_keep_and_compressed() -> None:
    answer = Client().get(address("en"), headers={"Accept-Encoding": "gzip"})
    assert {"public", "immutable"} <= set(answer["Cache-Control"].split(", "))
    assert "Cookie" not in answer["Vary"]
    assert not answer.cookies
    assert answer["Content-Type"] == "text/javascript"
    assert gzip.decompress(answer.content).startswith(b"globalThis.catalogue=")


def test_other_words_have_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    before = address("en")
    catalogue._script.cache_clear()
    catalogue._digest.cache_clear()
    monkeypatch.setitem(WORDS["ui"], "live", "alive")
    assert address("en") != before
    assert Client().get(before).status_code == 404


@pytest.mark.parametrize("path", ["/words/fr.0.js", "/words/en.0.js"])
def test_what_is_not_there(path: str) -> None:
    assert Client().get(path).status_code == 404


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_pages_name_the_words_before_all_other_scripts(
    language: str, sign_in: SignIn, write: Write
) -> None:
    write(overview(), waiting_for_locks())
    client = sign_in(Role.VIEWER)
    client.cookies["rocketscope_language"] = language
    page = client.get(GROUP).content.decode()
    first = page.index(f'<script defer src="{address(language)}"></script>')
    assert first < page.index('type="module"')
