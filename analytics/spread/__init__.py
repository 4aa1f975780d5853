"""How each candidate would have spread what was measured over the members.

Plain NumPy over the rows of whole groups, no Spark: `shares` sums them by member,
`scores` says how even that is, `tables` gives Arrow tables with names again.
"""

from .scores import LAG, score_names
from .shares import EPOCH_COLUMNS, STEP_COLUMNS, EpochNames, StepRows
from .tables import TABLES, spread_tables

__all__ = [
    "EPOCH_COLUMNS",
    "LAG",
    "STEP_COLUMNS",
    "TABLES",
    "EpochNames",
    "StepRows",
    "score_names",
    "spread_tables",
]
