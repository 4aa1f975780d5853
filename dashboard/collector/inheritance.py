"""The state that a leader leaves, so that the next one need not start anew.

After each sweep of all groups the leader writes, under its lease, two things besides
the documents that pages read: its *memory*, one packed JSON document of its conclusions
about each group (hues, last change, owners, since when findings hold and what they are
based on), and one *frame* of offsets (see `frames`). Together with the numbers in the
documents, this is all that a leader knows and cannot read from the cluster again. Rates
and the past of offsets come from the frames, trends from the list of groups.

The next leader reads it once, and takes each group's part when it meets the group. What
was concluded from looks that follow each other closely (rates, progress, findings)
counts only if the next look is not too late; facts that carry their time (who owned a
queue when last heard, hues, the last change) count however old they are.

Cost for 2,300 groups with 36,800 queues (`benchmarks/handing_on.py`): 60 ms of time on
the loop each sweep, 100 groups at a stretch, and 0.1 MB in the cache. Memory is as old
as the last sweep of all; later looks at a watched group are known only as far as its
document tells.
"""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import orjson
import redis.asyncio

from dashboard.findings.memory.trail import Moment
from dashboard.live.encoding import encode_to_keep
from dashboard.live.names import memory_key, moments_key
from rmqcore.model.columns import QueueKey

from .frames import RING, Frame, decode_frame, digest_of, recent
from .handovers import LastOwners

logger = logging.getLogger(__name__)

UNBROKEN_MS: Final = 120_000
"""Looks at a group that lie further apart do not show what happened in between."""

VERSION: Final = 1
RESTS: Final = "rests"
"""Marks the memory of a group at rest; see `encode_at_rest`."""
_FAST: Final = 1
_LASTING: Final = ("suspects", "findings", "judge")
"""The parts that count only while looks follow each other closely."""


@dataclass(frozen=True, slots=True)
class Inherited:
    """The state handed on for one group; `keys` are its queues, if they are the same.

    `unbroken` when the state at the last look may be assumed to have lasted. `written`
    are owners by the events that may be newer than the memory.
    """

    memory: Mapping[str, Any] = field(default_factory=dict)
    moments: Sequence[Moment] = ()
    keys: tuple[QueueKey, ...] = ()
    unbroken: bool = False
    written: LastOwners = field(default_factory=dict)


NOTHING: Final = Inherited()


class Inheritance:
    """The state that an earlier leader of a cluster left, its time, and its numbers."""

    def __init__(self, memory: Mapping[str, Any], frames: list[Frame]) -> None:
        self.run: str = memory["run"]
        self.floor: int = memory["floor"]
        self.at_ms: int = memory["at"]
        # An earlier version did not tell when it last swept.
        self._swept_ms: int = memory.get("swept", self.at_ms)
        self._groups: dict[str, dict[str, Any]] = memory["groups"]
        self.written: Mapping[str, LastOwners] = {}
        """By group, what the database says of owners since shortly before then."""
        self._frames = frames

    def take(self, group: str, keys: tuple[QueueKey, ...], now_ms: int) -> Inherited:
        """Return, once, what was left of a group whose queues are now `keys`."""
        memory = self._groups.pop(group, {})
        online = memory.pop(RESTS, None)
        if online is not None:
            memory["whole"]["at"] = self._swept_ms
        if online:
            memory["findings"]["online"] = self._swept_ms
        digest = digest_of(keys)
        same = keys if memory.get("queues") == digest else ()
        written = self.written.get(group, {})
        if now_ms - self.at_ms > UNBROKEN_MS:
            for name in _LASTING:
                memory.pop(name, None)
            return Inherited(memory, (), same, written=written)
        found = (frame.moment(group, keys, digest) for frame in self._frames)
        moments = [each for each in found if each is not None]
        return Inherited(memory, moments, same, unbroken=True, written=written)


def encode_at_rest(memory: Mapping[str, Any], *, online: bool) -> orjson.Fragment:
    """Encode the memory of a group at rest, once for many sweeps.

    The times of its last look are those of the sweep; `online` if it has members.
    """
    return orjson.Fragment(encode_to_keep({**memory, RESTS: online}))


def encode_memory(
    run: str, floor: int, at_ms: int, swept_ms: int, groups: Mapping[str, Any]
) -> bytes:
    """Pack the memory of all groups; run it in a thread, as most is compression.

    `swept_ms` is the time of the sweep that it was taken after.
    """
    text = orjson.dumps(
        {
            "version": VERSION,
            "run": run,
            "floor": floor,
            "at": at_ms,
            "swept": swept_ms,
            "groups": groups,
        }
    )
    return zlib.compress(text, _FAST)


async def load_inheritance(
    client: redis.asyncio.Redis, cluster: str, now_ms: int
) -> Inheritance | None:
    """Read what an earlier leader left; None if there is nothing to continue from."""
    places = [moments_key(cluster, place) for place in range(RING)]
    memory, *frames = await client.mget([memory_key(cluster), *places])
    if memory is None:
        return None
    try:
        return await asyncio.to_thread(_unpacked, memory, frames, now_ms)
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        logger.warning("cluster=%s memory of the last leader: %r", cluster, error)
        return None


def _unpacked(
    packed: bytes, frames: Sequence[bytes | None], now_ms: int
) -> Inheritance | None:
    memory = cast("dict[str, Any]", orjson.loads(zlib.decompress(packed)))
    if memory["version"] != VERSION:
        return None
    decoded = (decode_frame(each) for each in frames if each is not None)
    return Inheritance(
        memory, recent([frame for frame in decoded if frame is not None], now_ms)
    )
