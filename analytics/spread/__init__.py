"""How each candidate would have spread what was measured over the members.

Plain NumPy over the rows of whole groups, no Spark: `shares` sums them by member,
`scores` says how even that is, `tables` gives Arrow tables with names again.
"""

from .shares import STEP_COLUMNS, EpochNames, StepRows
from .tables import TABLES, spread_tables
from .totals import Changes

__all__ = [
    "STEP_COLUMNS",
    "TABLES",
    "Changes",
    "EpochNames",
    "StepRows",
    "spread_tables",
]
