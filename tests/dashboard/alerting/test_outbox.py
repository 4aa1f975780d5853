"""Messages are claimed by one sender, retried, and noted when they were accepted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from dashboard.alerting.outbox import (
    CLAIM,
    GIVEN_UP_AFTER,
    RETRY_SECONDS,
    claim_due,
    deliver,
    next_due,
)
from dashboard.alerting.records import keep_up, write_news
from dashboard.alerting.texts import ENDED, Text
from dashboard.models import AlertMessage, Channel

from .written import NOW, closing, later, make_channel, make_rule, opening

pytestmark = pytest.mark.django_db


class Receiver:
    """Takes what is sent, or refuses it with an error."""

    def __init__(self, error: str = "") -> None:
        self.error = error
        self.got: list[tuple[str, Text]] = []

    def __call__(self, address: str, text: Text) -> str:
        self.got.append((address, text))
        return self.error


def an_alert(*channels: Channel) -> Any:
    rule = make_rule(*(channels or (make_channel(),)))
    write_news("east", [opening(rule)], NOW)
    return rule


def test_a_message_is_sent_once() -> None:
    an_alert()
    receiver = Receiver()
    assert claim_due(NOW) == []  # it waits for further groups
    (message,) = claim_due(later(3))
    assert claim_due(later(3)) == []
    assert deliver(message, receiver)
    assert claim_due(later(9999)) == []
    assert [address for address, _text in receiver.got] == ["json://127.0.0.1:9/hook"]
    row = AlertMessage.objects.get()
    assert (row.state, row.attempts, row.error) == ("sent", 1, "")
    assert row.ended_at is not None


def test_what_was_not_accepted_is_tried_again_ever_later() -> None:
    an_alert()
    AlertMessage.objects.update(made_at=timezone.now())
    at = timezone.now() + timedelta(seconds=3)
    for number, seconds in enumerate((*RETRY_SECONDS, RETRY_SECONDS[-1]), start=1):
        before = timezone.now()
        (message,) = claim_due(at)
        assert not deliver(message, Receiver("503 busy"))
        row = AlertMessage.objects.get()
        assert (row.state, row.attempts, row.error) == ("waiting", number, "503 busy")
        waits = (row.due_at - before).total_seconds()
        assert waits >= seconds
        assert next_due() == row.due_at
        at = row.due_at
    (message,) = claim_due(at)
    assert deliver(message, Receiver())


def test_after_a_day_it_is_given_up() -> None:
    an_alert()
    made = timezone.now() - GIVEN_UP_AFTER - timedelta(seconds=1)
    AlertMessage.objects.update(made_at=made, due_at=made)
    (message,) = claim_due(timezone.now())
    deliver(message, Receiver("refused"))
    assert AlertMessage.objects.get().state == "given_up"


def test_a_message_whose_sender_was_killed_is_sent_again_and_says_so() -> None:
    an_alert()
    claim_due(later(3))
    assert claim_due(later(3) + CLAIM - timedelta(seconds=1)) == []
    assert next_due() == later(3) + CLAIM
    (message,) = claim_due(later(3) + CLAIM)
    assert (message.attempts, message.error) == (2, ENDED)
    receiver = Receiver()
    deliver(message, receiver)
    assert "may have arrived before" in receiver.got[0][1].body


def test_a_sender_that_lost_its_claim_notes_nothing() -> None:
    an_alert()
    (slow,) = claim_due(later(3))
    (quick,) = claim_due(later(3) + CLAIM)
    deliver(quick, Receiver())
    deliver(slow, Receiver("late"))
    assert AlertMessage.objects.get().state == "sent"


def test_messages_of_one_alert_go_in_their_order() -> None:
    rule = an_alert()
    (opened,) = claim_due(later(3))
    write_news("east", [closing(rule)], later(60))
    assert claim_due(later(61)) == []
    deliver(opened, Receiver())
    (closed,) = claim_due(later(61))
    assert closed.what == "closed"


def test_a_channel_that_hangs_does_not_hold_up_others() -> None:
    slow, quick = make_channel("slow"), make_channel("quick")
    rule = an_alert(slow, quick)
    assert {each.channel_name for each in claim_due(later(3), busy=[slow.pk])} == {
        "quick"
    }
    assert [each.channel_name for each in claim_due(later(3))] == ["slow"]
    assert rule.channels


@pytest.mark.parametrize("what", ["off", "removed", "sealed"])
def test_a_channel_that_cannot_be_used_is_given_up(what: str) -> None:
    channel = make_channel()
    an_alert(channel)
    if what == "off":
        Channel.objects.update(on=False)
    elif what == "removed":
        channel.delete()
    else:
        Channel.objects.update(address="")
    (message,) = claim_due(later(3))
    receiver = Receiver()
    assert not deliver(message, receiver)
    row = AlertMessage.objects.get()
    assert (row.state, receiver.got) == ("given_up", [])
    assert what in row.error


def test_an_address_is_sealed(settings: Any) -> None:
    make_channel(address="slack://secret-token/")
    raw = Channel.objects.extra(select={"raw": "address"}).values_list("raw")
    (text,) = raw[0]
    assert "secret" not in text
    assert Channel.objects.get().address == "slack://secret-token/"
    settings.SECRET_KEY = "another"
    assert Channel.objects.get().address == ""


def test_a_test_message_is_not_retried() -> None:
    channel = make_channel()
    AlertMessage.objects.create(
        channel=channel, channel_name="on-call", what="test", made_at=NOW, due_at=NOW
    )
    (message,) = claim_due(NOW)
    receiver = Receiver("refused")
    deliver(message, receiver)
    assert "test of the channel “on-call”" in receiver.got[0][1].body
    assert AlertMessage.objects.get().state == "given_up"


def test_nothing_more_is_due() -> None:
    assert next_due() is None
    assert not keep_up("east", [], NOW)
