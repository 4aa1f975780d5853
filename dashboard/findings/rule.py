"""A rule: a pure function from evidence to a finding, and how it stands to the others.

Rules are asked in their order. One that yields to others is told which queues those
have explained already, and finds nothing about them: a queue without an owner because
two processes share a client id is one fault, not two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rmqcore.model.columns import QueueKey

from .evidence import Evidence
from .finding import Finding

Queues = frozenset[QueueKey]
Check = Callable[[Evidence, Queues], Finding | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `told` when it rests on what members say themselves (307).

    `settle_ms`: it must have held that long before it is said.
    """

    key: str
    check: Check
    told: bool = False
    settle_ms: int = 0
    yields_to: tuple[str, ...] = ()
