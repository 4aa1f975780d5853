"""The table of attacks names every module that holds us to it, and no other."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_table_names_every_module_of_attacks() -> None:
    page = (ROOT / "docs" / "security.md").read_text("utf-8")
    rows = re.findall(r"^\|[^|]+\|[^|]+\|([^|]+)\|$", page, re.MULTILINE)
    named = {name for cell in rows for name in re.findall(r"`(test_\w+)`", cell)}
    modules = {path.stem for path in (ROOT / "tests" / "attacks").glob("test_*.py")}
    assert named == modules
