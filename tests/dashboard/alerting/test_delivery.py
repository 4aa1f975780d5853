"""The sending process sends what is due, side by side, and ends when it is idle."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest
from django.utils import timezone

from dashboard.alerting.delivery import Deliverer, send_waiting
from dashboard.models import AlertMessage, Channel
from tests.support.receivers import Hook, running_receivers
from tests.support.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def hooks() -> Iterator[tuple[Hook, Hook]]:
    with running_receivers() as (_mailbox, one), running_receivers() as (_other, two):
        yield one, two


def write_test(channel: Channel) -> None:
    now = timezone.now()
    AlertMessage.objects.create(
        channel=channel, channel_name=channel.name, what="test", made_at=now, due_at=now
    )


def test_it_sends_what_waits_and_ends(hooks: tuple[Hook, Hook]) -> None:
    for number, hook in enumerate(hooks):
        write_test(Channel.objects.create(name=f"c{number}", address=hook.address))
    send_waiting(lambda: False, idle_seconds=0)
    assert [len(hook.posts) for hook in hooks] == [1, 1]
    assert set(AlertMessage.objects.values_list("state", flat=True)) == {"sent"}


def test_a_receiver_that_hangs_holds_up_no_other(hooks: tuple[Hook, Hook]) -> None:
    slow, quick = hooks
    slow.let_go.clear()
    channels = [
        Channel.objects.create(name=name, address=hook.address)
        for name, hook in (("slow", slow), ("quick", quick))
    ]
    for channel in channels:
        write_test(channel)
    work = threading.Thread(target=lambda: send_waiting(lambda: False, idle_seconds=0))
    work.start()
    wait_until(lambda: len(quick.posts) == 1, "the quick one has its message")
    write_test(channels[1])
    wait_until(lambda: len(quick.posts) == 2, "the quick one has its second message")
    assert slow.posts == []
    slow.let_go.set()
    work.join()
    assert len(slow.posts) == 1


def test_it_ends_when_it_is_told_to() -> None:
    ended = threading.Event()
    work = threading.Thread(target=lambda: send_waiting(ended.is_set))
    work.start()
    ended.set()
    work.join()


def test_the_process_is_started_once_and_again_after_it_ended() -> None:
    deliverer = Deliverer((sys.executable, "-c", ""))
    assert deliverer.pid is None
    deliverer.wake()
    wait_until(lambda: deliverer.pid is None, "it has ended")
    waiting = Deliverer((sys.executable, "-c", "import time; time.sleep(60)"))
    waiting.wake()
    first = waiting.pid
    waiting.wake()
    assert first is not None
    assert waiting.pid == first
    waiting.stop()
    assert waiting.pid is None
    deliverer.stop()
