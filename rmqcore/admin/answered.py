"""Answers of one kind by what was asked for, decoded once while they stay the same.

A cluster answers thousands of questions at each sweep, mostly with the same bytes as
before. Bytes are told apart by a digest of 128 bits, which takes less memory than they
do; equal ones lead to the same object, by which later steps see that nothing changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from hashlib import blake2b
from typing import Final, Generic, TypeVar

T = TypeVar("T")

DIGEST_BYTES: Final = 16


class Answered(Generic[T]):
    """The last answers to one kind of question."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, tuple[bytes, T]] = {}

    def decoded(self, name: str, body: bytes, decode: Callable[[bytes], T]) -> T:
        """Return what the body says; the last object if the bytes are the same."""
        digest = blake2b(body, digest_size=DIGEST_BYTES).digest()
        known = self._known.get(name)
        if known is not None and known[0] == digest:
            return known[1]
        answer = decode(body)
        self._known[name] = digest, answer
        return answer

    def keep(self, names: Collection[str]) -> None:
        """Forget all answers but those of the named."""
        for name in self._known.keys() - names:
            del self._known[name]
