"""Dead letters of a group that consumes in order; it leaves one more than it found."""

from __future__ import annotations

import pytest
from django.test import Client

from dashboard.dead_letters.reads import progress_of
from tests.dashboard.messages.conftest import Running
from tests.support.waiting import wait_until

from .conftest import GROUP, Member, Resend, kept, play

pytestmark = pytest.mark.usefixtures("east")


def test_a_group_that_consumes_in_order_gets_nothing_to_its_retry_topic(
    running: Running, member: Member, resend: Resend, operator: Client
) -> None:
    member.stop()
    give_up_in_order = Member(running, GROUP, orderly=True)
    try:
        wait_until(lambda: locked(running))
        before = kept(running)
        resend()
        run = play()
        assert run.state == "failed"
        assert "straight back among the dead letters" in run.error
        assert (progress_of(run).failed, progress_of(run).waiting) == (1, 2)
        assert kept(running) == before + 1
    finally:
        give_up_in_order.stop()


def locked(running: Running) -> bool:
    """Tell whether the group's member holds locks of queues."""
    (broker,) = running.cluster.brokers.values()
    return bool(broker.state.locks.any_held(GROUP, broker.state.clock.time_ms()))
