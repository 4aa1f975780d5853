"""Options of strategies and listeners as fields of a form, and back.

A form has the fields of all strategies; only those that the chosen strategy uses are
read. Rooms are written as `broker-a=hz1, broker-b=hz2`, for members by their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson
from django.utils.translation import gettext as _

from dashboard.fleet.listeners import BUILT_IN_OPTIONS
from dashboard.whatif.model.options import NEARBY

_RULES: Final = ("broker", "client")
_ROOM_FIELDS: Final = tuple(
    f"{kind}_{part}" for kind in _RULES for part in ("separator", "rooms")
)
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "CONSISTENT_HASH": ("virtual_nodes",),
    "MACHINE_ROOM": ("rooms",),
    "CONFIG": ("config",),
    NEARBY: ("inner", *_ROOM_FIELDS),
}
"""The fields that a strategy uses, besides those of the one inside it."""

NUMBERS: Final = tuple(
    dict.fromkeys(name for known in BUILT_IN_OPTIONS.values() for name in known)
)
"""Options of the built-in listeners."""


class OptionFieldError(ValueError):
    """A field that cannot be read; `field` is its name, the message says why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def fields_of(strategy: str, inner: str = "") -> tuple[str, ...]:
    """Return the fields that a strategy uses, with those of the one inside it."""
    outer, _dash, named = strategy.partition("-")
    used = FIELDS.get(outer, ())
    if outer != NEARBY:
        return used
    used = used if not named else tuple(name for name in used if name != "inner")
    return (*used, *FIELDS.get(named or inner, ()))


def users_of(field: str) -> str:
    """Return the strategies that use a field, between spaces, for the page's script."""
    return " ".join(name for name, fields in FIELDS.items() if field in fields)


def strategy_options(strategy: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a strategy's options from the fields it uses; raise OptionFieldError."""
    used = fields_of(strategy, values.get("inner") or "")
    options: dict[str, Any] = {}
    for name in ("virtual_nodes", "inner"):
        if name in used and values.get(name) not in (None, ""):
            options[name] = values[name]
    if "rooms" in used and (rooms := _names(values.get("rooms"))):
        options["rooms"] = rooms
    if "config" in used and (text := (values.get("config") or "").strip()):
        options["config"] = _lists(text)
    for kind in _RULES if f"{_RULES[0]}_rooms" in used else ():
        if rule := _rule(kind, values):
            options[f"{kind}_rooms"] = rule
    return options


def strategy_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the fields for a strategy's options."""
    fields: dict[str, Any] = {
        name: options[name] for name in ("virtual_nodes", "inner") if name in options
    }
    fields["rooms"] = ", ".join(options.get("rooms", ()))
    if "config" in options:
        fields["config"] = orjson.dumps(options["config"]).decode()
    for kind in _RULES:
        rule = options.get(f"{kind}_rooms", {})
        fields[f"{kind}_separator"] = rule.get("separator", "")
        named = rule.get("named", {})
        fields[f"{kind}_rooms"] = ", ".join(f"{k}={v}" for k, v in named.items())
    return fields


def listener_options(listener: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers that a built-in listener takes, of those that were entered."""
    return {
        name: _as_entered(values[f"listener_{name}"])
        for name in BUILT_IN_OPTIONS.get(listener, ())
        if values.get(f"listener_{name}") is not None
    }


def takers_of(option: str) -> str:
    """Return the built-in listeners that take an option, between spaces."""
    return " ".join(n for n, known in BUILT_IN_OPTIONS.items() if option in known)


def _as_entered(number: float) -> float:
    return int(number) if number.is_integer() else number


def _names(text: str | None) -> list[str]:
    return [name for name in re.split(r"[\s,，、]+", text or "") if name]


def _lists(text: str) -> Any:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        message = _("This is not JSON: %(error)s") % {"error": error}
        raise OptionFieldError("config", message) from error
    if isinstance(value, dict):
        return value
    raise OptionFieldError(
        "config",
        _("Lists are an object such as %(example)s, this is %(value)s.")
        % {"example": '{"1": [["orders", "broker-a", "0-7"]]}', "value": text[:60]},
    )


def _rule(kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    field = f"{kind}_rooms"
    rule: dict[str, Any] = {}
    if separator := (values.get(f"{kind}_separator") or "").strip():
        rule["separator"] = separator
    if named := dict(_pairs(field, _names(values.get(field)))):
        rule["named"] = named
    return rule


def _pairs(field: str, parts: Iterable[str]) -> Iterable[tuple[str, str]]:
    for part in parts:
        name, equals, room = part.rpartition("=")
        if not (name and equals and room):
            message = _("“%(part)s” is not a name and its room, such as broker-a=hz1.")
            raise OptionFieldError(field, message % {"part": part[:60]})
        yield name, room
