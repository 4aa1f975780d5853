from __future__ import annotations

from dashboard.frame.tables import TableQuery, csv_response, page_of

from .test_paging import FRUIT, TABLE, Fruit


def lines(rows: list[Fruit], query: TableQuery) -> list[str]:
    response = csv_response(page_of(TABLE, rows, query), "fruit")
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


def test_no_name_becomes_a_formula() -> None:
    assert lines([Fruit("=1+1", 1)], TableQuery())[1] == "'=1+1,1,"
