"""Apprise carries a text to real receivers, and says why it could not."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from dashboard.alerting.sending import AddressError, check_address, send
from dashboard.alerting.texts import Text
from tests.support.ports import LOOPBACK, free_port
from tests.support.receivers import Hook, Mailbox, running_receivers

TEXT = Text("[east] [critical] 500 messages wait", "Why: <b>café</b> & 堆积", "failure")


@pytest.fixture(scope="module")
def receivers() -> Iterator[tuple[Mailbox, Hook]]:
    with running_receivers() as running:
        yield running


def test_a_mail(receivers: tuple[Mailbox, Hook]) -> None:
    mailbox, _hook = receivers
    assert send(mailbox.address, TEXT) == ""
    subject, body = mailbox.mails[-1]
    assert subject == TEXT.title
    assert TEXT.body in body.replace("\r\n", "\n")


def test_a_hook(receivers: tuple[Mailbox, Hook]) -> None:
    _mailbox, hook = receivers
    assert send(hook.address, TEXT) == ""
    post = hook.posts[-1]
    assert (post["title"], post["message"], post["type"]) == (
        *(TEXT.title, TEXT.body),
        "failure",
    )


def test_why_it_was_not_accepted(receivers: tuple[Mailbox, Hook]) -> None:
    _mailbox, hook = receivers
    hook.refusals = 1
    assert "503" in send(hook.address, TEXT)
    assert send(f"json://{LOOPBACK}:{free_port()}/", TEXT) != ""
    assert send("nonsense://x", TEXT) != ""


def test_errors_of_others_are_not_mixed_up(receivers: tuple[Mailbox, Hook]) -> None:
    _mailbox, hook = receivers
    errors: dict[str, str] = {}
    hook.let_go.clear()
    threads = [
        threading.Thread(target=lambda: errors.update(good=send(hook.address, TEXT))),
        threading.Thread(
            target=lambda: errors.update(bad=send(f"json://{LOOPBACK}:1/", TEXT))
        ),
    ]
    for thread in threads:
        thread.start()
    threads[1].join()
    hook.let_go.set()
    threads[0].join()
    assert errors["good"] == ""
    assert errors["bad"] != ""


def test_addresses_are_checked_and_shown_without_their_secrets() -> None:
    shown = check_address("mailto://li:hunter2@mail.example.org?to=a@example.org")
    assert "hunter2" not in shown
    assert shown.startswith("mailto://li:****@")
    for wrong in ("", "nonsense://x", "mailto://", "no address"):
        with pytest.raises(AddressError, match=r".+"):
            check_address(wrong)
