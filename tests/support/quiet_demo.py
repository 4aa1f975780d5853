"""The supervisor, whose demo sends a message now and then instead of 80 a second.

For tests that need the demo's groups but not its load.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Final
from unittest.mock import patch

from dashboard.supervisor import plan
from dashboard.supervisor.__main__ import main

PER_SECOND: Final = "1"
QUIET: Final = tuple(
    tuple(
        PER_SECOND if before == "--rate" else each
        for before, each in pairwise(("", *what))
    )
    for what in plan.DEMO_TRAFFIC
)

if __name__ == "__main__":
    with patch.object(plan, "DEMO_TRAFFIC", QUIET):
        sys.exit(main())
