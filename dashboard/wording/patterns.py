"""Patterns of names, as admins write them.

`*` stands for any text and `?` for any one character. A bracket is no special
character, unlike in the names of files, and case counts.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a regular expression that matches what a pattern does."""
    return re.compile(translate(pattern.replace("[", "[[]")))


def matches(pattern: str, name: str) -> bool:
    """Tell whether a name matches a pattern; the empty one matches every name."""
    return not pattern or compiled(pattern).match(name) is not None
