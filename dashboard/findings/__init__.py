"""Rules that find what is wrong with a group and what to do: one rule per module.

A `GroupMemory` turns each look at a group into `Evidence`; a `Judge` asks the rules and
returns what they found. Everything here is a pure function of its arguments: time is
one of them, and no cluster or database is asked. (The one log call: a rule that
raises.)
"""

from .causes import in_causal_order
from .document import finding_document, rules_document
from .finding import Finding
from .judge import Asked, Judge
from .remembering import GroupMemory, Sighting
from .rules import RULES
from .rules.progress import finds_nothing

__all__ = [
    "RULES",
    "Asked",
    "Finding",
    "GroupMemory",
    "Judge",
    "Sighting",
    "finding_document",
    "finds_nothing",
    "in_causal_order",
    "rules_document",
]
