"""The string form of message properties: `name \\x01 value \\x02`, repeated.

Empty names and values are lost, as in RocketMQ. A value that holds a separator would
turn into other properties, so it is refused when writing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rmqcore.errors import LocalProtocolError

NAME_END: Final = "\x01"
VALUE_END: Final = "\x02"


def encode_properties(properties: Mapping[str, str]) -> str:
    """Return the string form, in the order given, with a separator at its end.

    Raises `LocalProtocolError` when a name or value holds a separator.
    """
    pairs = [
        f"{name}\x01{value}" for name, value in properties.items() if name and value
    ]
    text = VALUE_END.join(pairs)
    if text.count(NAME_END) != len(pairs) or text.count(VALUE_END) != len(pairs) - 1:
        _refuse_separators(properties)
    return text + VALUE_END if text else ""


def _refuse_separators(properties: Mapping[str, str]) -> None:
    for name, value in properties.items():
        if any(mark in name + value for mark in (NAME_END, VALUE_END)):
            raise LocalProtocolError(
                f"property {name!r} is {value[:80]!r}; it must not hold \\x01 or \\x02"
            )


def decode_properties(text: str) -> dict[str, str]:
    """Return the properties; pieces without a name or a value are skipped.

    The separator after the last one may be missing: some writers omit it.
    """
    properties: dict[str, str] = {}
    for pair in text.split(VALUE_END):
        name, _, value = pair.partition(NAME_END)
        if name and value:
            properties[name] = value
    return properties
