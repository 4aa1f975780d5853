"""What if: a group under other members, queues, rates, and every strategy.

Pure functions from a situation and a scenario to a comparison; no models, no IO.
"""

from rmqcore.allocation import NEVER

from .comparison import NOW, Comparison, compare
from .document import comparison_document
from .edits import Note, apply_edits
from .export import to_java, to_python
from .query import from_query, to_query
from .rooms import RoomRule
from .rows import Figures, MemberFigures, Row
from .scenario import QueueCount, Scenario, Weighing
from .situation import QueueState, Situation, read_situation

__all__ = [
    "NEVER",
    "NOW",
    "Comparison",
    "Figures",
    "MemberFigures",
    "Note",
    "QueueCount",
    "QueueState",
    "RoomRule",
    "Row",
    "Scenario",
    "Situation",
    "Weighing",
    "apply_edits",
    "compare",
    "comparison_document",
    "from_query",
    "read_situation",
    "to_java",
    "to_python",
    "to_query",
]
