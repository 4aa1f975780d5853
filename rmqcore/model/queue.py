"""Message queues and the two sort orders that every member of a group must share.

Java compares strings by UTF-16 code units, Python by code points. The two differ only
above the BMP, but members that sort differently divide their queues differently, so
Java's order is followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import total_ordering
from operator import attrgetter

_HIGHEST_BMP_BEFORE_SURROGATES = "\ud7ff"


@total_ordering
class MessageQueue:
    """One queue of a topic on one broker; ordered as Java orders it, hashable.

    `str()` returns Java's text form, which the consistent-hash strategy hashes.
    """

    __slots__ = ("_hash", "broker_name", "queue_id", "topic")

    topic: str
    broker_name: str
    queue_id: int
    _hash: int

    def __init__(self, topic: str, broker_name: str, queue_id: int) -> None:
        set_slot = object.__setattr__
        set_slot(self, "topic", topic)
        set_slot(self, "broker_name", broker_name)
        set_slot(self, "queue_id", queue_id)
        # Queues are keys of every table; the hash is used far more often than queues
        # are made.
        set_slot(self, "_hash", hash((topic, broker_name, queue_id)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"MessageQueue is immutable: cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"MessageQueue is immutable: cannot delete {name}")

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MessageQueue):
            return NotImplemented
        return (
            self.queue_id == other.queue_id
            and self.broker_name == other.broker_name
            and self.topic == other.topic
        )

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, MessageQueue):
            return NotImplemented
        return queue_sort_key(self) < queue_sort_key(other)

    def __reduce__(self) -> tuple[type[MessageQueue], tuple[str, str, int]]:
        return (MessageQueue, (self.topic, self.broker_name, self.queue_id))

    def __repr__(self) -> str:
        return f"MessageQueue({self.topic!r}, {self.broker_name!r}, {self.queue_id!r})"

    def __str__(self) -> str:
        return (
            f"MessageQueue [topic={self.topic}, brokerName={self.broker_name}, "
            f"queueId={self.queue_id}]"
        )


_queue_id = attrgetter("queue_id")


def utf16_key(text: str) -> bytes:
    """Return a key that sorts strings as Java's `String.compareTo` does."""
    return text.encode("utf-16-be", "surrogatepass")


def queue_sort_key(queue: MessageQueue) -> tuple[bytes, bytes, int]:
    """Return the exact key of Java's `MessageQueue.compareTo`."""
    return (utf16_key(queue.topic), utf16_key(queue.broker_name), queue.queue_id)


def _utf16_keys(names: tuple[str, str]) -> tuple[bytes, bytes]:
    topic, broker_name = names
    return utf16_key(topic), utf16_key(broker_name)


def _only_below_surrogates(texts: Iterable[str]) -> bool:
    """Tell whether code-point order and UTF-16 order agree for these strings."""
    return all(
        text.isascii() or max(text) <= _HIGHEST_BMP_BEFORE_SURROGATES for text in texts
    )


def sorted_queues(queues: Iterable[MessageQueue]) -> list[MessageQueue]:
    """Return the queues by topic, broker name and queue id, as Java sorts them."""
    # A key for each queue would be an object for each; those of a large group make
    # Python look for garbage in the middle of sorting.
    together: dict[tuple[str, str], list[MessageQueue]] = {}
    for queue in queues:
        names = (queue.topic, queue.broker_name)
        if names in together:
            together[names].append(queue)
        else:
            together[names] = [queue]
    plain = _only_below_surrogates({name for names in together for name in names})
    in_order: list[MessageQueue] = []
    for names in sorted(together, key=None if plain else _utf16_keys):
        together[names].sort(key=_queue_id)
        in_order += together[names]
    return in_order


def sorted_client_ids(client_ids: Iterable[str]) -> list[str]:
    """Return the client ids in the order of Java's `Collections.sort` for strings."""
    listed = list(client_ids)
    if _only_below_surrogates(listed):
        return sorted(listed)
    return sorted(listed, key=utf16_key)
