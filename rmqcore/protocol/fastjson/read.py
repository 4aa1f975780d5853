"""Reading: strict JSON by orjson, other texts by the scanner, then references.

Limits hold before anything is built: the size of the text, and the number of objects
and lists in it, since each takes some 20 times the two bytes of its brackets.
"""

from __future__ import annotations

from typing import Any, Final

import orjson

from rmqcore.errors import BodyError

from .references import resolve_references
from .scan import scan

MAX_BODY_BYTES: Final = 16 * 1024 * 1024
"""A body cannot be longer than a frame."""

MAX_CONTAINERS: Final = 1_000_000
"""The largest bodies of a broker with 2,300 groups hold about 80,000."""


def loads(data: bytes | str) -> Any:
    """Return the value that the text holds: dict, list, str, int, float, bool, None.

    Bare integer keys become int, quoted ones stay str; object keys become
    `FrozenObject`. Whole numbers beyond 64 bits become float. References are replaced
    by the object that they name, shared and not copied; a reference to an enclosing
    object becomes None. Raises `BodyError` with the position of what cannot be read.
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    check_limits(raw)
    value = _parse(raw)
    if b"$ref" in raw:
        value = resolve_references(value)
    return value


def _parse(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    return scan(_text(raw))


def check_limits(data: bytes) -> None:
    """Raise `BodyError` when a body is too large to be read."""
    if len(data) > MAX_BODY_BYTES:
        raise BodyError(f"body of {len(data)} bytes, limit {MAX_BODY_BYTES}")
    if len(data) <= MAX_CONTAINERS:
        return
    # Brackets inside strings count as well; no real body comes near the limit.
    containers = data.count(b"{") + data.count(b"[")
    if containers > MAX_CONTAINERS:
        raise BodyError(
            f"body with {containers} objects and lists, limit {MAX_CONTAINERS}"
        )


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise BodyError(
            f"body is not UTF-8: {error.reason} at byte {error.start}"
        ) from None
