"""What every answer tells a browser: what may run, be framed, be kept and be sent."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from dashboard.models import Role, User
from tests.attacks.routes import ADMIN, PAGES, pages, rest
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import overview, waiting_for_locks

ROOT = Path(__file__).parents[2]
KEPT_BY_ALL = {"catalogue"}


@pytest.fixture
def answers(sign_in: SignIn, write: Write) -> dict[str, Any]:
    """Every address as an admin reads it, and what a stranger gets."""
    write(overview(), waiting_for_locks())
    client = sign_in(Role(ADMIN))
    reads = [route for route in pages() if "GET" in PAGES[route.name]]
    reads += [route for method, route in rest() if method == "GET"]
    found = {route.name: client.get(route.path()) for route in reads}
    return {
        **found,
        "nowhere": client.get("/nowhere/"),
        "refused": sign_in(Role.VIEWER).get("/audit/"),
        "stranger": Client().get("/audit/"),
    }


def test_every_answer_says_what_a_browser_may_do(answers: dict[str, Any]) -> None:
    for name, answer in answers.items():
        policy = answer["Content-Security-Policy"]
        assert "unsafe" not in policy, name
        for rule in (
            "default-src 'none'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'self'",
        ):
            assert rule in policy, name
        assert answer["X-Frame-Options"] == "DENY", name
        assert answer["X-Content-Type-Options"] == "nosniff", name
        assert answer["Referrer-Policy"] == "same-origin", name
        assert answer["Cross-Origin-Opener-Policy"] == "same-origin", name
        assert "Access-Control-Allow-Origin" not in answer, name
        if name not in KEPT_BY_ALL:
            assert "no-store" in answer.get("Cache-Control", ""), name
    for method, route in rest():
        if method == "GET":
            kind = answers[route.name]["Content-Type"]
            assert kind.split(";")[0] in {"application/json", "text/csv"}, route.name


def test_what_everybody_keeps_carries_nothing_of_one_person(sign_in: SignIn) -> None:
    client = sign_in(Role.VIEWER)
    page = client.get("/account/").content.decode()
    kept = re.findall(r'(?:src|href)="(/(?:static|words)/[^"]+)"', page)
    assert len(kept) > 3
    for path in kept:
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert "public" in answer["Cache-Control"], path
        assert not answer.cookies, path
        assert "Cookie" not in answer.get("Vary", ""), path
        assert answer["X-Content-Type-Options"] == "nosniff", path
        assert "default-src 'none'" in answer["Content-Security-Policy"], path
        assert "Access-Control-Allow-Origin" not in answer, path
        assert Client().get(path).content == answer.content


@pytest.mark.parametrize(
    "headers",
    [
        {"If-Modified-Since": "x"},
        {"If-Modified-Since": "Thu, 32 Foo 99999 99:99:99 GMT"},
        {"If-None-Match": "\xff" * 1000},
        {"Range": "bytes=-"},
        {"Range": "bytes=9-1"},
        {"Range": "bytes=0-0," * 1000},
        {"Range": f"bytes={'9' * 5000}-"},
        {"Accept-Encoding": "gzip;q=x, " * 1000},
        {"Accept-Language": "zh-" * 5000},
        {"Cookie": "rocketscope_zone=../../etc/passwd"},
        {"Cookie": "rocketscope_zone=Europe"},
        {"Cookie": "rocketscope_language=../../x; rocketscope_theme=<script>"},
        {"Cookie": "rocketscope_session=\xff; rocketscope_csrf=\xff"},
        {"Cookie": ";=;;" * 2000},
    ],
    ids=lambda headers: str(headers)[:40],
)
def test_no_header_of_a_stranger_fails_or_shows(
    db: None, settings: Any, headers: dict[str, str]
) -> None:
    for path in ("/sign-in/", f"{settings.STATIC_URL}css/base.css", "/healthz"):
        answer = Client(raise_request_exception=False).get(path, headers=headers)
        assert answer.status_code in {200, 206, 304, 416}, path
        assert b"<script>" not in answer.content


def test_the_settings_page_shows_no_secret(sign_in: SignIn, settings: Any) -> None:
    settings.ROCKETSCOPE_REDIS_URL = "redis://:hush-hush@127.0.0.1:1/0"
    settings.ROCKETSCOPE_METRICS_TOKEN = "hush-hush"
    content = sign_in(Role.VIEWER).get("/settings/").content.decode()
    assert "hush-hush" not in content
    assert settings.SECRET_KEY not in content


_ASK = """
import json
import django
django.setup()
from django.test import Client
from django.test.utils import setup_test_environment
setup_test_environment()
client = Client(headers={"X-Forwarded-Proto": "https"})
page = client.get("/sign-in/")
client.post("/language/", {"language": "en"})
client.post("/preferences/", {"theme": "dark", "zone": "UTC"})
from django.conf import settings
print(json.dumps({
    "cookies": {name: [bool(each["secure"]), each["samesite"]]
                for name, each in client.cookies.items()},
    "hsts": page.headers.get("Strict-Transport-Security"),
    "session": [settings.SESSION_COOKIE_SECURE, settings.SESSION_COOKIE_HTTPONLY],
}))
"""


def test_behind_tls_no_cookie_travels_in_the_clear(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ASK],
        cwd=ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "dashboard.config.settings",
            "ROCKETSCOPE_HTTPS": "1",
            "ROCKETSCOPE_VAR_DIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout.splitlines()[-1])
    names = {"csrf", "language", "theme", "zone"}
    expected = {f"rocketscope_{name}": [True, "Lax"] for name in names}
    assert told["cookies"] == expected
    assert told["hsts"] == "max-age=2592000"
    assert told["session"] == [True, True]


def test_a_session_cookie_is_out_of_reach_of_scripts_and_sites(db: None) -> None:
    User.objects.create_user("vera", password="correct horse battery")
    client = Client()
    fields = {"username": "vera", "password": "correct horse battery"}
    client.post("/sign-in/", fields)
    cookie = client.cookies["rocketscope_session"]
    assert (cookie["httponly"], cookie["samesite"], cookie["domain"]) == (
        True,
        "Lax",
        "",
    )


def test_signing_in_begins_a_session_of_its_own(db: None) -> None:
    User.objects.create_user("vera", password="correct horse battery")
    client = Client()
    client.cookies["rocketscope_session"] = "chosen-by-somebody-else"
    fields = {"username": "vera", "password": "correct horse battery"}
    client.post("/sign-in/", fields)
    key = client.cookies["rocketscope_session"].value
    assert key not in {"", "chosen-by-somebody-else"}
