"""Every operation of the OpenAPI document says what it takes and what it answers."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ninja.openapi.schema import OpenAPISchema

from dashboard.config.api import api
from dashboard.models import Role
from dashboard.rest.document import operations_of
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import large_group

DOCUMENT: dict[str, Any] = json.loads(
    json.dumps(api.get_openapi_schema(path_prefix="/api/v1/"))
)
OPERATIONS = {
    operation["operationId"]: (path, operation)
    for path, operation in operations_of(DOCUMENT)
}


def check(value: Any, schema: Mapping[str, Any]) -> None:
    whole = {**schema, "components": DOCUMENT["components"]}
    Draft202012Validator(whole).validate(value)


def is_free(schema: Mapping[str, Any]) -> bool:
    """True for a schema that says nothing about what is in it."""
    if schema.get("type") == "array":
        return is_free(schema["items"])
    return not ({"$ref", "properties", "format"} & set(schema)) and schema.get(
        "type"
    ) in {None, "object"}


@pytest.fixture(params=list(OPERATIONS))
def named(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    return OPERATIONS[request.param]


def test_answers_are_typed(named: tuple[str, dict[str, Any]]) -> None:
    _path, operation = named
    good = {s: r for s, r in operation["responses"].items() if s < "300"}
    assert len(good) == 1
    for status, response in good.items():
        for media in response.get("content", {}).values():
            assert not is_free(media["schema"])
            if media["schema"].get("format") != "binary":
                check(media["example"], media["schema"])
        assert ("content" in response) == (status != "204")


def test_requests_are_described(named: tuple[str, dict[str, Any]]) -> None:
    path, operation = named
    assert operation["summary"]
    assert operation["description"]
    assert operation["tags"]
    assert operation["security"] == [{"TokenAuth": []}, {"BrowserAuth": []}]
    for parameter in operation["parameters"]:
        check(parameter["example"], parameter["schema"])
        if parameter["in"] == "path":
            assert parameter["description"], path
    for media in operation.get("requestBody", {}).get("content", {}).values():
        assert not is_free(media["schema"])
        check(media["example"], media["schema"])


def test_refusals_are_one_document(named: tuple[str, dict[str, Any]]) -> None:
    path, operation = named
    refusals = {s: r for s, r in operation["responses"].items() if s >= "400"}
    assert {"401", "403", "405", "429", "500", "503"} <= set(refusals)
    assert "404" in refusals or "{" not in path
    if "requestBody" in operation:
        assert {"400", "413", "422"} <= set(refusals)
    for response in refusals.values():
        (media,) = response["content"].values()
        assert media["schema"] == {"$ref": "#/components/schemas/Problem"}
        check(media["example"], media["schema"])


def test_every_answer_has_the_version(named: tuple[str, dict[str, Any]]) -> None:
    _path, operation = named
    for status, response in operation["responses"].items():
        header = response["headers"]["X-RocketScope-Version"]
        assert header["schema"] == {"type": "string"}
        assert ("Retry-After" in response["headers"]) == (status in {"429", "503"})


def test_a_name_stands_for_one_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, set[str]] = defaultdict(set)
    add = OpenAPISchema.add_schema_definitions

    def noted(self: OpenAPISchema, definitions: dict[str, Any]) -> None:
        for name, schema in definitions.items():
            seen[name].add(json.dumps(schema, sort_keys=True))
        add(self, definitions)

    monkeypatch.setattr(OpenAPISchema, "add_schema_definitions", noted)
    api.made_document("/api/v1/")
    assert seen
    assert not {name for name, schemas in seen.items() if len(schemas) > 1}


def test_a_comparison_is_as_documented(sign_in: SignIn, write: Write) -> None:
    group = large_group(queues=16, members=5)
    write(group)
    path = f"/api/v1/clusters/hangzhou/groups/{group['group']}/whatif"
    answer = sign_in(Role.VIEWER).get(path)
    check(answer.json(), {"$ref": "#/components/schemas/WhatIfOut"})


def test_values_that_do_not_fit_are_named_in_a_sentence(
    sign_in: SignIn, hangzhou: object
) -> None:
    answer = sign_in(Role.VIEWER).get("/api/v1/timers/runs?limit=9999")
    assert answer.status_code == 422
    told = answer.json()
    check(told, {"$ref": "#/components/schemas/Problem"})
    assert told["detail"].startswith(
        "limit: Input should be less than or equal to 2000"
    )
    assert told["errors"][0]["loc"] == ["query", "limit"]


def test_all_lists_have_pages(named: tuple[str, dict[str, Any]]) -> None:
    path, operation = named
    (media,) = operation["responses"].get("200", {}).get("content", {}).values() or [{}]
    if media.get("schema", {}).get("type") != "array" or "requestBody" in operation:
        return
    taken = {each["name"]: each["schema"] for each in operation["parameters"]}
    assert {"limit", "offset"} <= set(taken), path
    assert taken["offset"]["minimum"] == 0


def test_pages_follow_each_other(sign_in: SignIn, hangzhou: object) -> None:
    client = sign_in(Role.VIEWER)
    whole = client.get("/api/v1/labs").json()
    assert len(whole) > 3
    assert client.get("/api/v1/labs?limit=2&offset=1").json() == whole[1:3]
    assert client.get("/api/v1/labs?offset=2").json() == whole[2:]
    refused = client.get("/api/v1/labs?limit=0")
    assert refused.status_code == 422
    assert (
        "limit: Input should be greater than or equal to 1" in refused.json()["detail"]
    )
