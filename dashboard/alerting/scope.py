"""Which groups a rule or a silence is about: patterns, matched quickly.

A pattern is as in the grants of users: `*` stands for any text, `?` for one character,
and a bracket for itself; an empty one for every group.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern.replace("[", "[[]")))


def matches(pattern: str, group: str) -> bool:
    """Tell whether a group's name matches a pattern; the empty one matches all."""
    return not pattern or _compiled(pattern).match(group) is not None
