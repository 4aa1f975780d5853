"""The role that resends, in a thread of its own, on a real embedded cluster."""

from __future__ import annotations

import pytest

from dashboard.dead_letters.service import ResendService
from dashboard.models import ResendRun
from tests.support.waiting import wait_until

from .conftest import Member, Resend


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("east")
def test_a_waiting_run_is_taken_and_played_to_its_end(
    member: Member, resend: Resend
) -> None:
    resend("f.tag=red")
    service = ResendService("w1")
    service.start()
    try:
        wait_until(lambda: ResendRun.objects.get().state == "done")
    finally:
        service.stop()
    run = ResendRun.objects.get()
    assert (run.worker, run.letters.filter(state="sent").count()) == ("w1", 2)
