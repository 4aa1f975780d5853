"""Every form of the pages, with the fields that its view reads and what it may take.

The forms are the addresses that take a POST. What a view reads is heard while it reads,
and the pages say what a person would send, so that a new form needs no entry here.
"""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any, ClassVar, Final
from urllib.parse import urlencode, urlsplit

import pytest
from django.db import transaction
from django.http import QueryDict
from django.test import Client
from django.urls import Resolver404, resolve

from tests.attacks.routes import ADMIN, ANYONE, PAGES, Route, let_go, pages, path_of

URLENCODED: Final = "application/x-www-form-urlencoded"
FORMS: Final = [
    route for route in pages() if "POST" in PAGES.get(route.name, {"POST": ADMIN})
]
ROUNDS: Final = 2
"""Some fields are read only once others are there."""
_OURS: Final = "csrfmiddlewaretoken"

Fields = Mapping[str, Any]


class _Heard(QueryDict):
    """The fields of a request, which note what is asked of them."""

    names: ClassVar[set[str]] = set()

    def __getitem__(self, key: Any) -> Any:
        self.names.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.names.add(str(key))
        return super().__contains__(key)

    def getlist(self, key: Any, default: Any = None) -> Any:
        self.names.add(key)
        return super().getlist(key, default)


class _Forms(HTMLParser):
    """Collects the forms of a page: where each goes, and what it sends untouched."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self._path = path
        self._fields: dict[str, str] | None = None
        self._choice = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._fields = {} if given.get("method") == "post" else None
            if self._fields is not None:
                self.found.append((given.get("action") or self._path, self._fields))
        elif self._fields is not None:
            self._take(tag, given, self._fields)

    def _take(self, tag: str, given: dict[str, str], fields: dict[str, str]) -> None:
        name, value = given.get("name", ""), given.get("value", "")
        if tag == "select":
            self._choice = name
        elif tag == "option":
            if "selected" in given or not fields.get(self._choice):
                fields[self._choice] = value
        elif tag in {"input", "button", "textarea"} and name:
            can_be_off = given.get("type") in {"checkbox", "radio"}
            if not can_be_off or "checked" in given:
                fields[name] = value or ("x" if "required" in given else "")


def sent_by_pages(admin: Client) -> dict[str, dict[str, str]]:
    """Return what the forms of all pages send, by the names of their addresses."""
    sent: dict[str, dict[str, str]] = {}
    for route in pages():
        if "GET" not in PAGES.get(route.name, {"GET": ADMIN}):
            continue
        path = path_of(route)
        for client in (Client(), admin):
            answer = client.get(path)
            let_go(answer)
            kind = answer.headers.get("Content-Type", "")
            if answer.streaming or not kind.startswith("text/html"):
                continue
            parser = _Forms(path)
            parser.feed(answer.content.decode())
            for action, fields in parser.found:
                sent.setdefault(_name_of(action), fields)
    return sent


def _name_of(action: str) -> str:
    try:
        return resolve(urlsplit(action).path).url_name or ""
    except Resolver404:
        return ""


def sender(route: Route, admin: Client) -> Client:
    """Return who sends a form: a stranger where it is for anyone, else an admin."""
    client = Client(raise_request_exception=False)
    if PAGES.get(route.name, {}).get("POST") != ANYONE:
        client.cookies = admin.cookies.copy()
    return client


def posted(client: Client, path: str, fields: Fields) -> Any:
    """Send a form as browsers do, and undo what it did."""
    return posted_bytes(client, path, urlencode(fields, doseq=True), URLENCODED)


def posted_bytes(client: Client, path: str, body: bytes | str, kind: str) -> Any:
    """Send any bytes, and undo what they did: the next finds everything as it was."""
    cookies = client.cookies.copy()
    with transaction.atomic():
        answer = client.generic("POST", path, body, kind)
        let_go(answer)
        transaction.set_rollback(True)
    client.cookies = cookies
    return answer


def fields_of(
    client: Client, path: str, sent: Mapping[str, str], patch: pytest.MonkeyPatch
) -> dict[str, str]:
    """Return the fields that a view reads or its form has, each with what fits."""
    fields = {name: value for name, value in sent.items() if name != _OURS}
    with patch.context() as listening:
        listening.setattr("django.http.request.QueryDict", _Heard)
        for _round in range(ROUNDS):
            _Heard.names.clear()
            posted(client, path, fields)
            new = _Heard.names - fields.keys() - {_OURS}
            fields |= dict.fromkeys(sorted(new), "")
    return fields
