"""What is around the contents of every page."""

from __future__ import annotations

from typing import Any

import pytest
from django.template.base import NodeList
from django.template.loader import get_template


def leave_out_what_surrounds_a_page(patch: pytest.MonkeyPatch) -> None:
    """Spare hundreds of answers what the first of them has shown.

    Drawing it takes as long as the rest of an answer. It has nothing in it of what is
    sent in a form's fields, and of an address only what the first address shows, too.
    """
    for name in ("top", "nav", "terms", "bottom", "help"):
        template: Any = get_template(f"frame/{name}.html")
        patch.setattr(template.template, "nodelist", NodeList())
