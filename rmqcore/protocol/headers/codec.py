"""Converts typed headers to ext fields and back.

A header is a frozen dataclass. Its field `queue_id` is sent as `queueId`; names that do
not follow that rule are in the class's `wire_names`. The annotation gives the Java
type: `Int32`, `Int64`, `bool` or `str`; a field without a default is one that the Java
peer requires. From these a plan is computed once per class, which encoding and decoding
follow. Ext fields that a class does not name are ignored, and None is not sent.

Cost: about a quarter of a microsecond for each field that is present.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, ClassVar, Final, NamedTuple, TypeVar, get_type_hints

from rmqcore.errors import HeaderError, LocalProtocolError

Names = Mapping[str, str]
Int32 = Annotated[int, 32]
Int64 = Annotated[int, 64]

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,40}", re.ASCII)
_PLANS: Final[dict[tuple[type[Header], bool], tuple[WireField, ...]]] = {}
_BOOLEANS: Final = {"true": True, "false": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Base of all request and response headers.

    `wire_names` holds the names that are not the camel-case form of the attribute.
    A class with `short_names` has a second spelling, marked by the field `short_mark`.
    """

    wire_names: ClassVar[Names] = {}
    short_names: ClassVar[Names] = {}
    short_mark: ClassVar[str | None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHeader(Header):
    """The fields that any request of a 5.x peer may carry besides its own."""

    wire_names: ClassVar[Names] = {
        "namespace": "ns",
        "namespaced": "nsd",
        "logical_broker": "bname",
        "oneway": "oway",
    }

    namespace: str | None = None
    namespaced: bool | None = None
    logical_broker: str | None = None
    oneway: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRequestHeader(RequestHeader):
    """A request about one topic; `static_topic` marks logical queues of 5.x."""

    wire_names: ClassVar[Names] = {"static_topic": "lo"}

    static_topic: bool | None = None


H = TypeVar("H", bound=Header)


class WireField(NamedTuple):
    """One field as it is sent."""

    attribute: str
    name: str
    parse: Callable[[str], int | bool | str]
    write: Callable[[object], str]
    required: bool


def encode_header(header: Header, *, short_names: bool = False) -> dict[str, str]:
    """Return the ext fields of a header; fields that are None are left out.

    With `short_names` the one-letter spelling of code 310 is used. Raises
    `LocalProtocolError` for a value of the wrong type or beyond its Java type.
    """
    cls = type(header)
    ext_fields: dict[str, str] = {}
    for attribute, name, _, write, _ in wire_fields(cls, short_names):
        value = getattr(header, attribute)
        if value is None:
            continue
        try:
            ext_fields[name] = write(value)
        except ValueError as error:
            raise LocalProtocolError(
                f"{cls.__name__}: field {attribute} is {value!r}, {error}"
            ) from None
    return ext_fields


def decode_header(cls: type[H], ext_fields: Mapping[str, str]) -> H:
    """Return the header of type `cls` that the ext fields hold.

    The short spelling is recognised automatically. Raises `HeaderError`, naming the
    field and its value, when a required field is missing or a value has the wrong form.
    """
    short = cls.short_mark is not None and cls.short_mark in ext_fields
    values: dict[str, int | bool | str] = {}
    for attribute, name, parse, _, required in wire_fields(cls, short):
        text = ext_fields.get(name)
        if text is None:
            if required:
                raise HeaderError(f"{cls.__name__}: required field {name} is missing")
            continue
        try:
            values[attribute] = parse(text)
        except ValueError as error:
            raise HeaderError(
                f"{cls.__name__}: field {name} is {text[:80]!r}, {error}"
            ) from None
    return cls(**values)


def wire_fields(cls: type[Header], short_names: bool = False) -> tuple[WireField, ...]:
    """Return the plan of a header class, in the order of its fields."""
    plan = _PLANS.get((cls, short_names))
    if plan is None:
        plan = _PLANS[cls, short_names] = _make_plan(cls, short_names)
    return plan


def _make_plan(cls: type[Header], short_names: bool) -> tuple[WireField, ...]:
    names: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        names |= base.__dict__.get("wire_names", {})
    if short_names:
        if not cls.short_names:
            raise LocalProtocolError(f"{cls.__name__} has no short field names")
        names |= cls.short_names
    hints = get_type_hints(cls, include_extras=True)
    return tuple(
        WireField(
            item.name,
            names.get(item.name) or _camel_case(item.name),
            *_FORMS[_java_type(hints[item.name])],
            required=item.default is MISSING,
        )
        for item in fields(cls)
    )


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _java_type(hint: object) -> object:
    """Return the hint without its `| None`."""
    options: tuple[object, ...] = getattr(hint, "__args__", ())
    if type(None) in options:
        hint = next(option for option in options if option is not type(None))
    return hint


def _parse_integer(text: str, low: int, high: int) -> int:
    # int() alone would take "1_000", " 7" and digits of other scripts.
    if not _INTEGER.fullmatch(text):
        raise ValueError("not a whole number")
    value = int(text)
    if not low <= value <= high:
        raise ValueError(f"beyond {low}..{high}")
    return value


def _write_integer(value: object, low: int, high: int) -> str:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError("not a whole number")  # noqa: TRY004 - becomes a protocol error
    if not low <= value <= high:
        raise ValueError(f"beyond {low}..{high}")
    return int.__repr__(value)


def _parse_int32(text: str) -> int:
    # Nine digits always fit; this is four times as fast as the full check.
    if len(text) < 10 and text.isdecimal() and text.isascii():
        return int(text)
    return _parse_integer(text, -0x8000_0000, 0x7FFF_FFFF)


def _write_int32(value: object) -> str:
    return _write_integer(value, -0x8000_0000, 0x7FFF_FFFF)


def _parse_int64(text: str) -> int:
    if len(text) < 19 and text.isdecimal() and text.isascii():
        return int(text)
    return _parse_integer(text, -0x8000_0000_0000_0000, 0x7FFF_FFFF_FFFF_FFFF)


def _write_int64(value: object) -> str:
    return _write_integer(value, -0x8000_0000_0000_0000, 0x7FFF_FFFF_FFFF_FFFF)


def _parse_bool(text: str) -> bool:
    value = _BOOLEANS.get(text.lower())
    if value is None:
        raise ValueError("neither true nor false")
    return value


def _write_bool(value: object) -> str:
    if not isinstance(value, bool):
        raise ValueError("neither True nor False")  # noqa: TRY004 - see above
    return "true" if value else "false"


def _parse_str(text: str) -> str:
    return text


def _write_str(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("not text")  # noqa: TRY004 - see above
    return value


_Form = tuple[Callable[[str], int | bool | str], Callable[[object], str]]
_FORMS: Final[dict[object, _Form]] = {
    Int32: (_parse_int32, _write_int32),
    Int64: (_parse_int64, _write_int64),
    bool: (_parse_bool, _write_bool),
    str: (_parse_str, _write_str),
}
