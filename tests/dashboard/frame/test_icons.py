"""Symbols are drawn once, and what is no markup never becomes any."""

from __future__ import annotations

from django.utils.safestring import mark_safe

from dashboard.frame.tags import icon


def test_a_symbol_that_was_safe_once_is_still_escaped_elsewhere() -> None:
    assert "<b>" in icon(mark_safe("<b>"))
    assert "<b>" not in icon("<b>")
    assert icon("bell") is icon("bell")
