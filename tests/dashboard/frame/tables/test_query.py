from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.frame.tables import Setting, TableQuery, page_of

from .test_paging import FRUIT, TABLE, Fruit


def read(**params: str) -> TableQuery:
    return TableQuery.from_params(
        {name.replace("__", "."): value for name, value in params.items()}, TABLE
    )


def test_an_address_is_read_and_written_alike() -> None:
    query = read(
        q=" pear ",
        show="heavy",
        **{"with": "rotten", "f__colour": "red"},
        sort="-weight",
        page="2",
        columns="colours",
    )
    address = (
        "?q=pear&show=heavy&with=rotten&sort=-weight&page=2&columns=colours"
        "&f.colour=red"
    )
    assert query.url(page=2) == address


def test_what_cannot_be_read_gets_its_default() -> None:
    assert read(
        show="light", sort="colour", page="x", columns="size,", **{"with": "fresh"}
    ) == (TableQuery())


@pytest.mark.parametrize("page", ["0", "-1", "1.5", "999999999", "²", ""])
def test_a_page_is_a_whole_number_from_one(page: str) -> None:
    assert read(page=page).page == 1


def test_a_change_goes_back_to_the_first_page() -> None:
    assert read(page="3", q="pear").url(sort="weight") == "?q=pear&sort=weight"
    assert read(page="3", q="pear").url(page=4) == "?q=pear&page=4"


def test_a_long_filter_is_cut() -> None:
    assert len(read(q="x" * 1000).text) == 255


def test_a_setting_is_carried_on_and_picks_no_rows() -> None:
    """What the setting does not accept is left out."""
    ripe: Setting[Fruit] = Setting(
        "ripe", "Ripe at", lambda row: row.colours, str.islower, "red"
    )
    table = replace(TABLE, settings=[ripe])
    query = TableQuery.from_params({"ripe": "blue", "q": "apple"}, table)
    assert query.url(text="pear") == "?ripe=blue&q=pear"
    page = page_of(table, FRUIT, query)
    assert [row.name for row in page.chosen] == ["Apple"]
    assert [(each.values, each.picked) for each in page.settings] == [
        (["blue", "brown", "green"], "blue")
    ]
    assert TableQuery.from_params({"ripe": "BLUE"}, table) == TableQuery()
