"""Preferences that the browser keeps: names and allowed values of its cookies."""

from __future__ import annotations

from typing import Final

THEME_COOKIE: Final = "rocketscope_theme"
THEMES: Final = ("auto", "light", "dark")
