"""Decoders of bodies that other packages add, as entry points `rocketscope.decoders`.

An entry point is a `Decoder`: a callable of the topic, the body and the properties that
returns JSON (anything that `json` writes), or None for a body that is none of its own.
It runs in the web process on each look at a body, and must not take long. What it
returns is masked like any other JSON. An error of a decoder is shown in its place.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Final, Protocol

from rmqcore.model import MessageExt

logger = logging.getLogger(__name__)

GROUP: Final = "rocketscope.decoders"


class Decoder(Protocol):
    """Turns a body into JSON; None means that it is for another decoder."""

    def __call__(self, topic: str, body: bytes, properties: Mapping[str, str]) -> Any:
        """Return what the body says."""
        ...


@dataclass(frozen=True, slots=True)
class Decoded:
    """What one decoder made of a body, or why it failed."""

    name: str
    value: Any = None
    error: str = ""


@cache
def installed() -> Mapping[str, Decoder]:
    """Return the decoders that are installed, by name; one that fails is left out."""
    found: dict[str, Decoder] = {}
    for entry in entry_points(group=GROUP):
        try:
            found[entry.name] = entry.load()
        except Exception:  # a package of others may raise anything
            logger.exception("decoder=%s cannot be loaded", entry.name)
    return found


def decode(message: MessageExt) -> Sequence[Decoded]:
    """Return what the installed decoders make of a body, without those that pass."""
    results: list[Decoded] = []
    for name, decoder in installed().items():
        try:
            value = decoder(message.topic, message.body, message.properties)
        except Exception as error:
            results.append(Decoded(name, error=f"{type(error).__name__}: {error}"))
        else:
            if value is not None:
                results.append(Decoded(name, value))
    return results
