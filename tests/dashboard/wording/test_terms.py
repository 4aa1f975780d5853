"""Words that pages explain where they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.template import Context, Template

from dashboard.models import Role
from dashboard.wording.terms import MEANINGS, TERMS
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import overview

ROOT = Path(__file__).resolve().parents[3]
PLACES = "".join(
    path.read_text("utf-8")
    for folder, kind in (
        ("templates", "html"),
        ("static/js", "js"),
        ("dashboard", "py"),
    )
    for path in (ROOT / folder).rglob(f"*.{kind}")
    if "vendor" not in path.parts
)
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text("utf-8").lower()


@pytest.mark.parametrize("key", TERMS)
def test_a_word_is_explained_somewhere_and_is_in_the_glossary(key: str) -> None:
    assert MEANINGS[key]
    assert re.search(rf'explain[ (]"{key}"|term="{key}"', PLACES)
    assert str(TERMS[key]).lower() in GLOSSARY


def test_the_button_names_the_word_and_opens_its_meaning() -> None:
    drawn = Template('{% explain "in_hand" %}').render(Context())
    assert 'aria-label="What “In hand” means"' in drawn
    assert 'popovertarget="term-in_hand"' in drawn


def test_a_page_has_each_meaning_once_and_a_fragment_none(
    sign_in: SignIn, write: Write
) -> None:
    write(overview())
    viewer, home = sign_in(Role.VIEWER), "/clusters/hangzhou/"
    page = viewer.get(home).content.decode()
    for key, meaning in MEANINGS.items():
        assert page.count(f'id="term-{key}" popover') == 1
        assert str(meaning).replace("'", "&#x27;") in page
    assert 'popovertarget="term-skew"' in page, "beside the heading of a column"
    fragment = viewer.get(home, headers={"X-Fragment": "1"}).content.decode()
    assert 'popovertarget="term-skew"' in fragment
    assert 'id="term-skew"' not in fragment
