"""Every address of the web process, with the role that each method needs.

The addresses come from the URL conf and from the schema of the REST API; a route that
has no entry here fails `test_privileges`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from dashboard.accounts.links import make_sign_in_token
from dashboard.config.api import api
from dashboard.models import User
from tests.dashboard.reports.test_pages import gathered

ANYONE: Final = "anyone"
VIEWER: Final = "viewer"
OPERATOR: Final = "operator"
ADMIN: Final = "admin"
WHO: Final = ("stranger", VIEWER, OPERATOR, ADMIN)

_READ: Final = {"GET": VIEWER}
_OPERATE: Final = {"POST": OPERATOR}
_ADMINISTER: Final = {"POST": ADMIN}

PAGES: Final[Mapping[str, Mapping[str, str]]] = {
    "home": _READ,
    "clusters": _READ,
    "cluster_remove": {"GET": ADMIN, "POST": ADMIN},
    "cluster_attach": {"GET": ADMIN, "POST": ADMIN},
    "cluster_embedded": _OPERATE,
    "cluster": _READ,
    "groups": _READ,
    "brokers": _READ,
    "broker": _READ,
    "broker_configuration": _READ,
    "broker_nameservers": _READ,
    "clients": _READ,
    "client": _READ,
    "client_running": _READ,
    "client_ask_stacks": _OPERATE,
    "client_stacks": {"GET": OPERATOR},
    "client_producers": _READ,
    "broker-gone": {"GET": OPERATOR, "POST": OPERATOR},
    "topic_new": {"GET": VIEWER, "POST": OPERATOR},
    "topic_change": {"GET": VIEWER, "POST": OPERATOR},
    "topic_delete": {"GET": VIEWER, "POST": OPERATOR},
    "topic_changed": _READ,
    "group_new": {"GET": VIEWER, "POST": OPERATOR},
    "group_settings": {"GET": VIEWER, "POST": OPERATOR},
    "group_delete": {"GET": VIEWER, "POST": OPERATOR},
    "group_configured": _READ,
    "broker_settings": {"GET": VIEWER, "POST": ADMIN},
    "broker_writing": {"GET": VIEWER, "POST": ADMIN},
    "broker_configured": _READ,
    "broker_access": {"GET": ADMIN},
    "broker_access_new": {"GET": ADMIN, "POST": ADMIN},
    "broker_access_change": {"GET": ADMIN, "POST": ADMIN},
    "broker_access_delete": {"GET": ADMIN, "POST": ADMIN},
    "broker_access_rules": {"GET": ADMIN, "POST": ADMIN},
    "broker_access_changed": {"GET": ADMIN},
    "topics": _READ,
    "topic": _READ,
    "topic_configuration": _READ,
    "topic_traffic": _READ,
    "group": _READ,
    "group_queues": _READ,
    "group_findings": _READ,
    "group_members": _READ,
    "group_timeline": _READ,
    "group_whatif": _READ,
    "group_check": _READ,
    "group_whatif_export": _READ,
    "group_sheet": _READ,
    "group_sheet_export": _READ,
    "save_scenario": _OPERATE,
    "change_scenario": _OPERATE,
    "group_switch": _READ,
    "group_switch_apply": _OPERATE,
    "group_changes": _READ,
    "group_change": _READ,
    "undo_change": _OPERATE,
    "group_hosted": _READ,
    "group_offsets": _READ,
    "group_offsets_apply": _OPERATE,
    "group_offsets_change": _READ,
    "group_dead_letters": _READ,
    "group_dead_letters_bodies": _OPERATE,
    "group_dead_letters_resend": {"GET": OPERATOR, "POST": OPERATOR},
    "group_dead_letters_run": _READ,
    "group_dead_letters_stop": _OPERATE,
    "group_retries": _READ,
    "alerts": _READ,
    "alert": _READ,
    "alert_acknowledge": _OPERATE,
    "alert_history": _READ,
    "alert_export": _READ,
    "alert_rule_new": {"GET": OPERATOR, "POST": OPERATOR},
    "alert_rule_matching": _READ,
    "alert_rule": {"GET": OPERATOR, "POST": OPERATOR},
    "alert_rule_switch": _OPERATE,
    "alert_rule_test": _OPERATE,
    "alert_rule_delete": _OPERATE,
    "alert_silences": _READ,
    "alert_silence_new": {"GET": OPERATOR, "POST": OPERATOR},
    "alert_silence_end": _OPERATE,
    "alert_channels": {"GET": ADMIN},
    "alert_channel_new": {"GET": ADMIN, "POST": ADMIN},
    "alert_channel": {"GET": ADMIN, "POST": ADMIN},
    "alert_channel_test": _ADMINISTER,
    "alert_channel_delete": _ADMINISTER,
    "new_alert_trial": _READ,
    "start_alert_trial": {"POST": VIEWER},
    "alert_trial": _READ,
    "group_hosted_add": {"GET": OPERATOR, "POST": OPERATOR},
    "group_hosted_change": {"GET": OPERATOR, "POST": OPERATOR},
    "group_hosted_remove": _OPERATE,
    "messages": _READ,
    "message": _READ,
    "message_body": _OPERATE,
    "message_resend": {"GET": OPERATOR, "POST": OPERATOR},
    "message_send": {"GET": OPERATOR, "POST": OPERATOR},
    "message_tail": _READ,
    "message_tail_step": _READ,
    "catalogue": {"GET": ANYONE},
    "search": _READ,
    "saved_views": _READ,
    "teams": _READ,
    "team": _READ,
    "team_new": {"GET": ADMIN, "POST": ADMIN},
    "team_change": {"GET": ADMIN, "POST": ADMIN},
    "team_members": _ADMINISTER,
    "team_groups": _ADMINISTER,
    "team_delete": _ADMINISTER,
    "group_note": _OPERATE,
    "group_owner": _ADMINISTER,
    "save_view": {"POST": VIEWER},
    "rename_view": {"POST": VIEWER},
    "share_view": _OPERATE,
    "delete_view": {"POST": VIEWER},
    "timers": _READ,
    "labs": _READ,
    "start_lab": _OPERATE,
    "lab_run": _READ,
    "cancel_lab": _OPERATE,
    "reports": _READ,
    "start_report": _OPERATE,
    "warm_reports": _OPERATE,
    "report": _READ,
    "report_status": _READ,
    "cancel_report": _OPERATE,
    "report_figure": _READ,
    "report_twin": _READ,
    "report_download": _READ,
    "report_file": _READ,
    "delete_report": _OPERATE,
    "new_report_definition": {"GET": OPERATOR, "POST": OPERATOR},
    "report_definition": {"GET": OPERATOR, "POST": OPERATOR},
    "run_report_definition": _OPERATE,
    "delete_report_definition": _OPERATE,
    "audit": {"GET": ADMIN},
    "audit_export": {"GET": ADMIN},
    "settings": _READ,
    "account": {"GET": VIEWER, "POST": VIEWER},
    "own_sessions": {"GET": VIEWER, "POST": VIEWER},
    "second_factor": {"GET": VIEWER, "POST": VIEWER},
    "own_tokens": {"GET": VIEWER, "POST": VIEWER},
    "user_tokens": {"GET": ADMIN, "POST": ADMIN},
    "user_rights": {"GET": ADMIN, "POST": ADMIN},
    "user_sessions": {"GET": ADMIN, "POST": ADMIN},
    "users": {"GET": ADMIN, "POST": ADMIN},
    "change_user": _ADMINISTER,
    "make_link": _ADMINISTER,
    "remove_second_factor": _ADMINISTER,
    "preferences": {"POST": ANYONE},
    "language": {"POST": ANYONE},
    "sign_in": {"GET": ANYONE, "POST": ANYONE},
    "sign_in_code": {"GET": ANYONE, "POST": ANYONE},
    "provider_start": {"GET": ANYONE},
    "provider_return": {"GET": ANYONE},
    "sign_in_link": {"GET": ANYONE, "POST": ANYONE},
    "sign_out": {"POST": ANYONE},
    "healthz": {"GET": ANYONE},
    "readyz": {"GET": ANYONE},
    "metrics": {"GET": ANYONE},
    "group_metrics": {"GET": ANYONE},
    "queue_metrics": {"GET": ANYONE},
}

REST: Final[Mapping[tuple[str, str], str]] = {
    ("POST", "/clusters"): ADMIN,
    ("POST", "/name-servers/test"): ADMIN,
    ("DELETE", "/clusters/{cluster}"): ADMIN,
    ("POST", "/clusters/{cluster}/brokers/{broker}/gone"): OPERATOR,
    ("POST", "/teams"): ADMIN,
    ("PUT", "/teams/{pk}"): ADMIN,
    ("DELETE", "/teams/{pk}"): ADMIN,
    ("PUT", "/clusters/{cluster}/groups/{group}/note"): OPERATOR,
    ("POST", "/clusters/{cluster}/configuration/preview"): OPERATOR,
    ("POST", "/clusters/{cluster}/configuration"): OPERATOR,
    ("POST", "/clusters/{cluster}/messages/body"): OPERATOR,
    ("POST", "/clusters/{cluster}/groups/{group}/members"): OPERATOR,
    ("PUT", "/clusters/{cluster}/hosted/{group}"): OPERATOR,
    ("DELETE", "/clusters/{cluster}/hosted/{group}"): OPERATOR,
    ("POST", "/clusters/{cluster}/labs/{lab}/runs"): OPERATOR,
    ("POST", "/labs/runs/{pk}/cancel"): OPERATOR,
    ("POST", "/reports/definitions"): OPERATOR,
    ("PUT", "/reports/definitions/{pk}"): OPERATOR,
    ("DELETE", "/reports/definitions/{pk}"): OPERATOR,
    ("POST", "/reports/definitions/{pk}/run"): OPERATOR,
    ("POST", "/reports/runs"): OPERATOR,
    ("POST", "/reports/runs/{pk}/cancel"): OPERATOR,
    ("DELETE", "/reports/runs/{pk}"): OPERATOR,
    ("POST", "/clusters/{cluster}/groups/{group}/switch"): OPERATOR,
    ("POST", "/clusters/{cluster}/groups/{group}/changes/{pk}/undo"): OPERATOR,
    ("POST", "/clusters/{cluster}/groups/{group}/offsets"): OPERATOR,
    ("POST", "/clusters/{cluster}/groups/{group}/offsets/{pk}/undo"): OPERATOR,
    ("POST", "/clusters/{cluster}/groups/{group}/dead-letters/resend"): OPERATOR,
    (
        "POST",
        "/clusters/{cluster}/groups/{group}/dead-letters/runs/{pk}/stop",
    ): OPERATOR,
    ("POST", "/clusters/{cluster}/alert-trials"): VIEWER,
    ("POST", "/clusters/{cluster}/alerts/{pk}/acknowledge"): OPERATOR,
    ("POST", "/clusters/{cluster}/silences"): OPERATOR,
    ("DELETE", "/clusters/{cluster}/silences/{pk}"): OPERATOR,
    ("POST", "/clusters/{cluster}/alert-rules"): ADMIN,
    ("PUT", "/clusters/{cluster}/alert-rules/{pk}"): ADMIN,
    ("DELETE", "/clusters/{cluster}/alert-rules/{pk}"): OPERATOR,
    ("POST", "/alert-channels"): ADMIN,
    ("PUT", "/alert-channels/{pk}"): ADMIN,
    ("POST", "/alert-channels/{pk}/test"): ADMIN,
    ("DELETE", "/alert-channels/{pk}"): ADMIN,
    ("POST", "/clusters/{cluster}/scenarios"): OPERATOR,
    ("DELETE", "/clusters/{cluster}/scenarios/{pk}"): OPERATOR,
    ("GET", "/openapi.json"): ANYONE,
}
"""Any other operation is read by viewers if its method is GET, and an error if not."""

NEEDED: Final = frozenset({"queue_id"})
"""Needed under this name or an old one, so that schemas call neither required."""

SAMPLES: Final = {
    "cluster": "hangzhou",
    "group": "order-settlement",
    "broker": "hz2@broker-c",
    "topic": "orders",
    "client_id": "10.20.4.17@4100#88012345678901",
    "lab": "F5",
    "language": "en",
    "digest": "x",
    "name": "lag",
    "form": "csv",
    "token": "x",
    "pk": "1",
    "trial_id": "2",
}


@dataclass(frozen=True)
class Route:
    """One address with places for names, such as `/clusters/{cluster}/`."""

    name: str
    pattern: str
    operation: Mapping[str, Any] | None = None

    def path(self, **values: str) -> str:
        """Fill the places, encoded; the value of each is a sample unless given."""
        filled = {**SAMPLES, **values}
        return re.sub(
            r"\{(\w+)\}", lambda place: quote(filled[place[1]], safe=""), self.pattern
        )

    @property
    def places(self) -> list[str]:
        return re.findall(r"\{(\w+)\}", self.pattern)


def pages() -> list[Route]:
    """Return all routes outside of the REST API."""
    return [
        Route(entry.name or pattern, pattern)
        for pattern, entry in _patterns(get_resolver())
        if not pattern.startswith("/api/")
    ]


def rest() -> list[tuple[str, Route]]:
    """Return method and route of all operations of the REST API."""
    schema = api.get_openapi_schema()
    return [
        (method.upper(), Route(path.removeprefix("/api/v1"), path, operation))
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
    ]


def path_of(route: Route) -> str:
    """Return a page's address, with the token of an unspent link where it needs one."""
    if "token" not in route.places:
        return route.path()
    user = User.objects.get(username="one")
    return route.path(token=make_sign_in_token(user, timezone.now()))


