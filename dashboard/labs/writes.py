"""Requests to play a lab, or to end it; both are audited."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

import redis
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard.live.names import LABS_WAKE_CHANNEL
from dashboard.live.state import live_state
from dashboard.models import (
    Cluster,
    LabRun,
    Role,
    User,
)
from dashboard.models.audit import record
from rmqcore.errors import ArgumentError

from .catalogue import check_parameters, entry_named
from .runs import give_up_lost

logger = logging.getLogger(__name__)

RUNS_KEPT: Final = 20
"""Runs of each lab that are kept on each cluster."""


class LabRefusedError(ValueError):
    """A lab is not started; the message is for the person who asked."""


class UnknownLabError(LabRefusedError):
    """There is no lab of that name."""


class LabBusyError(LabRefusedError):
    """The same lab is being played already."""


def start_lab(
    actor: User,
    cluster: Cluster,
    lab: str,
    *,
    parameters: Mapping[str, int] | None = None,
    linger_s: float = 0.0,
) -> LabRun:
    """Queue a run of a lab, and wake the workers that play labs.

    Raises PermissionDenied below the role of an operator; LabRefusedError where the
    cluster is not the embedded one, for parameters that the lab would refuse, and
    while the same lab is being played.
    """
    actor.at(cluster.name).must_be(Role.OPERATOR)
    try:
        name = entry_named(lab).name
    except ArgumentError as error:
        raise UnknownLabError(str(error)) from None
    if not cluster.embedded:
        raise LabRefusedError(
            _(
                "Labs are played on the embedded cluster only; “%(name)s” is a cluster "
                "of somebody else."
            )
            % {"name": cluster.name}
        )
    given = dict(parameters or {})
    try:
        check_parameters(name, given, linger_s)
    except ArgumentError as error:
        raise LabRefusedError(str(error)) from None
    give_up_lost()
    run = _queue(actor, cluster, name, given, linger_s)
    transaction.on_commit(wake_labs)
    return run


@transaction.atomic
def cancel_lab(actor: User, run: LabRun) -> None:
    """Ask a run to end; one that no worker has taken ends at once."""
    actor.at(run.cluster.name).must_be(Role.OPERATOR)
    now = timezone.now()
    waiting = LabRun.objects.filter(pk=run.pk, state=LabRun.State.QUEUED).update(
        state=LabRun.State.CANCELLED, cancel_asked=True, finished_at=now
    )
    running = LabRun.objects.filter(
        pk=run.pk, state=LabRun.State.RUNNING, cancel_asked=False
    ).update(cancel_asked=True)
    if waiting or running:
        record(
            actor,
            "lab.cancel",
            cluster=run.cluster.name,
            target=run.lab,
            details={"run": run.pk},
        )
        transaction.on_commit(wake_labs)


def wake_labs() -> None:
    """Tell the workers to look now; by themselves they look every few seconds."""
    if not settings.ROCKETSCOPE_REDIS_URL:
        return
    try:
        live_state().client.publish(LABS_WAKE_CHANNEL, b"look")
    except redis.RedisError as error:
        logger.warning("the labs' workers were not told: %s", error)


def _queue(
    actor: User,
    cluster: Cluster,
    lab: str,
    parameters: Mapping[str, int],
    linger_s: float,
) -> LabRun:
    try:
        with transaction.atomic():
            run = LabRun.objects.create(
                cluster=cluster,
                lab=lab,
                parameters=dict(parameters),
                linger_s=linger_s,
                asked_at=timezone.now(),
                asked_by=actor,
                asked_by_name=actor.get_username(),
            )
            _forget_old(cluster, lab)
            record(
                actor,
                "lab.start",
                cluster=cluster.name,
                target=lab,
                details={"run": run.pk, "parameters": dict(parameters)},
            )
    except IntegrityError:
        raise LabBusyError(
            _("Lab %(lab)s is already being played; wait for its end or cancel it.")
            % {"lab": lab}
        ) from None
    return run


def _forget_old(cluster: Cluster, lab: str) -> None:
    rows = LabRun.objects.filter(cluster=cluster, lab=lab)
    kept = list(rows.values_list("pk", flat=True)[:RUNS_KEPT])
    rows.exclude(pk__in=kept).delete()
