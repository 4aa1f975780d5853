"""Bodies, parameters and names that no program of ours would send, to every address."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest

from dashboard.models import Role
from tests.attacks.routes import (
    PAGES,
    Route,
    let_go,
    pages,
    properties,
    rest,
    sample_body,
)
from tests.attacks.surroundings import leave_out_what_surrounds_a_page
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import overview, waiting_for_locks
from tests.dashboard.reports.finished import finished_run, two_epochs

MARKUP = "<img src=x onerror=alert(1)>"
BROKEN = {
    "nothing": b"",
    "half": b'{"a":',
    "no JSON": b"\x00\x01",
    "not UTF-8": b'{"reason": "\xff\xfe"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "NaN": b"NaN",
    "a list": b"[]",
    "a number": b"1",
    "null": b"null",
    "text": b'"x"',
    "deep": b"[" * 100_000,
    "deep and whole": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    "digits": b"1" * 5_000,
    "a form": b"a=1&b=2",
}
VALUES = (
    "null",
    "true",
    "-1",
    "1e999",
    "NaN",
    "1" + "0" * 30,
    "1" * 5_000,
    "[]",
    "[[[[[]]]]]",
    '{"a": {"b": NaN}}',
    '""',
    '"\\ud800"',
    '"\\u0000"',
    f'"{"x" * 10_000}"',
    f'"{MARKUP}"',
    '["\\ud800", "\\u0000", null]',
    '{"\\ud800": "\\u0000"}',
)
NAMES = (
    MARKUP,
    "{{7*7}}",
    "..%2f..%2f..%2fetc%2fpasswd",
    "../../../etc/passwd",
    "/etc/passwd",
    "\0",
    "a\0b",
    "\u202eevil",
    "x" * 10_000,
    "\r\nSet-Cookie: a=b",
    "%s%n%(x)s",
    "' OR 1=1 --",
    "javascript:alert(1)",
)
HUGE = "1" + "0" * 30
GIVEN = (MARKUP, "\0", "x" * 10_000, "NaN", HUGE)
NO_TEXT = "q=%ff%fe&page=%ed%a0%80&from=%&"
PARAMETERS = (
    *("q", "page", "sort", "level", "kind", "from", "to", "v", "s", "a", "r", "show"),
    *("format", "table", "paper", "by", "topic", "consumer", "group", "worker"),
    *("timer", "since", "until", "panel", "strategy", "next"),
)
AWAY = {424, 503}
"""What is answered where no broker answers and no sweep has written documents."""
WRITES = [(method, route) for method, route in rest() if sample_body(route) is not None]
READS = [route for route in pages() if "GET" in PAGES[route.name]]
READS += [route for method, route in rest() if method == "GET"]


@pytest.fixture(autouse=True)
def things(write: Write, nobody_there: None, settings: Any, tmp_path: Path) -> None:
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    write(overview(), waiting_for_locks())
    two_epochs()
    finished_run(tmp_path)


def ids(value: Any) -> str:
    return value.name if isinstance(value, Route) else str(value)


@pytest.mark.parametrize(("method", "route"), WRITES, ids=ids)
def test_a_broken_body_is_refused_in_words(
    sign_in: SignIn, method: str, route: Route
) -> None:
    client = sign_in(Role.ADMIN)
    for name, body in BROKEN.items():
        answer = client.generic(method, route.path(), body, "application/json")
        let_go(answer)
        assert 400 <= answer.status_code < 500, name
        assert answer.json()["detail"], name


@pytest.mark.parametrize(("method", "route"), WRITES, ids=ids)
def test_a_value_of_any_kind_is_taken_or_refused(
    sign_in: SignIn, method: str, route: Route
) -> None:
    client = sign_in(Role.ADMIN)
    sample = sample_body(route)
    for name in properties(route):
        rest_of_it = {key: value for key, value in sample.items() if key != name}
        start = orjson.dumps(rest_of_it).decode().removesuffix("}")
        for value in VALUES:
            comma = "," if rest_of_it else ""
            twice = f'{start}{comma}"{name}":{value},"{name}":{value}}}'.encode()
            answer = client.generic(method, route.path(), twice, "application/json")
            let_go(answer)
            status = answer.status_code
            assert status < 500 or status in AWAY, (name, value[:40])


def test_a_name_of_any_kind_is_found_or_not(
    sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = sign_in(Role.ADMIN)
    wrong = []
    turns: dict[str, Iterator[int]] = defaultdict(count)
    places = [
        (route, place, next(turns[place])) for route in READS for place in route.places
    ]
    for number, name in enumerate(NAMES):
        if number == 1:  # the first has markup in it, and whole pages
            leave_out_what_surrounds_a_page(monkeypatch)
        for route, place, turn in places:
            # One number stands for all names of what is found by number. Of the others,
            # a place gets every other one, and the next of its kind the rest.
            if number and (place == "pk" or (number + turn) % 2):
                continue
            given = HUGE if place == "pk" else name
            answer = client.get(route.path(**{place: given}))
            let_go(answer)
            if answer.status_code not in {200, 302, 400, 403, 404, 422, *AWAY}:
                wrong.append((route.name, place, given[:40], answer.status_code))
            assert_safe(answer)
    assert wrong == []


def test_a_parameter_of_any_kind_is_taken_or_refused(
    sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = sign_in(Role.ADMIN)
    wrong = []
    for number, value in enumerate((*GIVEN, None)):
        if number == 1:  # the first is markup, and whole pages
            leave_out_what_surrounds_a_page(monkeypatch)
        for route in READS:
            told = (route.operation or {}).get("parameters", ())
            names = [each["name"] for each in told if each["in"] == "query"]
            fields = dict.fromkeys([*PARAMETERS, *names], value)
            query = urlencode(fields) if value is not None else NO_TEXT
            answer = client.get(f"{route.path()}?{query}")
            let_go(answer)
            if answer.status_code >= 500 and answer.status_code not in AWAY:
                wrong.append((route.name, query[:60], answer.status_code))
            assert_safe(answer)
    assert wrong == []


def assert_safe(answer: Any) -> None:
    assert "a" not in answer.cookies
    kind = answer.headers.get("Content-Type", "")
    if answer.streaming or not kind.startswith("text/html"):
        return
    content = answer.content.decode()
    assert MARKUP not in content
    assert 'href="javascript:' not in content
    assert "root:x:0" not in content


@pytest.mark.parametrize(
    "path",
    [
        "../manage.py",
        "../../manage.py",
        "..%2fmanage.py",
        "%2e%2e/manage.py",
        "..\\manage.py",
        "....//manage.py",
        "/etc/passwd",
        "%00",
        "css/base.css%00.js",
        "x" * 5_000,
    ],
)
def test_static_files_are_the_static_files_alone(
    sign_in: SignIn, settings: Any, path: str
) -> None:
    answer = sign_in(Role.VIEWER).get(settings.STATIC_URL + path)
    assert answer.status_code == 404
