from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.models import AuditEntry, Role
from dashboard.wording.zones import zone_label
from tests.dashboard.conftest import SignIn


def test_the_theme_is_kept_and_stands_in_the_page(sign_in: SignIn) -> None:
    client = sign_in(Role.VIEWER)
    answer = client.post("/preferences/", {"theme": "dark", "next": "/settings/"})
    assert answer["Location"] == "/settings/"
    assert 'data-theme="dark"' in client.get("/settings/").content.decode()


@pytest.mark.parametrize("theme", ["", "pink", '"><script>'])
def test_another_theme_is_not_kept(sign_in: SignIn, theme: str) -> None:
    client = sign_in(Role.VIEWER)
    client.post("/preferences/", {"theme": theme})
    client.cookies["rocketscope_theme"] = "pink"
    assert 'data-theme="auto"' in client.get("/settings/").content.decode()


def test_another_site_is_never_led_to(sign_in: SignIn) -> None:
    client = sign_in(Role.VIEWER)
    answer = client.post("/preferences/", {"next": "//evil.example/"})
    assert answer["Location"] == "/"


def test_times_are_shown_in_the_zone_chosen(sign_in: SignIn) -> None:
    AuditEntry.objects.create(
        at=datetime(2026, 5, 1, 23, 30, tzinfo=UTC), actor_name="x", action="y"
    )
    client = sign_in(Role.ADMIN)
    assert b"2026-05-01 23:30:00" in client.get("/audit/").content
    client.post("/preferences/", {"zone": "Asia/Shanghai"})
    page = client.get("/audit/").content
    assert b"2026-05-02 07:30:00" in page
    assert b"UTC+8" in page


@pytest.mark.parametrize("zone", ["Mars/Base", "../../etc/passwd", "x" * 300, "\0"])
def test_a_zone_that_does_not_exist_changes_nothing(sign_in: SignIn, zone: str) -> None:
    client = sign_in(Role.ADMIN)
    client.post("/preferences/", {"zone": zone})
    client.cookies["rocketscope_zone"] = zone.replace("\0", "")
    assert client.get("/audit/").status_code == 200


@pytest.mark.parametrize(
    ("zone", "label"),
    [
        ("UTC", "UTC"),
        ("Asia/Shanghai", "UTC+8"),
        ("Asia/Kolkata", "UTC+5:30"),
        ("America/Phoenix", "UTC-7"),
        ("Pacific/Marquesas", "UTC-9:30"),
    ],
)
def test_a_zone_is_named_by_its_distance(zone: str, label: str) -> None:
    with timezone.override(zone):
        assert zone_label() == label


def test_the_language_is_chosen_and_kept(db: None) -> None:
    client = Client()
    client.post("/language/", {"language": "zh-hans", "next": "/sign-in/"})
    page = client.get("/sign-in/").content.decode()
    assert '<html lang="zh-hans"' in page


def test_the_browsers_language_is_followed_until_one_is_chosen(db: None) -> None:
    page = Client().get("/sign-in/", headers={"accept-language": "zh-CN,zh;q=0.9"})
    assert '<html lang="zh-hans"' in page.content.decode()
