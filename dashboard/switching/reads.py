"""Previews of applying a scenario, and the progress of changes that were applied.

A preview is computed from the newest document of the group each time it is shown. Its
`token` stands for everything it depends on: applying a change needs the token, and if
the group has changed since the preview, nothing is applied and a new one is required.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

import orjson
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard.fleet.windows import Windows, windows_of
from dashboard.live.documents import GroupState
from dashboard.models import GroupChange, ManagedGroup
from dashboard.whatif.desired import Desired, desired_of
from dashboard.whatif.forms import known_scenario
from dashboard.whatif.model import (
    NOW,
    STRATEGY_NAMES,
    Comparison,
    Figures,
    Mixing,
    Situation,
    compare,
    from_lists,
    mixing,
    read_situation,
)
from dashboard.whatif.model.options import prepare
from dashboard.whatif.reads import chosen_row, read_scenario
from dashboard.wording.names import member_number
from rmqcore.allocation import DEFAULT_STRATEGY
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue

MAX_PREDICTED: Final = 1_000_000
SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class Transfer:
    """How many queues go from one member to another; None stands for nobody."""

    giver: str | None
    taker: str | None
    queues: int


@dataclass(frozen=True, slots=True)
class Preview:
    """One row of a comparison as a change to be made.

    `desired` is None if the change cannot be applied here, and `refusal` says why;
    `refusal` is empty for a group that is not hosted here. If nothing is divided,
    because the group has no members or no queues, `then` is the same as `now`.
    """

    comparison: Comparison
    query: str
    row: str
    now: Figures
    then: Figures
    transfers: Sequence[Transfer]
    mixing: Mixing
    desired: Desired | None
    windows: Windows | None
    refusal: str
    token: str

    @property
    def changed(self) -> int:
        """How many queues change their owner, as far as that is known."""
        return len(self.then.changed)


def preview_of(
    state: GroupState, group: ManagedGroup | None, query: str, *, show: str = ""
) -> Preview:
    """Return what a scenario's chosen row would do to a group.

    Raise ArgumentError for a scenario that cannot be read or computed.
    """
    scenario, shown = read_scenario(query)
    situation = read_situation(state)
    scenario = known_scenario(scenario, group, situation)
    comparison = compare(situation, scenario)
    row = _row_of(comparison, show or shown)
    now = comparison.rows[0].figures
    then = comparison.row(row).figures or now
    assert now is not None and then is not None  # noqa: PT018, S101 - now always has
    desired, refusal = None, ""
    if group is not None:
        try:
            desired = _desired(state, group, comparison, row)
        except ArgumentError as error:
            refusal = str(error)
    return Preview(
        comparison,
        query,
        row,
        now,
        then,
        () if then is now else _transfers(then),
        mixing(then),
        desired,
        None if group is None else _windows(group, desired),
        refusal,
        _token(state, group, desired),
    )


def _desired(
    state: GroupState, group: ManagedGroup, comparison: Comparison, row: str
) -> Desired:
    """Return the desired state; raise ArgumentError if nothing can be applied."""
    check_known(comparison.before)
    check_settled(state, group)
    if not _divides(comparison):
        raise ArgumentError(_("There is nothing to divide."))
    numbers = list(group.members.values_list("number", flat=True))
    return desired_of(comparison, row, group=group.name, numbers=numbers)


def _row_of(comparison: Comparison, asked: str) -> str:
    """Return the row to preview: the one asked for, else the group's own.

    Raise ArgumentError if its options are refused, or if it cannot be computed although
    there is something to divide.
    """
    # A reported name may carry the strategy inside it: MACHINE_ROOM_NEARBY-AVG.
    named = asked.partition("-")[0]
    if named == NOW:
        raise ArgumentError(f"{NOW} is how the group divides: there is nothing to do")
    if not named:
        named = chosen_row(comparison, "")
    if not _divides(comparison):
        key = DEFAULT_STRATEGY if named == NOW else comparison.row(named).key
        if key in STRATEGY_NAMES:
            # Nothing is divided, so contradictory options have not been refused yet.
            prepare(key, comparison.scenario, comparison.after)
        return key
    found = comparison.row(named)
    if found.figures is None:
        params = found.reason.params if found.reason else ()
        why = ", ".join(f"{name}: {value}" for name, value in params)
        raise ArgumentError(f"{named} cannot be computed for this scenario ({why})")
    return found.key


def _divides(comparison: Comparison) -> bool:
    """Return whether there are members, and queues to divide among them."""
    return bool(comparison.after.members and comparison.after.queues)


def check_known(situation: Situation) -> None:
    """Raise ArgumentError while not all of a group is known.

    Nobody can tell what would happen to the queues of a broker that does not answer,
    nor what is happening to them now.
    """
    if situation.complete:
        return
    names = ", ".join(each.broker for each in situation.missing)
    since = min((s for each in situation.missing if (s := each.since_ms)), default=None)
    if not names:
        raise ArgumentError(
            _(
                "Not everything about this group is known, so nobody can tell "
                "what would happen to it. Wait until it is known, then look at "
                "the preview again."
            )
        )
    if since is None:
        raise ArgumentError(
            _(
                "%(brokers)s: no full answer, so nobody can tell what would "
                "happen to the queues there. Wait until it answers or is "
                "declared gone for good, then look at the preview again."
            )
            % {"brokers": names}
        )
    raise ArgumentError(
        _(
            "%(brokers)s: no full answer since %(time)s, so nobody can tell "
            "what would happen to the queues there. Wait until it answers or "
            "is declared gone for good, then look at the preview again."
        )
        % {"brokers": names, "time": _clock(since)}
    )


def check_settled(state: GroupState, group: ManagedGroup) -> None:
    """Raise ArgumentError while the members present are not the members wanted.

    A prediction for members that are about to leave would not come true.
    """
    wanted = set(group.members.filter(wanted=True).values_list("client_id", flat=True))
    present = {member["client_id"] for member in state["members"]}
    hosted = {each for each in present if member_number(each, group.name) is not None}
    if hosted != wanted:
        raise ArgumentError(
            f"members of {group.name!r} are joining or leaving just now: "
            f"{len(wanted)} are wanted, {len(hosted & wanted)} of them are there"
        )


@dataclass(frozen=True, slots=True)
class Miss:
    """A queue whose owners are not those predicted."""

    queue: MessageQueue
    predicted: Sequence[str]
    reported: Sequence[str]


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a change, as members report it.

    `state` is "running" until all members report the strategy and all queues are held
    as predicted (unless nothing was predicted, as when a change is undone); "replaced"
    once the group has been changed again. The owners of `unheard` queues are not
    reported, so these queues count neither as predicted nor as missed.
    """

    state: Literal["running", "done", "replaced", "unknown"]
    strategy: str
    members: int
    switched: int
    queues: int
    as_predicted: int
    misses: Sequence[Miss]
    unheard: int = 0

    @property
    def mixed(self) -> bool:
        """True while some members report the new strategy and some another."""
        return 0 < self.switched < self.members


