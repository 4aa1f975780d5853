"""The colours of the pages for files that are read away from them.

They are read from `static/css/tokens.css`, so that a page and the file made from it
look alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from django.conf import settings


def static_text(path: str) -> str:
    """Return a file of `static/` as text."""
    return (settings.FILES / "static" / path).read_text("utf-8")


@cache
def palette() -> Mapping[str, str]:
    """Return the light colours, `#rrggbb`, by the names of their properties.

    Paper and sheets are white, whatever the theme of the pages is.
    """
    tokens = static_text("css/tokens.css")
    return dict(re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), ", tokens))
