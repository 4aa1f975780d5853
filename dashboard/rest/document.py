"""What the OpenAPI document says of every operation, added in one place.

A feature declares its answers and the refusals that are its own (409, 424, 500). The
others follow from what an operation takes. Examples are made from the schemas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final

from ninja import NinjaAPI
from ninja.errors import ValidationError, ValidationErrorContext
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from dashboard.wording.links import VERSION_HEADER

from .examples import example_of
from .schemas import Problem

Document = dict[str, Any]

ALWAYS: Final = (401, 403, 405, 429, 500, 503)
"""Not signed in; not allowed; another method; too many calls of a token; a fault of
ours; a store does not answer."""
WITH_BODY: Final = (400, 413, 422)
LATER: Final = frozenset({429, 503})
MOST_SHOWN: Final = 80
"""Characters of a value that a refusal repeats."""
SECRET: Final = ("secret", "password", "token", "body")
FILE: Final = "application/octet-stream"
NAMED: Final[Mapping[str, str]] = {
    "broker": "the name of a broker",
    "client_id": "the id of a client",
    "cluster": "the name of a configured cluster",
    "form": "csv, xlsx, parquet, html or pdf",
    "group": "the name of a consumer group",
    "lab": "the name of a lab, such as F5",
    "name": "the name of what is asked for",
    "pk": "the id, as lists have it",
    "trial_id": "the id that asking for the trial gave",
    "query": "the query of the page's address that shows the same",
    "topic": "the name of a topic",
}
"""Descriptions of parameters that mean the same in all operations."""


class DocumentedAPI(NinjaAPI):
    """An API whose document is complete, and which refuses values in one form."""

    def validation_error_from_error_contexts(
        self, error_contexts: list[ValidationErrorContext[Any]]
    ) -> ValidationError:
        """Keep what was given beside what would fit, which ninja leaves out."""
        given = [
            _value(dict(each))
            for context in error_contexts
            for each in context.pydantic_validation_error.errors(include_url=False)
        ]
        errors = super().validation_error_from_error_contexts(error_contexts).errors
        both = zip(errors, given, strict=True)
        return ValidationError([{**error, **value} for error, value in both])

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Return the feature and the name of the function: `reports_start`."""
        feature = operation.view_func.__module__.split(".")[1]
        name: str = operation.view_func.__name__
        return name if name == feature else f"{feature}_{name}"

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: Document | None = None
    ) -> OpenAPISchema:
        """Return the document, which is made once: that takes half a second."""
        prefix = path_prefix or self.get_root_path(path_params or {})
        if prefix not in self._documents:
            self._documents[prefix] = self.made_document(prefix)
        return self._documents[prefix]

    @cached_property
    def _documents(self) -> dict[str, OpenAPISchema]:
        return {}

    def made_document(self, path_prefix: str) -> OpenAPISchema:
        """Return the document, made anew."""
        document = super().get_openapi_schema(path_prefix=path_prefix)
        schemas = document["components"]["schemas"]
        for path, operation in operations_of(document):
            _complete(path, operation, schemas)
        schemas.update(_problem_schemas())
        return document


def operations_of(document: Mapping[str, Any]) -> Iterator[tuple[str, Document]]:
    """Yield each operation of a document with its path."""
    for path, methods in document["paths"].items():
        for operation in methods.values():
            yield path, operation


def refusal_of(error: ValidationError) -> Document:
    """Return the refusal of values that do not fit: a sentence, and each by itself."""
    errors = error.errors
    return {"detail": "; ".join(map(_said, errors)), "errors": errors}


def _said(error: Document) -> str:
    text = f"{'.'.join(map(str, error['loc'][1:]))}: {error['msg']}"
    return f"{text}, not {error['value']!r}" if "value" in error else text


def _value(error: Document) -> Document:
    """Return what was given, if it is one value and no secret."""
    value, names = error["input"], " ".join(map(str, error["loc"])).casefold()
    if not isinstance(value, str | int | float) or any(s in names for s in SECRET):
        return {}
    text = value if isinstance(value, str) else str(value)
    return {"value": text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "…"}


def _complete(path: str, operation: Document, schemas: Document) -> None:
    description = " ".join(operation["description"].split())
    operation["summary"] = description.partition(". ")[0].rstrip(".")
    for parameter in operation["parameters"]:
        name, schema = parameter["name"], parameter["schema"]
        if name in NAMED:
            parameter.setdefault("description", NAMED[name])
        parameter.setdefault("example", example_of(schema, schemas, name))
        if schema.get("deprecated"):
            parameter["deprecated"] = True
    if "requestBody" in operation:
        _add_examples(operation["requestBody"], schemas)
    responses = operation["responses"]
    for status in _refusals(path, operation):
        responses.setdefault(status, {"description": HTTPStatus(status).phrase})
    for status, response in responses.items():
        if int(status) >= 400:
            response["content"] = {"application/json": _problem(status)}
        else:
            _name_files(response)
            _add_examples(response, schemas)
        response["headers"] = _headers(int(status))
    operation["responses"] = dict(sorted(responses.items()))


def _refusals(path: str, operation: Document) -> set[int]:
    found = set(ALWAYS)
    if "requestBody" in operation:
        found.update(WITH_BODY)
    if "{" in path:
        found.add(404)
    texts = all(
        each["in"] == "path" and each["schema"].get("type") == "string"
        for each in operation["parameters"]
    )
    return found if texts else {*found, 422}


def _problem(status: int) -> Document:
    detail = f"why, in a sentence ({HTTPStatus(status).phrase.lower()})"
    example: Document = {"detail": detail}
    return {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example}


def _problem_schemas() -> Document:
    schema = Problem.model_json_schema(
        ref_template="#/components/schemas/{model}", mode="serialization"
    )
    return {**schema.pop("$defs", {}), "Problem": schema}


def _headers(status: int) -> Document:
    version = {"description": "of RocketScope", "schema": {"type": "string"}}
    found = {VERSION_HEADER: version}
    if status in LATER:
        wait = {"description": "seconds to wait", "schema": {"type": "integer"}}
        found["Retry-After"] = wait
    return found


def _name_files(response: Document) -> None:
    content = response.get("content", {})
    if any(each["schema"].get("format") == "binary" for each in content.values()):
        response["content"] = {FILE: {"schema": {"type": "string", "format": "binary"}}}


def _add_examples(holder: Document, schemas: Document) -> None:
    for media in holder.get("content", {}).values():
        media.setdefault("example", example_of(media["schema"], schemas))
