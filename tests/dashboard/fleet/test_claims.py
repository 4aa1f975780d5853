from __future__ import annotations

from datetime import datetime

import pytest

from dashboard.fleet import claims
from dashboard.fleet.claims import CLAIM_SECONDS, WORKER_SECONDS
from dashboard.models import FleetWorker, ManagedMember

from .wishes import NOW, group, later, member

pytestmark = pytest.mark.django_db

EXPIRED = later(CLAIM_SECONDS)


NOBODY: frozenset[str] = frozenset()


def free(now: datetime, alive: frozenset[str] | None = NOBODY) -> list[ManagedMember]:
    return claims.free_members(now, "w2", alive)


def register(*names: str) -> None:
    for name in names:
        claims.register_worker(name, host="h", pid=1, started_at=NOW, now=NOW)


def claimed(worker: str = "w1") -> claims.Claim:
    claim = claims.claim(member(), worker, NOW)
    assert claim is not None
    return claim


def test_a_free_member_is_claimed_with_a_new_fence() -> None:
    group()
    claim = claimed()
    assert (claim.fence, claim.until) == (1, EXPIRED)
    assert member().worker == "w1"
    assert free(NOW) == []


def test_of_two_workers_that_saw_it_free_one_gets_it() -> None:
    group()
    seen_by_both = member()
    assert claims.claim(seen_by_both, "w1", NOW) is not None
    assert claims.claim(seen_by_both, "w2", NOW) is None
    assert member().worker == "w1"


def test_a_claim_that_ran_out_is_free_for_others() -> None:
    group()
    claimed("w1")
    (found,) = free(EXPIRED)
    taken = claims.claim(found, "w2", EXPIRED)
    assert taken is not None
    assert taken.fence == 2


def test_a_claim_that_ran_out_stays_with_a_worker_that_lives() -> None:
    group()
    claimed("w1")
    assert free(EXPIRED, frozenset({"w1", "w2"})) == []
    assert free(EXPIRED, None) == [], "nobody knows whether its worker lives"
    assert [row.number for row in free(EXPIRED, frozenset({"w2"}))] == [1]


def test_an_unwanted_member_stays_until_its_living_worker_lets_it_leave() -> None:
    group()
    claimed("w1")
    ManagedMember.objects.update(wanted=False)
    assert claims.remove_orphans(EXPIRED, "w2", frozenset({"w1"})) == 0
    assert claims.remove_orphans(EXPIRED, "w2", None) == 0
    assert claims.remove_orphans(EXPIRED, "w2", NOBODY) == 1


def test_a_refused_member_is_free_for_others_once_its_claim_ran_out() -> None:
    group()
    assert claims.refuse(claimed("w1"), "w1", "no such cluster")
    assert (member().worker, member().error) == ("", "no such cluster")
    everyone = frozenset({"w1", "w2"})
    assert free(NOW, everyone) == []
    assert [row.number for row in free(EXPIRED, everyone)] == [1]


def test_renewing_moves_the_end() -> None:
    group()
    (renewed,) = claims.renew([claimed()], "w1", later(5))
    assert renewed.until == later(5 + CLAIM_SECONDS)


def test_a_worker_that_was_frozen_can_neither_renew_nor_release() -> None:
    group()
    old = claimed("w1")
    claims.claim(free(EXPIRED)[0], "w2", EXPIRED)
    assert claims.renew([old], "w1", EXPIRED) == []
    assert not claims.release(old, "w1")
    assert not claims.note_client(old, "w1", client_id="x")
    assert (member().worker, member().client_id) == ("w2", "")


def test_a_late_claim_that_nobody_took_is_renewed() -> None:
    group()
    assert len(claims.renew([claimed()], "w1", later(60))) == 1


def test_the_same_worker_taking_it_again_has_another_fence() -> None:
    group()
    old = claimed("w1")
    again = claims.claim(free(EXPIRED)[0], "w1", EXPIRED)
    assert again is not None
    assert claims.renew([old], "w1", EXPIRED) == []
    assert len(claims.renew([again], "w1", EXPIRED)) == 1


def test_released_members_are_free_at_once() -> None:
    group()
    assert claims.release(claimed(), "w1")
    assert [row.number for row in free(NOW)] == [1]


def test_releasing_an_unwanted_member_removes_it() -> None:
    group()
    claim = claimed()
    ManagedMember.objects.update(wanted=False)
    assert claims.release(claim, "w1")
    assert not ManagedMember.objects.exists()


def test_unwanted_members_are_not_claimed_and_go_when_their_host_is_gone() -> None:
    group(members=2)
    claimed()
    ManagedMember.objects.update(wanted=False)
    assert free(EXPIRED) == []
    assert claims.remove_orphans(NOW, "w2", NOBODY) == 1
    assert claims.remove_orphans(EXPIRED, "w2", NOBODY) == 1


def test_the_row_tells_client_id_and_error() -> None:
    group()
    claim = claimed()
    assert claims.note_client(claim, "w1", client_id="10.0.0.1@x", error="no route")
    assert (member().client_id, member().error) == ("10.0.0.1@x", "no route")


def test_workers_are_alive_for_a_while_after_they_say_so() -> None:
    register("w2", "w1")
    assert claims.live_workers(NOW) == ["w1", "w2"]
    assert claims.live_workers(later(WORKER_SECONDS)) == []


def test_workers_that_leave_or_are_long_gone_are_forgotten() -> None:
    register("w1", "w2")
    claims.deregister_worker("w1")
    assert claims.live_workers(NOW) == ["w2"]
    claims.register_worker("w3", host="h", pid=1, started_at=NOW, now=later(7200))
    assert [worker.name for worker in FleetWorker.objects.all()] == ["w3"]


def test_loads_count_claims_that_hold() -> None:
    group(members=3)
    claims.claim(member(1), "w1", NOW)
    claims.claim(member(2), "w1", NOW)
    assert claims.loads(["w1", "w2"], NOW) == {"w1": 2, "w2": 0}
    assert claims.loads(["w1"], EXPIRED) == {"w1": 0}


@pytest.mark.parametrize(
    ("load", "may", "should"),
    [
        ({"w1": 0}, True, False),
        ({"w1": 1, "w2": 1}, True, False),
        ({"w1": 1, "w2": 0}, False, False),
        ({"w1": 2, "w2": 0}, False, True),
        ({"w2": 0}, False, False),
        ({}, False, False),
    ],
)
def test_the_least_loaded_claims_and_the_most_loaded_hands_over(
    load: dict[str, int], may: bool, should: bool
) -> None:
    assert claims.may_claim("w1", load) is may
    assert claims.should_release("w1", load) is should
