"""What others have to lose when members are hosted in a group: asked before they join.

Hosted members take queues from the members that a group has, and acknowledge messages
that somebody else was to process. So before a group is hosted, and before more members
join it, the collector's newest look at it is read. A look that is old, or that not
every broker answered, does not show that nobody else uses the group.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.live.documents import GroupState, Overview
from dashboard.live.overview_rows import row_of
from dashboard.live.reading import Problem, read_group, read_overview

FRESH_MS: Final = 30_000
"""The age up to which a look counts; all groups are swept every ten seconds."""

NAMES_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class Stake:
    """What others have to lose.

    `strangers` are client ids of members not hosted here, `queues` those they may lose.
    `committed` counts the queues with a committed offset, `waiting` is None if it is
    not known how many messages wait. `doubt` says why there may be more.
    """

    strangers: Sequence[str] = ()
    queues: Sequence[str] = ()
    committed: int = 0
    waiting: int | None = None
    at_least: bool = False
    doubt: str = ""


def look_at(
    cluster: str,
    group: str,
    is_ours: Callable[[str], bool],
    *,
    now_ms: int | None = None,
) -> Stake:
    """Return what is at stake in a group; wait up to 2.5 s for a fresh look at it.

    `is_ours` says of a client id whether its member is hosted here.
    """
    now = round(time.time() * 1000) if now_ms is None else now_ms
    state = read_group(cluster, group, newer_than_ms=now - FRESH_MS).document
    if state is not None and not (doubt := _doubt_of_group(state, now)):
        return stake_in(state, is_ours)
    reading = read_overview(cluster)
    unknown = _doubt_of_cluster(reading.document, reading.problem, now)
    rows = reading.document["groups"] if reading.document else ()
    if not unknown and row_of(rows, group) is None:
        return Stake()
    if state is None:
        return Stake(doubt=unknown or _("it has not been looked at yet"))
    return stake_in(state, is_ours, doubt=doubt)


def stake_in(
    state: GroupState, is_ours: Callable[[str], bool], *, doubt: str = ""
) -> Stake:
    """Return what is at stake according to a group's document."""
    members = [member["client_id"] for member in state["members"]]
    strangers = [each for each in members if not is_ours(each)]
    held = [
        f"{queue['topic']}/{queue['broker']}/{queue['queue_id']}"
        for queue in state["queues"]
        if any(owner in strangers for owner in queue["owners"])
    ]
    committed = sum(queue["committed"] is not None for queue in state["queues"])
    totals = state["totals"]
    return Stake(
        strangers, held, committed, totals["lag"], totals["lag_partial"], doubt
    )


def said(stake: Stake, group: str, listener: str, *, hosted: bool) -> str:
    """Return what would happen to a group's messages; empty if there is nothing to say.

    The offsets of a group that is `hosted` here already are its own.
    """
    parts = []
    if stake.strangers:
        parts.append(_strangers_said(stake, group))
    elif stake.committed and not hosted:
        parts.append(
            ngettext(
                "Nobody is online in “%(group)s”, but it has a committed offset on "
                "%(n)s queue: somebody consumes with it at other times.",
                "Nobody is online in “%(group)s”, but it has committed offsets on "
                "%(n)s queues: somebody consumes with it at other times.",
                stake.committed,
            )
            % {"group": group, "n": stake.committed}
        )
    if stake.doubt:
        parts.append(
            _("Whether others use “%(group)s” is not certain: %(why)s.")
            % {"group": group, "why": stake.doubt}
        )
    if not parts:
        return ""
    return " ".join([*parts, _waiting_said(stake), _listener_said(listener)])


def _strangers_said(stake: Stake, group: str) -> str:
    count = len(stake.strangers)
    return ngettext(
        "“%(group)s” has %(n)s member that is not hosted here (%(names)s). Hosted "
        "members may take these queues from it: %(queues)s.",
        "“%(group)s” has %(n)s members that are not hosted here (%(names)s). Hosted "
        "members may take these queues from them: %(queues)s.",
        count,
    ) % {
        "group": group,
        "n": count,
        "names": _some(stake.strangers),
        "queues": _some(stake.queues) or _("not known which"),
    }


def _waiting_said(stake: Stake) -> str:
    if stake.waiting is None:
        return _("How many messages wait is not known.")
    count = f"{stake.waiting:,}"
    if stake.at_least:
        return _("Messages that wait now: at least %(n)s.") % {"n": count}
    return _("Messages that wait now: %(n)s.") % {"n": count}


def _listener_said(listener: str) -> str:
    if listener in ("count", "log", "work"):
        text = _(
            "The listener “%(name)s” acknowledges messages without processing them, so "
            "nobody else will get them."
        )
    elif listener == "fail":
        text = _(
            "The listener “%(name)s” processes nothing: it sends messages to the retry "
            "topic and after the last attempt to the dead-letter queue, and "
            "acknowledges the others."
        )
    else:
        text = _("The listener “%(name)s” gets messages instead of them.")
    return text % {"name": listener}


def _doubt_of_group(state: GroupState, now_ms: int) -> str:
    if state["taken_at"] < now_ms - FRESH_MS:
        return _old(state["taken_at"], now_ms)
    if state.get("fault"):
        return _("RocketScope failed to judge it")
    if not state.get("complete", True) or state["totals"]["members"] is None:
        return _("not everything about it is known")
    return ""


def _doubt_of_cluster(overview: Overview | None, problem: Problem, now_ms: int) -> str:
    if overview is None:
        if problem is Problem.NO_CACHE:
            return _("the current state cannot be read")
        return _("the cluster has not been looked at yet")
    if overview["taken_at"] < now_ms - FRESH_MS:
        return _old(overview["taken_at"], now_ms)
    if error := overview.get("error"):
        return _("the cluster cannot be read (%(error)s)") % {"error": error}
    away = [
        each["name"]
        for each in overview["brokers"]
        if not each["answered"] or each.get("state", "answered") != "answered"
    ]
    away += [
        each["address"]
        for each in overview.get("nameservers", ())
        if not each["answered"] or each["unlisted"]
    ]
    if away:
        return _("no full answer from %(names)s") % {"names": _some(away)}
    return ""


def _old(taken_at: int, now_ms: int) -> str:
    seconds = f"{(now_ms - taken_at) // 1000:,}"
    return _("the last look was %(seconds)s s ago") % {"seconds": seconds}


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMES_SHOWN])
    hidden = len(names) - NAMES_SHOWN
    if hidden <= 0:
        return shown
    return _("%(names)s and %(n)s more") % {"names": shown, "n": hidden}
