"""What a group's own pages say of its alerts."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.models import Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import overview, waiting_for_locks

from .made import GROUP, made_alert, made_rule

PAGE = f"/clusters/hangzhou/groups/{GROUP}/"


@pytest.fixture(autouse=True)
def documents(write: Write) -> None:
    write(overview(), waiting_for_locks())


def test_open_alerts_are_named_beside_the_group(sign_in: SignIn) -> None:
    client = sign_in(Role.VIEWER)
    assert 'class="tag crit"' not in client.get(PAGE).content.decode()
    rule = made_rule(name="Lag of orders")
    alert = made_alert(rule)
    made_alert(rule, minutes=90, closed_at=timezone.now())
    made_alert(made_rule(name="others"), "another-group", minutes=2)
    made_alert(made_rule(name="other"), minutes=3, cluster="shanghai")
    made_alert(made_rule(name="brokers", kind="broker"), minutes=4)
    for path in (PAGE, f"{PAGE}members/"):
        main = client.get(path).content.decode().partition("<main")[2]
        assert main.count('class="tag crit"') == 1
        assert f'href="/clusters/hangzhou/alerts/{alert.pk}/"' in main
        assert "Lag of orders" in main


def test_the_timeline_lists_the_alerts_of_its_span(sign_in: SignIn) -> None:
    client = sign_in(Role.VIEWER)
    path = f"{PAGE}timeline/"
    assert "alerted-title" not in client.get(path).content.decode()
    rule = made_rule()
    now = made_alert(rule, minutes=1)
    ended = timezone.now() - timedelta(minutes=2)
    recent = made_alert(rule, minutes=9_000, closed_at=ended)
    old = made_alert(rule, minutes=8_000, closed_at=ended - timedelta(days=2))
    shown = client.get(path).content.decode()
    for alert, within in ((now, 1), (recent, 1), (old, 0)):
        link = f'<td class="name lead"><a href="/clusters/hangzhou/alerts/{alert.pk}/"'
        assert shown.count(link) == within
    assert "alerted-title" not in client.get(f"{path}?panel=1").content.decode()
