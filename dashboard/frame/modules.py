"""Scripts of pages, with all modules that they import named at once.

A browser finds out what a module imports when it has read it. With modules that import
each other six deep, that is six round trips one after another before a page moves.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path
from typing import Final

from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

_IMPORT: Final = re.compile(r'^(?:import|export)\b[^;"(]*"(\.{1,2}/[^"]+)"', re.M)


@cache
def script(name: str) -> SafeString:
    """Return the element for a module of `static/js`, and those that load its imports.

    Raises `LookupError` for a module that does not exist.
    """
    path = f"js/{name}"
    links = format_html_join(
        "",
        '<link rel="modulepreload" href="{}">',
        ((static(each),) for each in imported(path)),
    )
    element = format_html('<script type="module" src="{}"></script>', static(path))
    return links + element


def imported(path: str) -> list[str]:
    """Return the static files that a module imports, directly or not, nearest first."""
    found, todo = {path: None}, [path]
    while todo:
        importing = todo.pop(0)
        for name in _IMPORT.findall(_text_of(importing)):
            each = posixpath.normpath(
                posixpath.join(posixpath.dirname(importing), name)
            )
            if each not in found:
                found[each] = None
                todo.append(each)
    return list(found)[1:]


def _text_of(path: str) -> str:
    found = finders.find(path)
    if found is None:
        raise LookupError(f"there is no static file {path}")
    return Path(found).read_text("utf-8")
