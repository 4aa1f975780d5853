"""Starting and stopping runs that resend dead letters, and exporting their bodies.

A run and its audit entry are stored before anything is sent; a worker sends it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard.frame.reasons import checked_reason
from dashboard.gateway.dead_letters import MOST_LETTERS, DeadLetter
from dashboard.live.documents import GroupState
from dashboard.models import Cluster, ResendRun, ResentLetter, Role, User
from dashboard.models.audit import record
from dashboard.rest.refusals import ReadOnlyRefusal

from .forms import MOST_RATE
from .reads import Mark
from .runs import give_up_lost

IDS_IN_AUDIT: Final = 50
_ROWS_AT_ONCE: Final = 500


class ResendRefusedError(ValueError):
    """A run is not started or stopped; the message says why, and nothing is sent."""


class ReadOnlyError(ReadOnlyRefusal, ResendRefusedError):
    """Nothing is written to this cluster."""


class ResendBusyError(ResendRefusedError):
    """A run of the same group is under way."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How letters are to be resent: where to, how many a second, and why.

    `chosen` says how they were chosen, as the address of the preview does.
    """

    target: str
    rate: int
    reason: str
    chosen: str = ""


def token_of(letters: Sequence[DeadLetter]) -> str:
    """Return what changes when other letters would be resent than a preview showed."""
    text = "\n".join(sorted(each.id for each in letters))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def to_send(
    letters: Sequence[DeadLetter], marks: Mapping[str, Mark], *, again: bool
) -> Sequence[DeadLetter]:
    """Return the letters that would be resent, the oldest first.

    Without `again`, those that were resent before, or may have been, are left out.
    """
    left = [each for each in letters if again or each.id not in marks]
    return sorted(
        left, key=lambda e: (e.message.store_timestamp, e.message.queue_offset)
    )


def why_not_to_group(state: GroupState | None) -> str:
    """Say why a group would not get what is sent to its retry topic, if so."""
    if state is None:
        return ""
    if state["orderly"]:
        return _(
            "Its members consume in order: brokers put messages for the retry topic of "
            "such a group straight back among the dead letters."
        )
    if state["kind"] == "broadcasting":
        return _("Its members consume by BROADCASTING and read no retry topic.")
    if state["kind"] == "shared_pop":
        return _("Its members consume by POP, which has retry topics of its own.")
    return ""


def start_resend(
    actor: User,
    cluster: Cluster,
    group: str,
    letters: Sequence[DeadLetter],
    wish: Wish,
    *,
    token: str,
    state: GroupState | None = None,
) -> ResendRun:
    """Queue a run that resends letters, as a preview with this `token` showed them.

    Raise PermissionDenied below the role of an operator, and ResendRefusedError, worded
    for the person who asked; then nothing is sent.
    """
    wish = _checked(actor, cluster, wish, state)
    if not letters:
        raise ResendRefusedError(_("No dead letter would be resent."))
    if len(letters) > MOST_LETTERS:
        raise ResendRefusedError(
            _("These are %(n)s dead letters, at most %(limit)s are resent in one run.")
            % {"n": len(letters), "limit": MOST_LETTERS}
        )
    if token != token_of(letters):
        raise ResendRefusedError(
            _("Other dead letters than in the preview would be resent. Look again.")
        )
    give_up_lost()
    try:
        return _keep(actor, cluster, group, letters, wish)
    except IntegrityError:
        raise ResendBusyError(
            _("Dead letters of “%(group)s” are being resent already; wait for the end.")
            % {"group": group}
        ) from None


@transaction.atomic
def stop_resend(actor: User, run: ResendRun) -> None:
    """Ask a run to stop; one that no worker has taken stops at once."""
    allow(actor)
    states = ResendRun.State
    rows = ResendRun.objects.filter(pk=run.pk)
    waiting = rows.filter(state=states.QUEUED).update(
        state=states.STOPPED, stop_asked=True, finished_at=timezone.now()
    )
    running = rows.filter(state=states.RUNNING, stop_asked=False).update(
        stop_asked=True
    )
    if waiting or running:
        record(
            actor,
            "dead_letters.stop",
            cluster=run.cluster.name,
            target=run.group,
            details={"run": run.pk},
        )


def note_export(
    actor: User, cluster: str, group: str, letters: Sequence[DeadLetter]
) -> None:
    """Record that the bodies of dead letters were looked at."""
    record(
        actor,
        "dead_letters.look",
        cluster=cluster,
        target=group,
        details={
            "letters": len(letters),
            "bytes": sum(each.body_bytes for each in letters),
            "ids": [each.message.msg_id for each in letters[:IDS_IN_AUDIT]],
        },
    )


def allow(actor: User) -> None:
    """Raise PermissionDenied for a user who may not resend."""
    actor.must_be(Role.OPERATOR)


# Private, in order of first use


def _checked(
    actor: User, cluster: Cluster, wish: Wish, state: GroupState | None
) -> Wish:
    allow(actor)
    if why := cluster.why_read_only:
        raise ReadOnlyError(why)
    reason = checked_reason(wish.reason, ResendRefusedError)
    if wish.target not in ResendRun.Target:
        raise ResendRefusedError(
            _("“%(target)s” is no place to resend to.") % {"target": wish.target}
        )
    if not 1 <= wish.rate <= MOST_RATE:
        raise ResendRefusedError(
            _("The rate is %(rate)s a second, it can be 1 to %(limit)s.")
            % {"rate": wish.rate, "limit": MOST_RATE}
        )
    if wish.target == ResendRun.Target.GROUP and (why := why_not_to_group(state)):
        raise ResendRefusedError(why)
    return Wish(wish.target, wish.rate, reason, wish.chosen)


@transaction.atomic
def _keep(
    actor: User,
    cluster: Cluster,
    group: str,
    letters: Sequence[DeadLetter],
    wish: Wish,
) -> ResendRun:
    run = ResendRun.objects.create(
        cluster=cluster,
        group=group,
        target=wish.target,
        chosen=wish.chosen,
        rate=wish.rate,
        reason=wish.reason,
        by=actor,
        by_name=actor.get_username(),
        at=timezone.now(),
    )
    ResentLetter.objects.bulk_create(
        (_row(run, number, each) for number, each in enumerate(letters, 1)),
        batch_size=_ROWS_AT_ONCE,
    )
    record(
        actor,
        "dead_letters.resend",
        cluster=cluster.name,
        target=group,
        reason=wish.reason,
        details=_details(run, letters),
    )
    return run


def _row(run: ResendRun, number: int, letter: DeadLetter) -> ResentLetter:
    message = letter.message
    return ResentLetter(
        run=run,
        number=number,
        letter_id=letter.id,
        broker=message.broker_name,
        queue_id=message.queue_id,
        offset=message.queue_offset,
        origin_topic=letter.topic or "",
        unique_key=message.msg_id,
        stored_at_ms=message.store_timestamp,
    )


def _details(run: ResendRun, letters: Sequence[DeadLetter]) -> dict[str, Any]:
    return {
        "run": run.pk,
        "letters": len(letters),
        "to": run.target,
        "rate": run.rate,
        "ids": [each.message.msg_id for each in letters[:IDS_IN_AUDIT]],
    }
