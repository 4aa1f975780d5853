from __future__ import annotations

from datetime import datetime

import pytest
from django.db import OperationalError

from dashboard.fleet import claims
from dashboard.fleet.claims import CLAIM_SECONDS, Claim
from dashboard.fleet.planning import Plan, WorkerName, is_due, make_plan
from dashboard.models import ManagedGroup, ManagedMember

from .wishes import NOW, group, later, member

pytestmark = pytest.mark.django_db


def plan(
    worker: str = "w1", hosted: dict[int, Claim] | None = None, now: datetime = NOW
) -> Plan:
    return make_plan(WorkerName(worker, "h", 1, NOW), hosted or {}, now)


def hosts(made: Plan) -> dict[int, Claim]:
    """Return what a worker hosts after it did a plan."""
    held = {k: v for k, v in made.held.items() if k not in made.stop}
    return held | {claim.member_id: claim for claim, _spec in made.new}


def test_one_worker_takes_all_members() -> None:
    group(members=3)
    made = plan()
    assert [spec.number for _claim, spec in made.new] == [1, 2, 3]
    assert made.new[0][1].topics == (("orders", "*"),)
    assert made.new[0][1].cluster == "east"


def test_members_spread_over_the_live_workers() -> None:
    plan("w1")
    plan("w2")
    group(members=3)
    assert [len(plan(worker).new) for worker in ("w1", "w2")] == [1, 2]


def test_a_worker_that_joins_gets_members_of_a_loaded_one() -> None:
    group(members=3)
    first = hosts(plan("w1"))
    plan("w2")
    again = plan("w1", first)
    assert again.stop == {max(first)}
    claims.release(first[max(first)], "w1")
    assert len(plan("w2").new) == 1
    assert plan("w1", hosts(again)).stop == frozenset()


def test_nothing_more_is_handed_over_before_the_other_has_claimed_what_was() -> None:
    group(members=3)
    first = hosts(plan("w1"))
    plan("w2")
    again = plan("w1", first)
    claims.release(first[max(first)], "w1")
    before_the_other = plan("w1", hosts(again))
    assert not before_the_other.stop
    assert not before_the_other.new


def test_claims_are_renewed_before_they_run_out() -> None:
    group()
    held = hosts(plan())
    early = plan(hosted=held, now=later(2))
    assert early.held == held
    renewed = plan(hosted=held, now=later(3)).held
    assert [each.until for each in renewed.values()] == [later(3 + CLAIM_SECONDS)]


def test_a_claim_taken_by_another_is_lost() -> None:
    group()
    held = hosts(plan("w1"))
    expired = later(CLAIM_SECONDS)
    assert len(plan("w2", now=expired).new) == 1
    made = plan("w1", held, expired)
    assert (made.lost, made.held, made.stop) == (held.keys(), {}, frozenset())


def test_members_of_a_dead_worker_are_taken_over_when_its_claims_end() -> None:
    group(members=2)
    plan("dead")
    assert plan("w1", now=later(CLAIM_SECONDS - 0.1)).new == []
    assert len(plan("w1", now=later(CLAIM_SECONDS)).new) == 2


def test_members_of_a_worker_that_lives_are_not_taken_over() -> None:
    group()
    held = hosts(plan("w1"))
    both = frozenset({"w1", "w2"})
    outage_over = later(120)
    worker = WorkerName("w2", "h", 1, NOW)
    assert make_plan(worker, {}, outage_over, both).new == []
    made = plan("w1", held, outage_over)
    assert (made.lost, list(made.held)) == (frozenset(), list(held))


def test_a_worker_counts_as_alive_only_once_its_claims_are_renewed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group(members=2)
    held = hosts(plan("w1"))
    over = later(120)

    def locked(*_given: object) -> list[Claim]:
        raise OperationalError("database is locked")

    monkeypatch.setattr(claims, "renew", locked)
    with pytest.raises(OperationalError):
        plan("w1", held, over)
    assert claims.live_workers(over) == [], "others would hand members over to it"


def test_what_a_worker_let_go_it_claims_again_though_others_have_less() -> None:
    group(members=2)
    hosts(plan("w1"))
    over = later(CLAIM_SECONDS)
    both = frozenset({"w1", "w2"})
    assert make_plan(WorkerName("w2", "h", 1, NOW), {}, over, both).new == []
    made = make_plan(WorkerName("w1", "h", 1, NOW), {}, over, both)
    assert [spec.number for _claim, spec in made.new] == [1, 2]


def test_unwanted_members_stop() -> None:
    group(members=2)
    held = hosts(plan())
    row = member(2)
    ManagedMember.objects.filter(pk=row.pk).update(wanted=False)
    made = plan(hosted=held)
    assert made.stop == {row.pk}
    assert list(made.specs) == [member(1).pk]


def test_a_deleted_group_stops_its_members() -> None:
    group()
    held = hosts(plan())
    ManagedGroup.objects.all().delete()
    made = plan(hosted=held, now=later(1))
    assert made.stop == held.keys()
    assert plan(hosted=held, now=later(4)).lost == held.keys()


def test_changed_wishes_come_with_their_revision() -> None:
    group()
    held = hosts(plan())
    ManagedGroup.objects.update(revision=2, strategy="AVG_BY_CIRCLE")
    (spec,) = plan(hosted=held).specs.values()
    assert (spec.revision, spec.strategy) == (2, "AVG_BY_CIRCLE")


def test_a_claim_is_due_three_seconds_after_it_was_renewed() -> None:
    claim = Claim(1, 1, later(CLAIM_SECONDS))
    assert not is_due(claim, later(2.9))
    assert is_due(claim, later(3.0))


def test_each_claim_makes_another_client() -> None:
    group()
    ((claim, spec),) = plan().new
    assert spec.instance_name(claim) == "billing-1.1"
    assert spec.instance_name(Claim(1, 7, NOW)) == "billing-1.7"
