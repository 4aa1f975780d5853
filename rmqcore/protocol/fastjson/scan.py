"""The tolerant scanner: one pass over texts that a strict parser refuses.

Accepted beyond JSON: bare keys (whole numbers and names), objects as keys, single
quotes, fastjson's extra escapes, raw control characters in strings, one trailing comma.
Refused: everything else, with the position of the character.

Each pattern is possessive, so that no text makes the scanner backtrack; nesting is
bounded. Cost: linear, about a microsecond for each token.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Any, Final, NoReturn

from rmqcore.errors import BodyError

from .frozen import FrozenObject

MAX_DEPTH: Final = 100
"""Bodies of RocketMQ are at most 8 levels deep."""

MAX_COMMAS: Final = 1_000_000
"""Limits the time to about two seconds; the largest real bodies hold 300,000."""

_INT64_MIN: Final = -(2**63)
_UINT64_MAX: Final = 2**64 - 1
_MAX_DIGITS: Final = 20

_SPACES: Final = frozenset(" \t\r\n\f\b\ufeff")
_STRING: Final = {
    '"': re.compile(r'"([^"\\]*+)(?:"|((?:\\.|[^"\\]++)*+)")', re.DOTALL),
    "'": re.compile(r"'([^'\\]*+)(?:'|((?:\\.|[^'\\]++)*+)')", re.DOTALL),
}
_NUMBER: Final = re.compile(r"(-?+[0-9]++)(\.[0-9]++)?+([eE][+-]?+[0-9]++)?+")
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*+")
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\(.)", re.DOTALL)
_SIMPLE_ESCAPES: Final = {
    **{c: c for c in "\"'\\/"},
    **dict(zip("bfnrtv", "\b\f\n\r\t\v", strict=True)),
    **{str(digit): chr(digit) for digit in range(8)},
}
_WORDS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}
_QUOTES: Final = frozenset(_STRING)
_NUMBER_STARTS: Final = frozenset("-0123456789")


def scan(text: str) -> Any:
    """Return the one value that the text holds, or raise `BodyError`."""
    commas = text.count(",")
    if commas > MAX_COMMAS:
        raise BodyError(
            f"body is not strict JSON and has {commas} commas, limit {MAX_COMMAS}"
        )
    return _Scanner(text).whole()


class _Scanner:
    __slots__ = ("_depth", "_position", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._depth = 0

    def whole(self) -> Any:
        value = self._value(self._next_character())
        if self._next_character():
            self._fail("nothing more")
        return value

    def _next_character(self) -> str:
        """Skip space and return the character there, empty at the end."""
        while (character := self._text[self._position : self._position + 1]) in _SPACES:
            self._position += 1
        return character

    def _value(self, character: str) -> Any:
        if character in _QUOTES:
            return self._string(character)
        if character in _NUMBER_STARTS:
            return self._number()
        if character == "{":
            return self._object()
        if character == "[":
            return self._list()
        name = _NAME.match(self._text, self._position)
        if name is None or name.group() not in _WORDS:
            self._fail("a value")
        self._position = name.end()
        return _WORDS[name.group()]

    def _object(self) -> dict[Any, Any]:
        self._enter()
        members: dict[Any, Any] = {}
        character = self._next_character()
        while character != "}":
            key = self._key(character)
            if self._next_character() != ":":
                self._fail("':' after a key")
            self._position += 1
            members[key] = self._value(self._next_character())
            character = self._separator("}")
        self._leave()
        return members

    def _list(self) -> list[Any]:
        self._enter()
        items: list[Any] = []
        character = self._next_character()
        while character != "]":
            items.append(self._value(character))
            character = self._separator("]")
        self._leave()
        return items

    def _separator(self, end: str) -> str:
        """Step over a comma; return the character after it, or the closing one."""
        character = self._next_character()
        if character == ",":
            self._position += 1
            return self._next_character()
        if character != end:
            self._fail(f"',' or '{end}'")
        return character

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail(f"at most {MAX_DEPTH} levels")
        self._position += 1

    def _leave(self) -> None:
        self._depth -= 1
        self._position += 1

    def _key(self, character: str) -> Any:
        if character in _QUOTES:
            return self._string(character)
        if character in _NUMBER_STARTS:
            return self._number()
        if character == "{":
            return FrozenObject(self._object())
        name = _NAME.match(self._text, self._position)
        if name is None:
            self._fail("a key")
        self._position = name.end()
        return name.group()

    def _string(self, quote: str) -> str:
        found = _STRING[quote].match(self._text, self._position)
        if found is None:
            self._fail("a closing quote")
        plain, escaped = found.groups()
        text = (
            plain
            if escaped is None
            else plain + self._unescape(found.start(2), escaped)
        )
        self._position = found.end()
        return text

    def _unescape(self, start: int, escaped: str) -> str:
        def replace(found: re.Match[str]) -> str:
            wide, narrow, simple = found.groups()
            if simple is None:
                return chr(int(wide or narrow, 16))
            if simple not in _SIMPLE_ESCAPES:
                self._position = start + found.start()
                self._fail("a known escape")
            return _SIMPLE_ESCAPES[simple]

        text = _ESCAPE.sub(replace, escaped)
        if any("\ud800" <= unit <= "\udfff" for unit in text):
            # Two escapes can stand for one character; half of one is not valid text.
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return text

    def _number(self) -> int | float:
        found = _NUMBER.match(self._text, self._position)
        if found is None:
            self._fail("a number")
        whole, fraction, exponent = found.groups()
        if fraction is None and exponent is None and len(whole) <= _MAX_DIGITS:
            value: int | float = int(whole)
            if not _INT64_MIN <= value <= _UINT64_MAX:
                value = float(value)
        else:
            value = float(found.group())
            if not isfinite(value):
                self._fail("a number of 64 bits")
        self._position = found.end()
        return value

    def _fail(self, expected: str) -> NoReturn:
        at = self._position
        found = repr(self._text[at : at + 20]) if at < len(self._text) else "the end"
        raise BodyError(f"body: expected {expected} at character {at}, found {found}")
