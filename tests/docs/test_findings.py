"""Every rule has its row in the docs, with its level, and every row its rule."""

import re
from pathlib import Path

from dashboard.findings import RULES
from tests.dashboard.findings.faulty import FAULTY

PAGE = Path(__file__).resolve().parents[2] / "docs" / "findings.md"
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \|", re.MULTILINE)


def test_docs_list_the_rules_in_their_order() -> None:
    keys = [key for key, _levels in ROW.findall(PAGE.read_text("utf-8"))]
    assert set(keys) == {rule.key for rule in RULES}
    assert len(keys) == len(RULES)


def test_docs_name_every_level_that_a_rule_gives() -> None:
    levels = dict(ROW.findall(PAGE.read_text("utf-8")))
    for fault in FAULTY:
        for key, level in fault.owed.items():
            assert level in levels[key], (key, level)
