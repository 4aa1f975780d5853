"""Examples of documents, made from their schemas and the names of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

AT: Final = 1_773_360_000_000
VALUES: Final[Mapping[str, tuple[Any, ...]]] = {
    "address": ("10.20.4.11:10911",),
    "at": (AT, "2026-03-13T00:00:00Z"),
    "begin": ("2026-03-13T00:00",),
    "broker": ("broker-a",),
    "brokers": (3,),
    "by": ("ming", "time"),
    "client_id": ("10.20.4.19@11",),
    "cluster": ("hangzhou",),
    "confirm": ("billing",),
    "detail": ("no cluster 'nowhere' is configured",),
    "end": ("2026-03-13T01:00",),
    "form": ("csv",),
    "formats": (["csv", "pdf"],),
    "from": ("2026-03-13T00:00", "10.20.4.19@11"),
    "group": ("billing",),
    "grouping": ("queue",),
    "id": (7, "0A14041300002A9F0000000000000001"),
    "kind": ("topic",),
    "lab": ("F5",),
    "language": ("en",),
    "name": ("billing",),
    "name_servers": (["10.20.4.10:9876"],),
    "owner": ("ming",),
    "paper": ("a4",),
    "period": ("24h",),
    "pk": (7,),
    "trial_id": (7,),
    "query": ("v=1&s=AVG_BY_CIRCLE",),
    "reason": ("two members too many at night",),
    "show": ("AVG_BY_CIRCLE",),
    "since": ("2026-03-13T00:00:00Z", AT),
    "strategy": ("AVG_BY_CIRCLE",),
    "target": ("group",),
    "to": ("2026-03-13T01:00", "10.20.4.20@12"),
    "topic": ("orders",),
    "until": ("2026-03-13T01:00:00Z", AT),
    "zone": ("Asia/Shanghai",),
}
"""By the name of a field; the first whose type fits is taken."""
TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
}
DEEPEST: Final = 12


def example_of(
    schema: Mapping[str, Any],
    schemas: Mapping[str, Any],
    name: str = "",
    depth: int = 0,
) -> Any:
    """Return a value that the schema allows."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    if schema.get("examples"):
        return schema["examples"][0]
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    for choice in (*schema.get("anyOf", ()), *schema.get("allOf", ())):
        if choice.get("type") != "null":
            return example_of(choice, schemas, name, depth)
    kind = schema.get("type")
    for value in VALUES.get(name, ()):
        if isinstance(value, TYPES.get(str(kind), ())):
            return value
    if schema.get("default") is not None:
        return schema["default"]
    if kind == "object":
        return _object(schema, schemas, depth)
    if kind == "array":
        return _array(schema, schemas, name, depth)
    return _scalar(kind, schema, name)


def _object(
    schema: Mapping[str, Any], schemas: Mapping[str, Any], depth: int
) -> dict[str, Any]:
    if depth > DEEPEST:
        return {}
    return {
        name: example_of(each, schemas, name, depth + 1)
        for name, each in schema.get("properties", {}).items()
    }


def _array(
    schema: Mapping[str, Any], schemas: Mapping[str, Any], name: str, depth: int
) -> list[Any]:
    places = schema.get("prefixItems") or [schema.get("items", {})]
    if depth > DEEPEST:
        return []
    singular = name.removesuffix("s")
    return [example_of(each, schemas, singular, depth + 1) for each in places]


def _scalar(kind: str | None, schema: Mapping[str, Any], name: str) -> Any:
    if kind == "string":
        if schema.get("format") == "date-time":
            return "2026-03-13T00:00:00Z"
        return "" if schema.get("maxLength", 99) < len(name) else name or "text"
    if kind == "boolean":
        return False
    if kind in {"integer", "number"}:
        if name.endswith("_at") or name in {"due", "started"}:
            return AT
        return max(schema.get("minimum", 0), 0)
    return None if kind == "null" else "text"
