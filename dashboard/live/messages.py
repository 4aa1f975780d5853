"""The messages a browser may send on the live socket, parsed and checked.

    {"op": "watch", "cluster": C}                 digests of a cluster's overview
    {"op": "watch", "cluster": C, "group": G}     changes of one group
    {"op": "watch", "cluster": C, "labs": true}   sent when one of its labs moves on
    {"op": "unwatch", "cluster": C[, "group": G][, "labs": true]}
    {"op": "ping"}

Anything else is a `MessageError` whose text names the value and what is allowed; it
goes back to the sender, and the socket stays open.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

import orjson

MAX_MESSAGE_CHARS: Final = 4096
MAX_NAME_CHARS: Final = 255
_SHOWN_CHARS: Final = 60


class MessageError(ValueError):
    """A socket message that cannot be followed; the text says why."""


class UnknownClusterError(MessageError):
    """A message names a cluster that may not be watched."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Begin to send changes; without group and labs, those of the overview."""

    cluster: str
    group: str = ""
    labs: bool = False


@dataclass(frozen=True, slots=True)
class Unwatch:
    """Stop sending changes."""

    cluster: str
    group: str = ""
    labs: bool = False


@dataclass(frozen=True, slots=True)
class Ping:
    """Ask whether the other end is alive."""


def parse_message(text: str, clusters: Collection[str]) -> Watch | Unwatch | Ping:
    """Read one message; `clusters` are the names that may be watched."""
    if len(text) > MAX_MESSAGE_CHARS:
        raise MessageError(
            f"message of {len(text)} characters, limit {MAX_MESSAGE_CHARS}"
        )
    try:
        message = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise MessageError(f"not JSON: {error}") from None
    if not isinstance(message, dict):
        raise MessageError(f"message is {_shown(message)}, expected an object")
    op = message.get("op")
    match op:
        case "ping":
            return Ping()
        case "watch" | "unwatch":
            kind = Watch if op == "watch" else Unwatch
            return kind(_cluster(message, clusters), _group(message), _labs(message))
    raise MessageError(f"op is {_shown(op)}, expected one of watch, unwatch, ping")


def _cluster(message: dict[str, Any], clusters: Collection[str]) -> str:
    name = message.get("cluster")
    if not isinstance(name, str) or name not in clusters:
        known = ", ".join(sorted(clusters)) or "none"
        raise UnknownClusterError(
            f"unknown cluster {_shown(name)}; configured: {known}"
        )
    return name


def _group(message: dict[str, Any]) -> str:
    name = message.get("group", "")
    if not isinstance(name, str):
        raise MessageError(f"group is {_shown(name)}, expected a name")
    if len(name) > MAX_NAME_CHARS:
        raise MessageError(
            f"group name of {len(name)} characters, limit {MAX_NAME_CHARS}"
        )
    return name


def _labs(message: dict[str, Any]) -> bool:
    labs = message.get("labs", False)
    if not isinstance(labs, bool):
        raise MessageError(f"labs is {_shown(labs)}, expected true or false")
    if labs and message.get("group"):
        raise MessageError("labs and group are both given, expected one of them")
    return labs


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"