def rest_role(method: str, route: Route) -> str:
    """Return the role that an operation needs; KeyError if a write declares none."""
    if method == "GET":
        return REST.get((method, route.name), VIEWER)
    return REST[method, route.name]


def sample_body(route: Route) -> Any:
    """Return the smallest body that the schema of an operation allows."""
    operation = route.operation or {}
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema")
    return None if schema is None else _sample(schema)


def properties(route: Route) -> Mapping[str, Any]:
    """Return the properties of an operation's body."""
    content = (route.operation or {})["requestBody"]["content"]
    schema = _resolved(content["application/json"]["schema"])
    found: Mapping[str, Any] = schema.get("properties", {})
    return found


def _resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    name = schema["$ref"].rpartition("/")[2]
    found: Mapping[str, Any] = api.get_openapi_schema()["components"]["schemas"][name]
    return found


def _sample(schema: Mapping[str, Any]) -> Any:
    schema = _resolved(schema)
    if "anyOf" in schema or "allOf" in schema:
        return _sample((schema.get("anyOf") or schema["allOf"])[0])
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            required = set(schema.get("required", ())) | (NEEDED & properties.keys())
            return {
                name: SAMPLES.get(name) or _sample(properties[name])
                for name in properties
                if name in required
            }
        case "array":
            return [_sample(schema["items"])] if schema.get("minItems") else []
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
    if schema.get("format") == "date-time":
        return "2026-03-13T00:00:00Z"
    return "x" * max(1, schema.get("minLength", 1))


def _patterns(
    resolver: URLResolver, before: str = "/"
) -> Iterator[tuple[str, URLPattern]]:
    for entry in resolver.url_patterns:
        path = before + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(entry.pattern))
        if isinstance(entry, URLResolver):
            yield from _patterns(entry, path)
        else:
            yield path, entry


def let_go(answer: Any) -> None:
    """Read a download, so that its file is closed; `close()` would end the database."""
    if answer.streaming:
        gathered(answer)


def is_turned_away(answer: Any) -> bool:
    """Tell whether an answer says that somebody else may have it, or only sends on."""
    location = answer.headers.get("Location", "")
    return answer.status_code in {401, 403} or location.startswith("/sign-in/?")
