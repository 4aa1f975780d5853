"""Every lab has a row in the docs, and every row is a lab."""

import re
from pathlib import Path

from rmqcore.labs import LABS

ROOT = Path(__file__).resolve().parents[3]


def test_docs_and_code_name_the_same_labs() -> None:
    text = (ROOT / "docs" / "labs.md").read_text("utf-8")
    assert re.findall(r"^\| `(F\w+)` \|", text, re.MULTILINE) == list(LABS)
