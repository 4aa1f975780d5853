"""Each lab has a drawing and stands under one theme."""

from __future__ import annotations

from collections import Counter

from dashboard.labs.catalogue import entries
from dashboard.labs.drawings import DRAWINGS, THEMES, drawing_of


def test_no_lab_lacks_a_drawing_or_a_theme() -> None:
    names = {entry.name for entry in entries()}
    assert set(DRAWINGS) == names
    listed = Counter(name for _title, labs in THEMES for name in labs)
    assert listed == Counter(names)


def test_cells_stand_in_rows_and_empty_ones_are_left_out() -> None:
    drawn = drawing_of("F5")
    assert (drawn.width, drawn.height) == (142, 48)
    assert [name for _y, name in drawn.names] == ["c1", "c2", "c3"]
    assert len(drawn.marks) == 8
    assert [(m.x, m.y) for m in drawn.marks if m.kind.endswith("slot-2")] == [
        (114, 32),
        (128, 32),
    ]