def progress_of(change: GroupChange, state: GroupState | None) -> Progress:
    """Compare the division predicted for a change with what members report."""
    strategy = change.after["strategy"]
    predicted = from_lists("predicted", change.predicted, limit=MAX_PREDICTED)
    expected = {
        queue: client_id for client_id, queues in predicted.items() for queue in queues
    }
    if state is None:
        return Progress("unknown", strategy, 0, 0, len(expected), 0, ())
    group = change.group.name
    reported = _reported(state)
    misses = _misses(expected, reported, group) if expected else []
    unheard = len(expected.keys() - reported.keys())
    reporting = [m["strategy"] for m in state["members"] if m["strategy"] is not None]
    switched = sum(_same_strategy(each, strategy) for each in reporting)
    members = len(state["members"])
    followed = switched == members == len(change.after["members"])
    done = followed and not (misses or unheard)
    replaced = change.group.revision != change.revision
    return Progress(
        "done" if done else "replaced" if replaced else "running",
        strategy,
        members,
        switched,
        len(expected),
        len(expected) - unheard - sum(miss.queue in expected for miss in misses),
        misses[:SHOWN],
        unheard,
    )


def _reported(state: GroupState) -> dict[MessageQueue, list[str]]:
    """Return the owners of each queue for which members report them."""
    return {
        MessageQueue(row["topic"], row["broker"], row["queue_id"]): row["owners"]
        for row in state["queues"]
        if row["owner_source"] == "reported"
    }


def _misses(
    expected: Mapping[MessageQueue, str],
    reported: Mapping[MessageQueue, list[str]],
    group: str,
) -> list[Miss]:
    """Return the queues not held as predicted; members are identified by number."""
    found = []
    for queue, client_id in expected.items():
        owners = reported.get(queue)
        if owners is None:
            continue
        if [_who(each, group) for each in owners] != [_who(client_id, group)]:
            found.append(Miss(queue, (client_id,), tuple(owners)))
    found.extend(
        Miss(queue, (), tuple(owners))
        for queue, owners in reported.items()
        if owners and queue not in expected
    )
    return found


def _who(client_id: str, group: str) -> str | int:
    """Return a member's number: its client id changes when another worker hosts it."""
    number = member_number(client_id, group)
    return client_id if number is None else number


def _same_strategy(reported: str | None, wanted: str) -> bool:
    """Compare strategies as clients report them, without the one nested in a room's."""
    return (reported or "").partition("-")[0] == wanted.partition("-")[0]


def _transfers(then: Figures) -> list[Transfer]:
    counts: Counter[tuple[str | None, str | None]] = Counter()
    for move in then.moves(then.changed):
        for giver in move.from_clients or (None,):
            for taker in move.to_clients or (None,):
                if giver != taker:
                    counts[giver, taker] += 1
    ranked = sorted(
        counts.items(), key=lambda each: (-each[1], str(each[0][0]), str(each[0][1]))
    )
    return [Transfer(giver, taker, queues) for (giver, taker), queues in ranked]


def _clock(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return f"{timezone.localtime(moment):%H:%M:%S}"


def _windows(group: ManagedGroup, desired: Desired | None) -> Windows:
    members_change = desired is None or bool(desired.joining or desired.leaving)
    return windows_of(orderly=group.orderly, members_change=members_change)


def _token(
    state: GroupState, group: ManagedGroup | None, desired: Desired | None
) -> str:
    if group is None or desired is None:
        return ""
    seen: Collection[Any] = (
        group.pk,
        group.revision,
        sorted(member["client_id"] for member in state["members"]),
        desired.state,
        desired.predicted,
    )
    text = orjson.dumps(seen, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()[:32]
