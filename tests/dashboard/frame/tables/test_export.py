from __future__ import annotations

from dashboard.frame.tables import Table, TableQuery, csv_response, page_of

from .test_paging import FRUIT, IN_PART, TABLE, Fruit


def lines(
    rows: list[Fruit], query: TableQuery, table: Table[Fruit] = TABLE
) -> list[str]:
    response = csv_response(page_of(table, rows, query), "fruit")
    assert response["Content-Disposition"] == 'attachment; filename="fruit.csv"'
    return b"".join(response).decode().splitlines()  # type: ignore[arg-type]


def test_a_file_has_all_rows_with_the_columns_and_order_of_the_page() -> None:
    query = TableQuery(
        sort="-weight", columns=("weight", "colours"), unhidden=("rotten",)
    )
    assert lines(FRUIT, query) == [
        "name,weight,colours,unknown",
        "pear 10,180,green,",
        "Apple,120,red,",
        "cherry,8,red,",
        'pear 2,,"green, brown",weight: never weighed',
    ]


def test_a_file_names_the_sums_that_lack_a_part() -> None:
    rows = [Fruit("fig", 7), Fruit("plum", None, rotten=True), Fruit("ash", 9)]
    assert lines(rows, TableQuery(unhidden=("rotten",)), IN_PART) == [
        "name,weight,unknown,at_least",
        "ash,9,,",
        "fig,7,,weight",
        "plum,,weight: never weighed,",
    ]


def test_no_name_becomes_a_formula() -> None:
    assert lines([Fruit("=1+1", 1)], TableQuery())[1] == "'=1+1,1,"
