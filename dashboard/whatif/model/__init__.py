"""What-if's model: a group with other members, queues and rates, by every strategy.

Pure functions from a situation and a scenario to a comparison; no models, no IO.
"""

from typing import Final

from dashboard.wording.lists import from_lists, to_entries
from rmqcore.allocation import BALANCED, NEVER, STRATEGIES

from .comparison import (
    NOW,
    Comparison,
    compare,
    division,
)
from .document import comparison_document
from .edits import Note, apply_edits
from .export import to_java, to_python
from .mixing import Mixing, Stage, mixing
from .query import from_query, joined, to_query
from .rooms import RoomRule
from .rows import Figures, MemberFigures, Row
from .scenario import QueueCount, Scenario, Weighing
from .situation import (
    Missing,
    QueueState,
    Situation,
    read_situation,
)
from .tables import (
    MEMBER_COLUMNS,
    STRATEGY_COLUMNS,
    member_lines,
    strategy_lines,
)

STRATEGY_NAMES: Final = tuple(STRATEGIES)

__all__ = [
    "BALANCED",
    "MEMBER_COLUMNS",
    "NEVER",
    "NOW",
    "STRATEGY_COLUMNS",
    "STRATEGY_NAMES",
    "Comparison",
    "Figures",
    "MemberFigures",
    "Missing",
    "Mixing",
    "Note",
    "QueueCount",
    "QueueState",
    "RoomRule",
    "Row",
    "Scenario",
    "Situation",
    "Stage",
    "Weighing",
    "apply_edits",
    "compare",
    "comparison_document",
    "division",
    "from_lists",
    "from_query",
    "joined",
    "member_lines",
    "mixing",
    "read_situation",
    "strategy_lines",
    "to_entries",
    "to_java",
    "to_python",
    "to_query",
]
