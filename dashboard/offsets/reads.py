"""The preview of a move of offsets: asks the cluster now and changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from django.utils.translation import gettext as _

from dashboard.gateway.asking import settings_of
from dashboard.gateway.offsets import Place, Standing, find_times, read_standing
from dashboard.live.documents import GroupState
from dashboard.models import OffsetChange
from dashboard.wording.words import word
from rmqcore.errors import ArgumentError

from .plan import Plan, Targets, plan_of
from .wanted import MOST_QUEUES, Wanted

CHANGES_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Preview:
    """A plan, and where the group stood when it was made."""

    plan: Plan
    standing: Standing

    @property
    def online(self) -> bool | None:
        """Whether members are online; None where no broker could say."""
        members = self.standing.members
        return None if members is None else bool(members)

    @property
    def resets_told(self) -> bool:
        """Whether some broker can only tell members that are online, by time."""
        sides = self.standing.brokers.values()
        return any(side.keeps_resets is False for side in sides)


def preview_of(
    cluster: str, group: str, wanted: Wanted, state: GroupState | None = None
) -> Preview:
    """Ask the cluster and return what a move would do.

    Queues of brokers that do not answer are taken from the group's document. Raise
    RmqError if the topic has no route, no broker can be asked, or the move is
    impossible.
    """
    settings = settings_of(cluster)
    standing = read_standing(settings, group, wanted.topic)
    if standing.static:
        raise ArgumentError(
            _(
                "“%(topic)s” is a static topic: its brokers keep a group's offsets in "
                "parts, one for each place of a logical queue, so they cannot be moved "
                "here."
            )
            % {"topic": wanted.topic}
        )
    if standing.broadcasting:
        raise ArgumentError(
            _(
                "Members of “%(group)s” consume by BROADCASTING: each keeps its own "
                "offsets, so the broker's are of no use to them."
            )
            % {"group": group}
        )
    standing = replace(standing, places=_with_unanswered(standing, wanted, state))
    if len(standing.places) > MOST_QUEUES:
        raise ArgumentError(
            _(
                "The topic has %(queues)s queues, at most %(limit)s can be moved at "
                "once."
            )
            % {"queues": len(standing.places), "limit": MOST_QUEUES}
        )
    targets = _targets(cluster, group, wanted, standing)
    return Preview(plan_of(wanted, standing, targets), standing)


def change_of(cluster: str, group: str, pk: int) -> OffsetChange | None:
    """Return a move of a group's offsets that is still kept."""
    found = OffsetChange.objects.select_related("undo_of")
    return found.filter(pk=pk, cluster__name=cluster, group=group).first()


def changes_of(cluster: str, group: str) -> tuple[Sequence[OffsetChange], int]:
    """Return the newest moves of a group's offsets, and how many there are."""
    found = OffsetChange.objects.filter(cluster__name=cluster, group=group)
    return list(found[:CHANGES_SHOWN]), found.count()


def topics_of(state: GroupState | None) -> list[str]:
    """Return the topics of a group, the one that lags most first."""
    lags: dict[str, int] = {}
    for queue in state["queues"] if state else ():
        lags[queue["topic"]] = lags.get(queue["topic"], 0) + (queue["lag"] or 0)
    return sorted(lags, key=lambda topic: (-lags[topic], topic))


def _with_unanswered(
    standing: Standing, wanted: Wanted, state: GroupState | None
) -> list[Place]:
    places = list(standing.places)
    errors = {side.name: side.error for side in standing.brokers.values()}
    for queue in state["queues"] if state else ():
        # A broker that was killed leaves the route, and with it this standing.
        error = errors.get(queue["broker"], word("unknown", "missing"))
        if queue["topic"] == wanted.topic and error:
            places.append(Place(queue["broker"], queue["queue_id"], error=error))
    return places


def _targets(cluster: str, group: str, wanted: Wanted, standing: Standing) -> Targets:
    known = [place for place in standing.places if not place.error]
    match wanted.kind:
        case "time":
            settings = settings_of(cluster)
            return find_times(settings, wanted.topic, standing, wanted.at_ms)
        case "earliest":
            return {place.key: place.low for place in known}
        case "latest":
            return {place.key: place.high for place in known}
        case "offset":
            return dict(wanted.offsets)
        case "group":
            return _of_group(cluster, group, wanted, known)
        case "undo":
            return _before(cluster, group, wanted)


def _of_group(
    cluster: str, group: str, wanted: Wanted, known: Sequence[Place]
) -> Targets:
    if wanted.source == group:
        raise ArgumentError(_("The offsets of a group are its own already."))
    source = read_standing(settings_of(cluster), wanted.source, wanted.topic)
    errors = {side.name: side.error for side in source.brokers.values() if side.error}
    if not errors and all(place.committed is None for place in source.places):
        raise ArgumentError(
            _("“%(group)s” has committed nothing on “%(topic)s”.")
            % {"group": wanted.source, "topic": wanted.topic}
        )
    silent = {
        place.key: errors[place.broker] for place in known if place.broker in errors
    }
    return silent | {place.key: place.committed for place in source.places}


def _before(cluster: str, group: str, wanted: Wanted) -> Mapping[str, int | None]:
    change = change_of(cluster, group, wanted.undo_of)
    if change is None or change.topic != wanted.topic:
        raise ArgumentError(
            _("There is no move %(pk)s of this group; moves are kept for 30 days.")
            % {"pk": wanted.undo_of}
        )
    return {f"{row['broker']}/{row['queue_id']}": row["before"] for row in change.rows}
