"""Parts of pages that are drawn once for the same values."""

from __future__ import annotations

from typing import Any

from django.template import Context, Template
from django.utils import translation
from django.utils.safestring import mark_safe

_NAV = '{% part "frame/nav.html" name=name clusters=1 groups=groups role=role %}'
_FIELD = '{% part "search/field.html" field="search" within=name %}'


def _drawn(source: str, **context: Any) -> str:
    return Template(source).render(Context(context))


def test_a_part_sees_only_what_it_is_given() -> None:
    without = '{% part "frame/nav.html" name=name clusters=1 %}'

    assert 'href="/audit/"' in _drawn(_NAV, name="east", role="admin")
    assert 'href="/audit/"' not in _drawn(without, name="east", role="admin")


def test_the_rights_of_one_reader_are_not_shown_to_the_next() -> None:
    for _ in range(2):
        assert 'href="/audit/"' in _drawn(_NAV, name="east", role="admin")
        assert 'href="/audit/"' not in _drawn(_NAV, name="east", role="viewer")
        assert 'href="/audit/"' not in _drawn(_NAV, name="east")


def test_each_language_has_a_part_of_its_own() -> None:
    with translation.override("en"):
        english = _drawn(_NAV, name="east")
    with translation.override("zh-hans"):
        chinese = _drawn(_NAV, name="east")

    assert "Settings" in english
    assert "Settings" not in chinese


def test_a_text_is_escaped_after_the_same_text_was_drawn_as_markup() -> None:
    assert 'value="<i>"' in _drawn(_FIELD, name=mark_safe("<i>"))
    assert 'value="&lt;i&gt;"' in _drawn(_FIELD, name="<i>")


def test_no_groups_are_counted_where_none_are_known() -> None:
    assert '<span class="count">0</span>' in _drawn(_NAV, name="east", groups=0)
    assert '<span class="count">0</span>' not in _drawn(_NAV, name="east", groups=None)
