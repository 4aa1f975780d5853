"""Attaching clusters, testing their addresses and removing them: for admins, audited.

Who may test addresses may find out what listens in the network of this machine. So only
admins may, a bounded number of times a minute, and each test is in the audit trail.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard.frame.reasons import checked_reason
from dashboard.gateway.embedded import (
    EmbeddedState,
    Standing,
    ask_for_embedded,
    embedded_state,
)
from dashboard.gateway.present import clusters_now
from dashboard.gateway.probing import Probe, forbidden_addresses, probe
from dashboard.gateway.settings import EMBEDDED, ClusterSettings, setting_prefix
from dashboard.models import AuditEntry, Cluster, ManagedGroup, Role, User
from dashboard.models.audit import record

MOST_ATTACHED: Final = 16
MOST_NAME_SERVERS: Final = 8
TESTS_A_MINUTE: Final = 10
TESTS_AT_ONCE: Final = 2
"""Of one web process; a test holds a thread for some seconds."""

_testing = threading.BoundedSemaphore(TESTS_AT_ONCE)


class ClusterError(ValueError):
    """A cluster is not attached, tested or removed; the message says why."""


class UnknownClusterError(ClusterError):
    """There is no cluster of that name."""


class BusyTestingError(ClusterError):
    """Too many addresses are being tested, or were in the last minute."""


@dataclass(frozen=True, slots=True)
class ClusterWish:
    """A cluster to attach: its name, its name servers, and whether to write to it."""

    name: str
    name_servers: tuple[str, ...]
    writes: bool = False
    reason: str = ""


def servers_in(text: str) -> tuple[str, ...]:
    """Read name servers, one a line or separated by semicolons or commas."""
    parts = text.replace(";", "\n").replace(",", "\n").split("\n")
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))


def try_cluster(actor: User, wish: ClusterWish) -> Sequence[Probe]:
    """Try every name server of a wish, and record that it was tried."""
    actor.must_be(Role.ADMIN)
    cluster = _settings_for(wish)
    _check_pace(actor)
    if not _testing.acquire(blocking=False):
        raise BusyTestingError(
            _("%(n)s tests are under way; try again in some seconds.")
            % {"n": TESTS_AT_ONCE}
        )
    try:
        # Recorded before: a test that never ends was made, too.
        entry = record(
            actor,
            "cluster.test",
            target=", ".join(cluster.name_servers),
            cluster=cluster.name,
        )
        found = probe(cluster)
    finally:
        _testing.release()
    verdicts = {each.address: str(each.verdict) for each in found}
    AuditEntry.objects.filter(pk=entry.pk).update(details={"verdicts": verdicts})
    return found


def attach(actor: User, wish: ClusterWish) -> Cluster:
    """Attach a cluster; every process takes it up within seconds.

    Raise ClusterError for a name that is taken or kept, an address that is none, and
    writing without a reason; then nothing has changed.
    """
    actor.must_be(Role.ADMIN)
    given = _settings_for(wish)
    reason = checked_reason(wish.reason, ClusterError, needed=wish.writes)
    if bad := forbidden_addresses(given):
        raise ClusterError(
            _("No name server can stand at %(address)s.") % {"address": bad[0]}
        )
    return _keep(actor, given, writes=wish.writes, reason=reason)


@transaction.atomic
def _keep(actor: User, given: ClusterSettings, *, writes: bool, reason: str) -> Cluster:
    _check_free(given.name)
    row, _made = Cluster.objects.update_or_create(
        name=given.name,
        defaults={
            "name_servers": list(given.name_servers),
            "embedded": False,
            "configured": True,
            "attached": True,
            "writes": writes,
        },
    )
    details = {"name_servers": list(given.name_servers), "writes": writes}
    record(
        actor,
        "cluster.attach",
        target=given.name,
        cluster=given.name,
        reason=reason,
        details=details,
    )
    return row


@transaction.atomic
def remove(actor: User, name: str, *, confirm: str, reason: str) -> None:
    """Remove an attached cluster: it is no longer collected, shown or written to.

    Nothing changes in the cluster itself. What was recorded of it stays, and is its
    again when a cluster of that name is attached. The collector ends its open alerts.
    """
    actor.must_be(Role.ADMIN)
    row = _removable(name)
    if confirm != name:
        raise ClusterError(
            _("Type the name “%(name)s” to confirm that it is this cluster.")
            % {"name": name}
        )
    reason = checked_reason(reason, ClusterError)
    before = {"name_servers": row.name_servers, "writes": row.writes}
    row.attached, row.writes, row.configured = False, False, False
    row.save(update_fields=["attached", "writes", "configured"])
    record(
        actor,
        "cluster.remove",
        target=name,
        cluster=name,
        reason=reason,
        details=before,
    )


def why_not_removed(row: Cluster) -> str:
    """Say why a cluster cannot be removed here; empty where it can."""
    if row.name in settings.ROCKETSCOPE_CLUSTERS or not row.attached:
        return _(
            "“%(name)s” is named by the settings; it can be removed only there."
        ) % {"name": row.name}
    if row.embedded:
        return _("The embedded cluster ends when RocketScope is stopped.")
    hosted = ManagedGroup.objects.filter(cluster=row).count()
    if hosted:
        return _(
            "Groups are hosted on “%(name)s” (%(n)s); stop hosting them first, so that "
            "their members leave cleanly."
        ) % {"name": row.name, "n": hosted}
    return ""


def start_embedded(actor: User) -> EmbeddedState:
    """Ask for the embedded cluster to be started; it runs some seconds later.

    Raise ClusterError where nothing would start it.
    """
    actor.at(EMBEDDED).must_be(Role.OPERATOR)
    state = embedded_state()
    if state.standing is Standing.NOT_OFFERED:
        raise ClusterError(
            _(
                "Nothing here can start the embedded cluster, since RocketScope was "
                "not started by “%(command)s up”."
            )
            % {"command": settings.COMMAND}
        )
    if not state.may_be_asked:
        return state
    with transaction.atomic():
        record(actor, "cluster.start_embedded", target=EMBEDDED, cluster=EMBEDDED)
        try:
            ask_for_embedded()
        except OSError as error:
            raise ClusterError(
                _("The request cannot be written: %(error)s") % {"error": error}
            ) from error
    return embedded_state()


def _settings_for(wish: ClusterWish) -> ClusterSettings:
    """Return the settings that a wish amounts to, with the keys of the environment."""
    if not wish.name_servers:
        raise ClusterError(_("Name at least one name server, as host:port."))
    if len(wish.name_servers) > MOST_NAME_SERVERS:
        raise ClusterError(
            _("%(n)s name servers are given, at most %(limit)s can be.")
            % {"n": len(wish.name_servers), "limit": MOST_NAME_SERVERS}
        )
    if wish.name == EMBEDDED:
        raise ClusterError(
            _(
                "The name “%(name)s” is kept for the cluster that RocketScope itself "
                "provides."
            )
            % {"name": EMBEDDED}
        )
    try:
        found: ClusterSettings = settings.ROCKETSCOPE_ATTACHED_CLUSTER(
            wish.name, wish.name_servers, writes=wish.writes
        )
    except ImproperlyConfigured as error:
        raise ClusterError(str(error)) from None
    return found


def _check_free(name: str) -> None:
    known = clusters_now()
    if name in known:
        raise ClusterError(_("A cluster “%(name)s” is there already.") % {"name": name})
    if Cluster.objects.filter(attached=True).count() >= MOST_ATTACHED:
        raise ClusterError(
            _("%(limit)s clusters are attached, the most that can be.")
            % {"limit": MOST_ATTACHED}
        )
    for other in known:
        if setting_prefix(other) == setting_prefix(name):
            raise ClusterError(
                _(
                    "“%(name)s” and “%(other)s” would share their settings, "
                    "%(prefix)s_…; choose another name."
                )
                % {"name": name, "other": other, "prefix": setting_prefix(name)}
            )


def _removable(name: str) -> Cluster:
    row = Cluster.objects.filter(name=name, configured=True).first()
    if row is None:
        raise UnknownClusterError(
            _("No cluster “%(name)s” is configured.") % {"name": name}
        )
    if why := why_not_removed(row):
        raise ClusterError(why)
    return row


def _check_pace(actor: User) -> None:
    recent = AuditEntry.objects.filter(
        actor=actor,
        action="cluster.test",
        at__gt=timezone.now() - timedelta(minutes=1),
    )
    if recent.count() >= TESTS_A_MINUTE:
        raise BusyTestingError(
            _("%(n)s tests in a minute are the most; wait for a minute.")
            % {"n": TESTS_A_MINUTE}
        )
