"""Addresses: where programs call, and where a contact that somebody typed leads."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, urlsplit

API_PREFIX: Final = "/api/"
"""How the paths begin that programs call; their answers are JSON."""
VERSION_HEADER: Final = "X-RocketScope-Version"
"""In each of their answers."""

_MAIL: Final = re.compile(r"[^\s@:/?#<>\"]+@[^\s@:/?#<>\"]+\.[^\s@:/?#<>\"]+")
_UNFIT: Final = re.compile(r"[\s\x00-\x1f\x7f<>\"\\]")


def contact_link(text: str) -> str:
    """Return the address to link to; empty for what is no address.

    Only http, https and mailto lead anywhere: other schemes may run scripts. A bare
    e-mail address gets its mailto.
    """
    text = text.strip()
    if _MAIL.fullmatch(text):
        return "mailto:" + quote(text, safe="@+.-_!#$%&'*=^`{|}~")
    if _UNFIT.search(text):
        return ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    web = parts.scheme in {"http", "https"} and parts.netloc
    return text if web or (parts.scheme == "mailto" and parts.path) else ""
