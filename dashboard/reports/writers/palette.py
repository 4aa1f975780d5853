"""The colours of the pages for files that are read away from them.

They are read from `static/css/tokens.css`, so that a page and the file that was made
of it look alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from django.conf import settings

LIGHT: Final = "light"
DARK: Final = "dark"
_OPENINGS: Final = {LIGHT: r":root \{", DARK: r':root\[data-theme="dark"\] \{'}


def static_text(path: str) -> str:
    """Return a file of `static/` as text."""
    return (settings.ROOT / "static" / path).read_text("utf-8")


@cache
def palette(theme: str) -> Mapping[str, str]:
    """Return the colours of a theme by the names of their properties."""
    text = static_text("css/tokens.css")
    opening = re.search(_OPENINGS[theme], text)
    assert opening is not None  # noqa: S101  a test of the tokens holds both blocks
    block = text[opening.end() : text.index("}", opening.end())]
    return dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6});", block))
