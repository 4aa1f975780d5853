"""Writing as fastjson does: without nulls, with bare integer keys and objects as keys.

Members are written in the order given: Java sorts the members of its beans by name (the
encoders of `bodies` list them so), but keeps a map's own order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from math import isfinite
from typing import Any, Final

from rmqcore.errors import LocalProtocolError
from rmqcore.model import MessageQueue

_RAW_SPECIAL: Final = re.compile('["\\\\\x00-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff]')
_ASCII_SPECIAL: Final = re.compile('["\\\\/\x00-\x1f\x7f-\U0010ffff]')
_SHORT_ESCAPES: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "/": "\\/",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}
_MAX_DEPTH: Final = 100
_JAVA_PLAIN_FROM: Final = 1e-3
_JAVA_PLAIN_BELOW: Final = 1e7


def dumps(value: object, *, standard_json: bool = False) -> bytes:
    """Return the text of a value: dict, list, str, number, bool, None, queue.

    With `standard_json`, every key is a string and non-ASCII characters are escaped,
    which is fastjson's "browser compatible" form. Raises `LocalProtocolError` for any
    other type and for nesting beyond 100 levels.
    """
    parts: list[str] = []
    _write(value, parts, standard_json, 0)
    return "".join(parts).encode()


def write_string(text: str, *, standard_json: bool = False) -> str:
    """Return a string in quotes, escaped as fastjson escapes it."""
    special = _ASCII_SPECIAL if standard_json else _RAW_SPECIAL
    if special.search(text):
        text = special.sub(_escape, text)
    return f'"{text}"'


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    short = _SHORT_ESCAPES.get(character)
    if short is not None:
        return short
    if "\ud800" <= character <= "\udfff":
        return "?"  # half a character has no UTF-8 form; Java also writes this
    units = character.encode("utf-16-be")
    return "".join(
        f"\\u{units[i]:02X}{units[i + 1]:02X}" for i in range(0, len(units), 2)
    )


def _write(value: object, parts: list[str], standard_json: bool, depth: int) -> None:
    if isinstance(value, str):
        text = value.value if isinstance(value, Enum) else value
        parts.append(write_string(text, standard_json=standard_json))
    elif isinstance(value, bool):
        parts.append("true" if value else "false")
    elif isinstance(value, int):
        parts.append(int.__repr__(value))
    elif value is None:
        parts.append("null")
    elif isinstance(value, float):
        parts.append(_java_double(value))
    elif isinstance(value, MessageQueue):
        parts.append(_queue_text(value, standard_json))
    elif depth >= _MAX_DEPTH:
        raise LocalProtocolError(f"body nested more than {_MAX_DEPTH} levels")
    elif isinstance(value, Mapping):
        _write_object(value, parts, standard_json, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        _write_list(value, parts, standard_json, depth + 1)
    else:
        raise LocalProtocolError(f"a {type(value).__name__} cannot be in a body")


def _queue_text(queue: MessageQueue, standard_json: bool) -> str:
    broker = write_string(queue.broker_name, standard_json=standard_json)
    topic = write_string(queue.topic, standard_json=standard_json)
    return f'{{"brokerName":{broker},"queueId":{queue.queue_id},"topic":{topic}}}'


def _write_object(
    members: Mapping[Any, Any], parts: list[str], standard_json: bool, depth: int
) -> None:
    opening = "{"
    for key, value in members.items():
        if value is None:
            continue
        parts.append(opening)
        opening = ","
        if standard_json and not isinstance(key, str):
            key_text = dumps(key).decode()
            parts.append(write_string(key_text, standard_json=True))
        else:
            _write(key, parts, standard_json, depth)
        parts.append(":")
        _write(value, parts, standard_json, depth)
    parts.append("}" if opening == "," else "{}")


def _write_list(
    items: Iterable[Any], parts: list[str], standard_json: bool, depth: int
) -> None:
    opening = "["
    for item in items:
        parts.append(opening)
        opening = ","
        _write(item, parts, standard_json, depth)
    parts.append("]" if opening == "," else "[]")


def _java_double(value: float) -> str:
    """Return a number as Java's `Double.toString` does; fastjson has null for NaN."""
    if not isfinite(value):
        return "null"
    if value == 0 or _JAVA_PLAIN_FROM <= abs(value) < _JAVA_PLAIN_BELOW:
        return repr(value)
    mantissa, _, exponent = f"{value!r}".partition("e")
    if not exponent:
        return _with_exponent(mantissa)
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"


def _with_exponent(plain: str) -> str:
    """Return "0.00012" or "12345678.5" as "1.2E-4" and "1.23456785E7"."""
    sign, digits = ("-", plain[1:]) if plain.startswith("-") else ("", plain)
    whole, _, fraction = digits.partition(".")
    significant = (whole + fraction).strip("0")
    leading = (whole + fraction).lstrip("0")
    exponent = len(whole) - 1 - (len(whole + fraction) - len(leading))
    return f"{sign}{significant[0]}.{significant[1:] or '0'}E{exponent}"
