"""Claims of workers on hosted members; every change is one conditional UPDATE.

A claim is (worker, fence, until). It is taken by an UPDATE whose WHERE repeats the
fence that was read: if two workers want the same member, one changes a row, and the
other sees that it has changed none. The fence grows with each claim; a worker with an
old one (because it was frozen past `until`) can neither renew nor release, and stops
its member without acting as an owner.

A member whose claim ran out is not free while its worker is `alive`, as heartbeats
tell: the database may have been away for everyone, and then the worker renews the claim
as soon as it can. `alive` is None when heartbeats cannot be read; then no expired claim
is free.

Plain functions of (state, now). Cost: one or two statements each; `now` must come from
clocks that agree to within a second or two when workers run on several hosts. If a
claim ends later than any claim made at `now` could, the clock has been set back since:
such a claim is over, or else a dead worker would keep its members until the clock has
caught up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import F, Q

from dashboard.models import FleetWorker, ManagedGroup, ManagedMember

CLAIM_SECONDS: Final = 10.0
"""A member whose claim has not been renewed for this long is free for others."""

RENEW_SECONDS: Final = 3.0
"""How often a worker renews; three in a row may fail before a claim runs out."""

WORKER_SECONDS: Final = 6.0
"""A worker not seen for this long gets no members, and no share is kept for it."""

AGREE_SECONDS: Final = 5.0
"""The largest difference between the clocks of several hosts that is supported."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A member held by this worker: its row, the fence of the claim, and its end."""

    member_id: int
    fence: int
    until: datetime


def register_worker(
    name: str, *, host: str, pid: int, started_at: datetime, now: datetime
) -> None:
    """Record that a worker is alive; delete those not seen alive for an hour."""
    FleetWorker.objects.update_or_create(
        name=name,
        defaults={
            "host": host,
            "pid": pid,
            "started_at": started_at,
            "seen_until": now + timedelta(seconds=WORKER_SECONDS),
        },
    )
    hour = timedelta(hours=1)
    FleetWorker.objects.exclude(seen_until__range=(now - hour, now + hour)).delete()


def deregister_worker(name: str) -> None:
    """Delete a worker that is leaving, so that nothing waits for it."""
    FleetWorker.objects.filter(name=name).delete()


def live_workers(now: datetime) -> list[str]:
    """Return the names of the workers alive at `now`, sorted."""
    alive = FleetWorker.objects.filter(_runs("seen_until", WORKER_SECONDS, now))
    return sorted(alive.values_list("name", flat=True))


def loads(workers: Iterable[str], now: datetime) -> dict[str, int]:
    """Return how many members each of the workers holds at `now`."""
    counts = dict.fromkeys(workers, 0)
    held = ManagedMember.objects.filter(~_free(now), worker__in=counts)
    for worker in held.values_list("worker", flat=True):
        counts[worker] += 1
    return counts


def free_members(
    now: datetime, worker: str, alive: frozenset[str] | None
) -> list[ManagedMember]:
    """Return the wanted members that `worker` may claim at `now`, oldest first."""
    free = _free(now) & _left(worker, alive)
    found = ManagedMember.objects.filter(free, wanted=True)
    return list(found.select_related("group__cluster").order_by("created_at", "pk"))


def claim(member: ManagedMember, worker: str, now: datetime) -> Claim | None:
    """Claim a free member; return None if another worker was faster.

    1. The WHERE repeats the fence read with `member`, and requires that no claim runs.
    2. The row count decides: one row means that this worker holds the new fence.
    """
    until = now + timedelta(seconds=CLAIM_SECONDS)
    changed = ManagedMember.objects.filter(
        _free(now), pk=member.pk, fence=member.fence, wanted=True
    ).update(worker=worker, fence=F("fence") + 1, claimed_until=until, error="")
    return Claim(member.pk, member.fence + 1, until) if changed else None


def renew(claims: Iterable[Claim], worker: str, now: datetime) -> list[Claim]:
    """Extend the claims that are still held; those missing from the result are lost.

    An expired claim that nobody has taken is renewed as well: nobody else has acted.
    """
    until = now + timedelta(seconds=CLAIM_SECONDS)
    return [
        Claim(held.member_id, held.fence, until)
        for held in claims
        if _held(held, worker).update(claimed_until=until)
    ]


def release(held: Claim, worker: str) -> bool:
    """Give a member back; an unwanted one is removed. False if it was lost before."""
    row = _held(held, worker)
    gone, _ = row.filter(wanted=False).delete()
    if gone:
        return True
    return bool(row.update(worker="", claimed_until=None, client_id=""))


def refuse(held: Claim, worker: str, error: str) -> bool:
    """Let go of a member that cannot be hosted; it is free once the claim runs out."""
    return bool(_held(held, worker).update(worker="", client_id="", error=error))


def note_client(held: Claim, worker: str, *, client_id: str, error: str = "") -> bool:
    """Record the client id a member runs under, or why it could not start."""
    changes = {"client_id": client_id[:255], "error": error}
    return bool(_held(held, worker).update(**changes))


def remove_orphans(now: datetime, worker: str, alive: frozenset[str] | None) -> int:
    """Remove unwanted members whose host is gone; return how many."""
    over = _free(now) & _left(worker, alive)
    removed, _ = ManagedMember.objects.filter(over, wanted=False).delete()
    return removed


def remove_empty_groups() -> int:
    """Remove the leaving groups that have no members left; return how many."""
    empty = ManagedGroup.objects.filter(leaving=True, members=None)
    return empty.count() and empty.delete()[0]


def may_claim(worker: str, load_by_worker: dict[str, int]) -> bool:
    """Return whether this worker gets the next free member: it is the least loaded."""
    mine = load_by_worker.get(worker)
    return mine is not None and mine == min(load_by_worker.values())


def should_release(worker: str, load_by_worker: dict[str, int]) -> bool:
    """Return whether to hand a member over: another worker holds two or more fewer."""
    mine = load_by_worker.get(worker, 0)
    return bool(load_by_worker) and mine - min(load_by_worker.values()) >= 2


def _free(now: datetime) -> Q:
    over = ~_runs("claimed_until", CLAIM_SECONDS, now)
    return Q(claimed_until__isnull=True) | over


def _runs(end: str, seconds: float, now: datetime) -> Q:
    """Tell whether an end, set `seconds` ahead by a clock like ours, lies ahead."""
    latest = now + timedelta(seconds=seconds + AGREE_SECONDS)
    return Q(**{f"{end}__gt": now, f"{end}__lte": latest})


def _left(worker: str, alive: frozenset[str] | None) -> Q:
    """Select claims whose worker has left: it is dead, or is the one that asks."""
    if alive is None:
        return Q(worker__in=("", worker))
    return ~Q(worker__in=alive - {worker})


def _held(held: Claim, worker: str):  # type: ignore[no-untyped-def]
    return ManagedMember.objects.filter(
        pk=held.member_id, worker=worker, fence=held.fence
    )
