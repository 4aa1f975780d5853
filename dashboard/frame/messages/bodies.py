"""A body as people read it: JSON, text, hexadecimal, and what decoders make of it.

A body in which a mask applied is shown as JSON only: text and hexadecimal would show
what the mask hides.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from rmqcore.model import MessageExt

from .decoders import decode
from .masks import Masks

Form = Literal["JSON", "text", "hex"]
MOST_SHOWN: Final = 256 * 1024
"""Bytes of text or hexadecimal that a page shows; more is cut off, and said."""

_LINE: Final = 16


@dataclass(frozen=True, slots=True)
class Shown:
    """One form of a body: `name` is a `Form`, or that of a decoder."""

    name: str
    text: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class BodyView:
    """A body in all forms that it has, the most telling first.

    `rules` are the masks that applied; `cut` says that a form shows its beginning only.
    """

    size: int
    forms: Sequence[Shown]
    rules: Sequence[str]
    cut: bool


def view_body(message: MessageExt, masks: Masks) -> BodyView:
    """Return the forms in which a body can be shown."""
    forms: list[Shown] = []
    rules: set[str] = set()
    for decoded in decode(message):
        masked = masks.apply(decoded.value)
        rules.update(masked.rules)
        text = "" if decoded.error else pretty(masked.value)
        forms.append(Shown(decoded.name, text, decoded.error))
    parsed = _parsed(message.body)
    if parsed is not None:
        masked = masks.apply(parsed[0])
        rules.update(masked.rules)
        forms.append(Shown("JSON", pretty(masked.value)))
    if not rules:
        forms += _raw(message.body)
    return BodyView(
        size=len(message.body),
        forms=[Shown(f.name, f.text[:MOST_SHOWN], f.error) for f in forms],
        rules=sorted(rules),
        cut=any(len(each.text) > MOST_SHOWN for each in forms),
    )


def pretty(value: Any) -> str:
    """Write a value as JSON on several lines."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def hex_lines(body: bytes) -> Iterator[str]:
    """Write bytes as an editor does: offset, sixteen numbers, the characters."""
    for at in range(0, len(body), _LINE):
        piece = body[at : at + _LINE]
        numbers = " ".join(f"{byte:02x}" for byte in piece)
        letters = "".join(chr(b) if 32 <= b < 127 else "." for b in piece)
        yield f"{at:08x}  {numbers:<47}  {letters}"


def _parsed(body: bytes) -> tuple[Any] | None:
    """Return the JSON value of a body, in a tuple as it may be null."""
    if body.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return (json.loads(body),)
    except (ValueError, RecursionError):
        return None


def _raw(body: bytes) -> Iterator[Shown]:
    # A line of 16 bytes takes 76 characters.
    shown_bytes = MOST_SHOWN // 76 * _LINE
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = None
    if text is not None:
        yield Shown("text", text)
    lines = "\n".join(hex_lines(body[:shown_bytes]))
    yield Shown("hex", lines if len(body) <= shown_bytes else lines + "\n…")
