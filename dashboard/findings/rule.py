"""A rule: a pure function from evidence to a finding, and its relation to others.

Rules are asked in their order. A rule that yields to others is told which queues these
have already explained, and finds nothing about them: a queue without an owner because
two processes share a client id is one fault, not two.

A rule answers one of three things: a finding; None, when the fault is not there; or
`Unchecked`, when it has seen only a part, which says nothing about the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rmqcore.model.columns import QueueKey

from .evidence import Evidence, Unchecked
from .finding import Finding

Queues = frozenset[QueueKey]
Answer = Finding | Unchecked | None
Check = Callable[[Evidence, Queues], Answer]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, and its words.

    `says` has its words by name, with values in braces: `state` for the list of groups,
    `title`, `advice`, and sentences, of which a finding chooses one.

    `told` when it rests on members' own reports (307). `settle_ms`: it must have held
    that long before it is reported. `adds_up` names the values and the evidence that
    count queues, or add over them, as far as the rule could see: while brokers are
    silent or members have not told, the true values are at least these.
    """

    key: str
    check: Check
    says: Mapping[str, str]
    told: bool = False
    settle_ms: int = 0
    yields_to: tuple[str, ...] = ()
    adds_up: tuple[str, ...] = ()
