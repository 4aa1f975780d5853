"""Plans what one worker does next: the database's wishes against what it hosts.

`make_plan` runs in the worker's database thread, in this order:

1. renew the claims held; those that could not be renewed are lost;
2. record that the worker is alive (from then on others compare what they host with what
   it hosts, so its claims are renewed before);
3. read the wishes for the members still held: gone or unwanted ones are to stop, those
   of an older revision are started anew;
4. remove members that nobody wants or hosts any more, and leaving groups without any;
5. claim again what this worker had let go itself, and, while it holds the fewest
   members, those that nobody holds or whose worker is dead;
6. when it holds at least two more than another, hand one over, unless members are free:
   the other is about to claim those, such as the one handed over a moment ago.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from dashboard.models import ManagedMember

from . import claims
from .claims import Claim
from .specs import MemberSpec, spec_of


@dataclass(frozen=True, slots=True)
class WorkerName:
    """The identity of a worker."""

    name: str
    host: str
    pid: int
    started_at: datetime


@dataclass(frozen=True, slots=True)
class Plan:
    """What a worker is to do; members are given by the id of their row.

    `held` are the claims that are still valid, with their new end. Members in `stop`
    are to leave cleanly and be given back, those in `lost` to be abandoned.
    """

    held: Mapping[int, Claim]
    lost: frozenset[int]
    stop: frozenset[int]
    specs: Mapping[int, MemberSpec]
    new: Sequence[tuple[Claim, MemberSpec]]


def make_plan(
    worker: WorkerName,
    hosted: Mapping[int, Claim],
    now: datetime,
    alive: frozenset[str] | None = frozenset(),
) -> Plan:
    """Return what the worker is to do with the members it hosts and with free ones.

    `alive` are the workers heard of since `now`; None if that is not known, or if `now`
    tells nothing about the claims of others because the clock has just jumped.
    """
    due = [held for held in hosted.values() if is_due(held, now)]
    renewed = {held.member_id: held for held in claims.renew(due, worker.name, now)}
    lost = frozenset(held.member_id for held in due) - renewed.keys()
    held = {
        member_id: renewed.get(member_id, claim)
        for member_id, claim in hosted.items()
        if member_id not in lost
    }
    claims.register_worker(
        worker.name,
        host=worker.host,
        pid=worker.pid,
        started_at=worker.started_at,
        now=now,
    )
    wanted = _wanted(held)
    stop = held.keys() - wanted.keys()
    claims.remove_orphans(now, worker.name, alive)
    claims.remove_empty_groups()
    load = claims.loads(claims.live_workers(now), now)
    free = claims.free_members(now, worker.name, alive)
    new = _claim_free(free, worker.name, load, now)
    if not free and not stop and claims.should_release(worker.name, load):
        stop = stop | {max(wanted)}
    return Plan(held, lost, frozenset(stop), wanted, new)


def is_due(held: Claim, now: datetime) -> bool:
    """Return whether a claim is due to be renewed, `RENEW_SECONDS` after the last time.

    A claim whose end is impossibly late was made before the clock was set back.
    """
    left = (held.until - now).total_seconds()
    return (
        not claims.CLAIM_SECONDS - claims.RENEW_SECONDS < left <= claims.CLAIM_SECONDS
    )


def _wanted(held: Mapping[int, Claim]) -> dict[int, MemberSpec]:
    rows = ManagedMember.objects.filter(pk__in=held, wanted=True)
    return {row.pk: spec_of(row) for row in rows.select_related("group__cluster")}


def _claim_free(
    free: Sequence[ManagedMember], worker: str, load: dict[str, int], now: datetime
) -> list[tuple[Claim, MemberSpec]]:
    new: list[tuple[Claim, MemberSpec]] = []
    for member in free:
        # While this worker is alive, nobody else may claim what it has let go.
        if member.worker != worker and not claims.may_claim(worker, load):
            continue
        claim = claims.claim(member, worker, now)
        if claim is not None:
            new.append((claim, spec_of(member)))
            load[worker] += 1
    return new
