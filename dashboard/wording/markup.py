"""Fills pieces of markup, hundreds of which make one page of a list.

Django's `format_html` looks at each value, and at each text that it escapes, several
times to find out whether it is lazy. For the cells of fifty rows, that is a third of
the time it takes to draw them.
"""

from __future__ import annotations

from html import escape

from django.utils.functional import Promise
from django.utils.safestring import SafeString


def fill(pattern: str, *values: object) -> SafeString:
    """Return what `format_html` does: the pattern with its values, each escaped."""
    return SafeString(pattern.format(*map(escaped, values)))


def escaped(value: object) -> str:
    """Return what `conditional_escape` does: a text that is safe in markup.

    What is markup already, which a value tells by `__html__`, stays as it is.
    """
    if type(value) is SafeString:  # as most values are
        return value
    if isinstance(value, Promise):
        value = str(value)
    if hasattr(value, "__html__"):
        return str(value.__html__())
    return escape(str(value))
