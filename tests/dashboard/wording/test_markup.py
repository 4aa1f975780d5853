from __future__ import annotations

from typing import Any

import pytest
from django.utils.functional import lazystr
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy

from dashboard.wording.markup import escaped, fill

VALUES = [
    "",
    "plain",
    "<b>&amp;'\"</b>",
    mark_safe("<b>&amp;</b>"),
    "队列 <é>",
    0,
    1.5,
    None,
    ["<", '"'],
    gettext_lazy("Groups"),
    lazystr("<lazy>"),
    lazystr(mark_safe("<i>lazy markup</i>")),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_are_escaped_as_django_does(value: Any) -> None:
    assert escaped(value) == conditional_escape(value)
    drawn = fill('<td title="{}">{}</td>', value, value)
    assert drawn == format_html('<td title="{}">{}</td>', value, value)
    assert isinstance(drawn, SafeString)


def test_what_was_filled_is_not_escaped_again() -> None:
    inner = fill("<b>{}</b>", "<")
    assert fill("<td>{}{}</td>", inner, inner) == "<td><b>&lt;</b><b>&lt;</b></td>"
