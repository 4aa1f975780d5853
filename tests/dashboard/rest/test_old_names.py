"""Parameters by their new names, and by those that they had before."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache

from dashboard.config.api import api
from dashboard.messages.api import PlaceIn, SearchIn
from dashboard.models import Role
from dashboard.rest.document import operations_of
from tests.dashboard.conftest import SignIn

SPANS = {"begin": "since", "end": "until", "from": "since", "to": "until"}
RENAMED = {**SPANS, "queue": "queue_id"}
MESSAGES = "/api/v1/clusters/hangzhou/messages"
ONE = f"{MESSAGES}/one"
LETTERS = "/api/v1/clusters/hangzhou/groups/payments/dead-letters"
FIGURE = "/api/v1/reports/runs/1/figures/lag"
QUEUE = ("queue_id", "queue")
PLACE = {"topic": "orders", "broker": "broker-a", "offset": 3}


def operations() -> list[dict[str, Any]]:
    document = api.get_openapi_schema(path_prefix="/api/v1/")
    return [operation for _path, operation in operations_of(document)]


def test_every_operation_knows_the_same_names() -> None:
    seen = set()
    for operation in operations():
        given = {
            each["name"]: each
            for each in operation["parameters"]
            if each["in"] == "query"
        }
        for name in RENAMED.keys() & given.keys():
            seen.add((operation["operationId"], name))
            assert given[name].get("deprecated") is True
            assert RENAMED[name] in given
            assert not given[RENAMED[name]].get("deprecated")
    assert len(seen) == 8


def test_bodies_mark_the_old_name() -> None:
    schemas = api.get_openapi_schema(path_prefix="/api/v1/")["components"]["schemas"]
    assert schemas["PlaceIn"]["properties"]["queue"]["deprecated"] is True


@pytest.mark.parametrize("name", ["queue", "queue_id"])
def test_a_place_is_read_by_either_name(name: str) -> None:
    assert PlaceIn(**PLACE, **{name: 0}).place.queue == 0


def test_a_search_is_the_same_by_either_names() -> None:
    old = SearchIn(by="time", begin="a", end="b", queue=0)
    new = SearchIn(by="time", since="a", until="b", queue_id=0)
    assert old.fields == new.fields
    assert old.fields["begin"] == "a"
    assert (old.name_of("begin"), new.name_of("begin")) == ("begin", "since")
    assert new.name_of("topic") == "topic"


@pytest.mark.parametrize(
    ("address", "given", "names"),
    [
        (MESSAGES, {"by": "time", "begin": "x", "since": "x"}, ("since", "begin")),
        (
            MESSAGES,
            {"by": "time", "queue": "0", "queue_id": "0"},
            QUEUE,
        ),
        (ONE, {**PLACE, "queue": "1", "queue_id": "1"}, QUEUE),
        (LETTERS, {"end": "x", "until": "y"}, ("until", "end")),
        (
            FIGURE,
            {"from": "x", "since": "x"},
            ("since", "from"),
        ),
    ],
)
def test_both_names_at_once_are_refused(
    db: None, sign_in: SignIn, address: str, given: dict[str, str], names: Any
) -> None:
    cache.clear()
    answer = sign_in(Role.ADMIN).get(address, given)
    assert answer.status_code == 422
    detail = answer.json()["detail"]
    assert f"give {names[0]} or {names[1]}, its old name, not both" in detail


def test_a_queue_is_needed_by_one_of_the_names(db: None, sign_in: SignIn) -> None:
    answer = sign_in(Role.ADMIN).get(ONE, PLACE)
    assert answer.status_code == 422
    assert "queue_id: Field required" in answer.json()["detail"]
