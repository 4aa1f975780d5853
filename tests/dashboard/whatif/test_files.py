"""A comparison as files: each read back by something that did not write it."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client

from dashboard.models import Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import waiting_for_locks

EXPORT = "/clusters/hangzhou/groups/order-settlement/whatif/export/"
SHEET = "/clusters/hangzhou/whatif/export/?v=1&q=orders:b:4&a=x@1&a==y@2&format="


@pytest.fixture
def viewer(sign_in: SignIn, write: Write) -> Client:
    write(waiting_for_locks())
    return sign_in(Role.VIEWER)


def table(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_strategies_as_csv_are_those_of_the_document(viewer: Client) -> None:
    answer = viewer.get(f"{EXPORT}?v=1&s=AVG&format=csv")
    assert answer["Content-Disposition"].endswith('"what-if-order-settlement.csv"')
    rows = {row["strategy"]: row for row in table(answer)}
    document = json.loads(viewer.get(f"{EXPORT}?v=1&s=AVG&format=json").content)
    for known in document["rows"]:
        row = rows[known["key"]]
        if known["reason"]:
            assert (row["reason"], row["moved"]) == (known["reason"]["code"], "")
            continue
        assert int(row["moved"]) == len(known["moved"])
        if known["by_load"]["gini"] is None:
            assert row["load_gini"] == ""
            continue
        gini = float(row["load_gini"])
        assert gini == pytest.approx(known["by_load"]["gini"], abs=1e-4)
    assert rows["NOW"]["worst_drain_s"] == "never"


def test_members_as_csv_add_up(viewer: Client) -> None:
    rows = table(viewer.get(f"{EXPORT}?v=1&format=members"))
    avg = [row for row in rows if row["strategy"] == "AVG"]
    assert sum(int(row["queues"]) for row in avg) == 16
    assert {row["load_unit"] for row in avg} == {"messages/s"}


def test_a_plan_is_given_as_mapping_java_and_python(viewer: Client) -> None:
    query = "?v=1&show=BALANCED&format="
    mapping = json.loads(viewer.get(f"{EXPORT}{query}config").content)
    assert len(mapping) == 3
    java = viewer.get(f"{EXPORT}{query}java")
    assert java["Content-Disposition"].endswith('"QueueConfig.java"')
    assert b"AllocateMessageQueueByConfig" in java.content
    namespace: dict[str, Any] = {}
    exec(viewer.get(f"{EXPORT}{query}python").content, namespace)
    assert sum(map(len, namespace["CONFIG"].values())) == 16
    assert sorted(namespace["CONFIG"]) == sorted(mapping)


def test_an_exported_mapping_can_be_entered_again(viewer: Client) -> None:
    lists = viewer.get(f"{EXPORT}?v=1&show=BALANCED&format=config").content.decode()
    given = {"v": "1", "show": "CONFIG", "lists": lists, "format": "csv"}
    rows = {row["strategy"]: row for row in table(viewer.get(EXPORT, given))}
    assert rows["CONFIG"]["reason"] == ""
    assert rows["CONFIG"]["moved"] == rows["BALANCED"]["moved"]


def test_no_cell_is_a_formula(viewer: Client) -> None:
    rows = table(viewer.get(f"{SHEET}members"))
    assert {row["client_id"] for row in rows} == {"x@1", "'=y@2"}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("format=pdf", "format is 'pdf'; the known ones are csv, members"),
        ("", "format is ''"),
        ("v=1&z=1&format=csv", "unknown field 'z'"),
        ("v=1&lists={&format=csv", "the lists are not JSON"),
        ("v=1&lists=[]&format=csv", "must map members"),
    ],
)
def test_what_cannot_be_written_is_said(viewer: Client, query: str, said: str) -> None:
    answer = viewer.get(f"{EXPORT}?{query}")
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


def test_nothing_divided_has_no_file(viewer: Client, write: Write) -> None:
    write(waiting_for_locks(kind="broadcasting", mode="BROADCASTING"))
    assert viewer.get(f"{EXPORT}?format=csv").status_code == 422
    missing = "/clusters/hangzhou/groups/nobody/whatif/export/?format=csv"
    assert viewer.get(missing).status_code == 404
