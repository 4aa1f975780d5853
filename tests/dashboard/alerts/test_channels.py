"""Channels: made, changed and tested by admins; their address stays secret."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from dashboard.alerts.channel_writes import scheme_of
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import AlertMessage, AuditEntry, Channel, Grant, Role, User
from tests.dashboard.conftest import SignIn

from .made import SECRET, made_alert, made_channel, made_message, made_rule

PAGE = "/alerts/channels/"
FORM = {
    "name": "ding: on-call",
    "address": f"dingtalk://{SECRET}@{SECRET}abc/",
    "language": "zh-hans",
    "on": "on",
}


@pytest.fixture(autouse=True)
def surroundings(hangzhou: ClusterSettings) -> None:
    """The frame is of this cluster."""


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """What goes to our log; `caplog` also has what is kept from it."""
    lines: list[str] = []

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    handler = Lines()
    logging.getLogger().addHandler(handler)
    yield lines
    logging.getLogger().removeHandler(handler)


def test_an_address_is_kept_sealed_and_shown_nowhere(
    sign_in: SignIn, logged: list[str]
) -> None:
    client = sign_in(Role.ADMIN)
    assert client.post(f"{PAGE}new/", FORM)["Location"] == PAGE
    channel = Channel.objects.get()
    assert channel.address == FORM["address"]
    assert (channel.language, scheme_of(channel)) == ("zh-hans", "dingtalk://…")
    made_rule(channel)
    paths = [PAGE, f"{PAGE}{channel.pk}/", "/audit/", "/clusters/hangzhou/alerts/"]
    told = [client.get(path).content.decode() for path in paths]
    told += [
        client.get("/api/v1/alert-channels").content.decode(),
        *logged,
    ]
    told += [str(entry.details) for entry in AuditEntry.objects.all()]
    assert "dingtalk://" in told[0]
    assert not [each for each in told if SECRET in each]


def test_a_refused_address_is_not_repeated(sign_in: SignIn, logged: list[str]) -> None:
    for address in ("nothing", f"weather://{SECRET}", f"slack://{SECRET}", "x" * 2001):
        answer = sign_in(Role.ADMIN).post(f"{PAGE}new/", FORM | {"address": address})
        assert answer.status_code == 422
        assert SECRET not in answer.content.decode()
    assert not Channel.objects.exists()
    assert logged  # that the requests were refused
    assert SECRET not in "".join(logged)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "required"),
        ({"address": ""}, "needs an address"),
        ({"address": "weather://x"}, "Apprise knows no service"),
        ({"language": "tlh"}, "not one of the available choices"),
    ],
)
def test_what_makes_no_sense_is_refused(
    sign_in: SignIn, changes: dict[str, Any], words: str
) -> None:
    answer = sign_in(Role.ADMIN).post(f"{PAGE}new/", FORM | changes)
    assert answer.status_code == 422
    assert words in answer.content.decode()


def test_a_channel_keeps_its_address_unless_one_is_given(sign_in: SignIn) -> None:
    channel, client = made_channel(), sign_in(Role.ADMIN)
    address = channel.address
    client.post(f"{PAGE}{channel.pk}/", {"name": "new name", "language": "en"})
    channel.refresh_from_db()
    assert (channel.name, channel.address, channel.on) == ("new name", address, False)
    given = {"name": "new name", "language": "en", "address": "json://127.0.0.1:9/x"}
    client.post(f"{PAGE}{channel.pk}/", given)
    channel.refresh_from_db()
    assert channel.address == "json://127.0.0.1:9/x"
    entry = AuditEntry.objects.filter(action="alert_channel.change").first()
    assert entry is not None
    assert entry.details["new_address"] is True


def test_a_name_is_taken_once(sign_in: SignIn) -> None:
    made_channel()
    answer = sign_in(Role.ADMIN).post(f"{PAGE}new/", FORM)
    assert "already a channel named" in answer.content.decode()


def test_a_test_waits_until_it_is_sent_and_its_outcome_is_shown(
    sign_in: SignIn,
) -> None:
    channel, client = made_channel(), sign_in(Role.ADMIN)
    for _twice in range(2):
        assert client.post(f"{PAGE}{channel.pk}/test/")["Location"] == PAGE
    message = AlertMessage.objects.get()
    assert (message.what, message.state, message.alert) == ("test", "waiting", None)
    waiting = client.get(PAGE, headers={"X-Fragment": "1"}).content.decode()
    assert "data-active" in waiting
    assert "<html" not in waiting
    message.state, message.error = AlertMessage.State.GIVEN_UP, "401 no such robot"
    message.save()
    shown = client.get(PAGE).content.decode()
    assert "not sent to ding: on-call: 401 no such robot" in shown
    assert "data-active" not in shown


def test_deleting_a_channel_leaves_rules_and_messages(sign_in: SignIn) -> None:
    channel = made_channel()
    rule = made_rule(channel)
    message = made_message(made_alert(rule), channel)
    sign_in(Role.ADMIN).post(f"{PAGE}{channel.pk}/delete/")
    assert not Channel.objects.exists()
    assert not rule.channels.exists()
    message.refresh_from_db()
    assert (message.channel, message.channel_name) == (None, "ding: on-call")


def test_an_admin_of_one_cluster_is_no_admin_of_channels(sign_in: SignIn) -> None:
    client = sign_in(Role.OPERATOR)
    user = User.objects.get(username="operator")
    Grant.objects.create(user=user, role=Role.ADMIN, cluster="hangzhou")
    assert client.get(PAGE).status_code == 403
    assert client.post(f"{PAGE}new/", FORM).status_code == 403
    answer = client.post(
        "/api/v1/alert-channels", FORM, content_type="application/json"
    )
    assert answer.status_code == 403


def test_an_address_sealed_with_another_key_is_asked_for_again(
    sign_in: SignIn,
) -> None:
    channel = made_channel()
    Channel.objects.filter(pk=channel.pk).update(address="")
    client = sign_in(Role.ADMIN)
    assert "sealed with another secret key" in client.get(PAGE).content.decode()
    page = client.get(f"{PAGE}{channel.pk}/").content.decode()
    assert "enter it again" in page
