"""What a function is given of rows that are stored by column."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.live.fields import Column, Fields, coded

COLUMNS: dict[str, Column] = {
    "name": ["a", "b", "c", "d"],
    "level": coded(["ok", "crit", "ok", "ok"]),
    "whole": coded([True, None, False, True]),
}
FIELDS = Fields(COLUMNS, frozenset({"whole"}))


def test_a_value_is_stored_once_and_each_row_has_its_place() -> None:
    assert coded(["x", "y", "x"]) == {"values": ["x", "y"], "codes": [0, 1, 0]}
    assert coded([]) == {"values": [], "codes": []}


def test_a_function_gets_the_fields_that_it_reads_and_no_others() -> None:
    assert FIELDS.each(dict, ("name", "level")) == [
        {"name": "a", "level": "ok"},
        {"name": "b", "level": "crit"},
        {"name": "c", "level": "ok"},
        {"name": "d", "level": "ok"},
    ]
    assert FIELDS.each(lambda row: row["name"], ("name",)) == ["a", "b", "c", "d"]


def test_it_is_called_once_for_each_combination_of_coded_fields() -> None:
    given: list[dict[str, Any]] = []

    def note(row: dict[str, Any]) -> int:
        given.append(row)
        return len(given)

    assert FIELDS.each(note, ("level", "whole")) == [1, 2, 3, 1]
    expected = [
        {"level": "ok", "whole": True},
        {"level": "crit"},
        {"level": "ok", "whole": False},
    ]
    assert given == expected
    assert FIELDS.different(dict, ("level", "whole")) == expected
    assert FIELDS.different(dict, ("level",)) == [{"level": "ok"}, {"level": "crit"}]
    assert FIELDS.different(dict, ("name",)) == FIELDS.each(dict, ("name",))


@pytest.mark.parametrize(
    "together", [(), ("level", "whole"), ("whole", "level"), ("name", "whole", "lag")]
)
def test_rows_are_found_and_sorted_as_if_each_were_looked_at(
    together: tuple[str, ...],
) -> None:
    fields = Fields(COLUMNS, frozenset({"whole"}), together)
    for reads in ("level", "whole"), ("whole",), ("name", "level"):
        rows = fields.each(dict, reads)
        for field in reads:
            for value in "ok", "b", True, None:

                def has(
                    row: dict[str, Any], field: str = field, value: Any = value
                ) -> bool:
                    return row.get(field) == value

                expected = [at for at, row in enumerate(rows) if has(row)]
                assert sorted(fields.where(has, reads)) == expected
        order = sorted(range(len(rows)), key=lambda at: str(rows[at]))
        assert fields.sorted_by(str, reads) == order


def test_only_what_is_stored_can_be_read() -> None:
    assert FIELDS.have(("name", "whole"))
    assert not FIELDS.have(("name", "lag"))
    # A function that does not say what it reads may read anything.
    assert not FIELDS.have(())


def test_texts_of_fields_are_joined_and_so_are_lists_of_them() -> None:
    fields = Fields(
        {"name": ["a", "b"], "topics": coded([("t", "u"), ()])}, frozenset({"topics"})
    )
    assert fields.texts(("name", "topics"), "|") == ["a|t|u", "b|"]
    assert FIELDS.texts(("level",), "|") == ["ok", "crit", "ok", "ok"]
