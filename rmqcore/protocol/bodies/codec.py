"""Decoding a body into a typed value, fast where its shape is the usual one.

Each body has a schema, a frozen `msgspec` structure with Java's names. A body that is
JSON decodes into it directly. Two spellings that are not JSON are rewritten first:

- bare integer keys, `{0:5}`, get quotes;
- tables with queues as keys, `{{queue}:value,…}`, become lists of pairs,
  `[[{queue},value],…]`, which is also how their schemas declare them.

Rewriting works on bytes without parsing. It must never turn one valid text into another
one, even when names hold the patterns it looks for. Each pattern therefore either
begins with a quote that can only open a string, or is counted against patterns that do;
when the counts differ, or the strict decoder refuses the result, or the body holds
references, the tolerant scanner reads the original text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, Generic, TypeVar

import msgspec

from rmqcore.errors import BodyError
from rmqcore.model import MessageQueue
from rmqcore.protocol.fastjson import FrozenObject, loads
from rmqcore.protocol.fastjson.read import check_limits

Int32 = Annotated[int, msgspec.Meta(ge=-0x8000_0000, le=0x7FFF_FFFF)]
Int64 = Annotated[
    int, msgspec.Meta(ge=-0x8000_0000_0000_0000, le=0x7FFF_FFFF_FFFF_FFFF)
]

QueueCount = Annotated[int, msgspec.Meta(ge=0, le=100_000)]
"""Bounded, since a route is expanded into one object for each queue."""

Name = Annotated[str, msgspec.Meta(min_length=1)]

T = TypeVar("T")
V = TypeVar("V")
Rewrite = Callable[[bytes], bytes | None]
Reshape = Callable[[dict[str, Any]], None]

_BARE_KEY: Final = re.compile(rb"([{,])(-?[0-9]+):")
_QUEUE_BEGIN: Final = b'{"brokerName":'


class WireQueue(msgspec.Struct, frozen=True, rename="camel"):
    """A message queue as bodies hold it; cheaper to make than a `MessageQueue`."""

    broker_name: str
    queue_id: Int32
    topic: str

    def queue(self) -> MessageQueue:
        """Return it as the model's type."""
        return MessageQueue(self.topic, self.broker_name, self.queue_id)


class DataVersion(msgspec.Struct, frozen=True, rename="camel"):
    """When a broker's table last changed; name servers compare it."""

    counter: Int64 = 0
    state_version: Int64 = 0
    timestamp: Int64 = 0


class BodyDecoder(Generic[T]):
    """Decodes one kind of body.

    `rewrite` returns strict JSON for the usual spelling, or None when it cannot tell.
    `reshape` brings the result of the tolerant scanner into the form of the schema; it
    is called with an object and changes it.
    """

    __slots__ = ("_decoder", "_reshape", "_rewrite", "_schema")

    def __init__(
        self,
        schema: type[T],
        *,
        rewrite: Rewrite | None = None,
        reshape: Reshape | None = None,
    ) -> None:
        self._schema = schema
        self._decoder = msgspec.json.Decoder(schema)
        self._rewrite = rewrite
        self._reshape = reshape

    def decode(self, data: bytes) -> T:
        """Return the body's value, or raise `BodyError` naming the wrong member."""
        check_limits(data)
        # Looking for one byte first is ten times cheaper than for four.
        if b"$" not in data or b"$ref" not in data:
            strict = self._rewrite(data) if self._rewrite else data
            if strict is not None:
                try:
                    return self._decoder.decode(strict)
                except (msgspec.MsgspecError, ValueError, RecursionError):
                    # The text is unusual; the slow way finds out why.
                    pass
        return self._decode_slowly(data)

    def _decode_slowly(self, data: bytes) -> T:
        value = loads(data)
        if self._reshape is not None:
            if not isinstance(value, dict):
                raise BodyError(
                    f"body: expected an object, found {type(value).__name__}"
                )
            self._reshape(value)
        return convert(value, self._schema)


def convert(value: object, schema: type[T]) -> T:
    """Return a value of `loads` in the form of a schema.

    Numbers may be in quotes; a null counts as a missing member, as in Java.
    """
    try:
        return msgspec.convert(
            _without_nulls(value), schema, strict=False, str_keys=True
        )
    except (msgspec.ValidationError, RecursionError) as error:
        name = schema.__name__.lstrip("_")
        raise BodyError(f"{name}: {error}") from None


def _without_nulls(value: object) -> object:
    if isinstance(value, Mapping):
        return {
            key: _without_nulls(member)
            for key, member in value.items()
            if member is not None
        }
    if isinstance(value, list | tuple):
        return [_without_nulls(item) for item in value if item is not None]
    return value


# Bare integer keys


def quote_bare_keys(data: bytes) -> bytes:
    """Return the text with its bare integer keys in quotes.

    Inside a string, the added quote would end that string before a digit, which no
    strict decoder accepts; so a text is either right or refused.
    """
    return _BARE_KEY.sub(rb'\1"\2":', data)


# Tables with queues as keys


def pair_queue_keys(data: bytes) -> bytes | None:
    """Return the text with `{{queue}:value,{queue}:value` as `[[{queue},value],…`.

    The caller, who knows what follows each table, has to close its end. Return None
    when the text holds something that looks like the end of a key elsewhere.
    """
    opened = data.replace(b"{" + _QUEUE_BEGIN, b"[[" + _QUEUE_BEGIN)
    paired = opened.replace(b"," + _QUEUE_BEGIN, b"],[" + _QUEUE_BEGIN)
    # The number of keys follows from how much the texts grew.
    keys = len(opened) - len(data) + (len(paired) - len(opened)) // 2
    if paired.count(b'"}:') != keys:
        return None
    return paired.replace(b'"}:', b'"},')


def rewrite_one_table(data: bytes) -> bytes | None:
    """Rewrite a text that ends with its one table, `offsetTable`."""
    paired = pair_queue_keys(data)
    if paired is None or not paired.endswith(b"}}"):
        return None
    if _QUEUE_BEGIN not in paired:
        return empty_tables(paired, b"offsetTable")
    return paired[:-2] + b"]]}"


def empty_tables(data: bytes, *names: bytes) -> bytes:
    """Return the text with its empty tables of these names as empty lists."""
    for name in names:
        data = data.replace(b'"%b":{}' % name, b'"%b":[]' % name)
    return data


def queue_pairs(table: object) -> list[tuple[Any, Any]]:
    """Return a table with queues as keys, as `loads` reads it, as a list of pairs.

    A key may be an object or a string that holds one, which Java also accepts.
    """
    if table is None:
        return []
    if not isinstance(table, Mapping):
        raise BodyError(
            f"body: expected a table of queues, found {type(table).__name__}"
        )
    return [(_queue_key(key), value) for key, value in table.items()]


def _queue_key(key: object) -> dict[str, Any]:
    if isinstance(key, FrozenObject):
        return dict(key)
    value = loads(key) if isinstance(key, str) else key
    if not isinstance(value, dict):
        raise BodyError(f"body: {str(key)[:80]!r} is not a key of a table of queues")
    return value


def reshape_tables(*names: str) -> Reshape:
    """Return a `reshape` for bodies whose members of these names are such tables."""

    def reshape(value: dict[str, Any]) -> None:
        for name in names:
            if name in value:
                value[name] = queue_pairs(value[name])

    return reshape


def by_queue(pairs: Iterable[tuple[WireQueue, V]]) -> dict[MessageQueue, V]:
    """Return pairs as a table; the last one wins when a queue occurs twice."""
    return {key.queue(): value for key, value in pairs}
