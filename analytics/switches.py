"""Switches in the environment: the same words mean on and off wherever one is read."""

from __future__ import annotations

from typing import Final

_WORDS: Final = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


def read_switch(key: str, value: str, default: bool) -> bool:
    """Return what a word means, in upper or lower case; empty is the default.

    Raises `ValueError` naming the key, the value and the words allowed.
    """
    word = value.strip().lower()
    if not word:
        return default
    if word not in _WORDS:
        raise ValueError(
            f"{key}={word!r} is not a switch: use one of {', '.join(_WORDS)}"
        )
    return _WORDS[word]
