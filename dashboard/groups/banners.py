"""What a group's page rests on, in words: its banners and the notes of its tiles.

`standing.js` and `tiles.js` of `static/js/groups` say the same in the browser.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.brokers.said import BROKERS_NAMED, say_broker
from dashboard.live.documents import GroupState
from dashboard.wording.numbers import (
    clock,
    count,
    rate,
)
from dashboard.wording.words import plural, word

from .reads import idle_members
from .standing import Standing, Trouble


@dataclass(frozen=True, slots=True)
class SaidTrouble:
    """What is wrong with a broker, for how long, and what that means for its queues."""

    what: str
    span: str
    queues: str


@dataclass(frozen=True, slots=True)
class SaidStanding:
    """The two banners above a group's tabs; empty where there is nothing to say."""

    troubles: Sequence[SaidTrouble]
    rest: str
    fault: str
    fault_rest: str

    @property
    def incomplete(self) -> bool:
        return bool(self.troubles or self.rest)


@dataclass(frozen=True, slots=True)
class TileNotes:
    """What stands under the figures of a group, and why one of them is a dash.

    `rates_partial` says that queues are missing in the rates.
    """

    status: str
    members: str
    queues: str
    lag: str
    lag_grows: bool
    lag_reason: str | None
    oldest_reason: str | None
    rates: str
    rates_partial: bool
    rate_reason: str
    skew: str | None


def say_standing(state: GroupState, standing: Standing, now_ms: int) -> SaidStanding:
    """Return the words of the banners in the language of the request."""
    fault, time = standing.fault, clock(state["taken_at"])
    return SaidStanding(
        troubles=[_trouble(each, now_ms) for each in standing.troubles[:BROKERS_NAMED]],
        rest="" if standing.complete else _rest(standing),
        fault=word("ui", "fault", fault=fault) if fault else "",
        fault_rest=word("ui", "fault_rest", time=time) if fault else "",
    )


def tile_notes(state: GroupState, standing: Standing) -> TileNotes:
    """Return the notes in the language of the request."""
    partial = state["totals"].get("rate_partial", not standing.complete)
    growth = None if partial else _growth(state)
    left_out = _left_out(state, standing)
    return TileNotes(
        status=_status_note(state, standing),
        members=_member_note(state),
        queues=_queue_note(state, standing),
        lag=left_out or _growth_note(growth),
        lag_grows=not left_out and (growth or 0) > 0,
        lag_reason=standing.reason,
        oldest_reason=_oldest_reason(state, standing),
        rates=_rates_note(standing),
        rates_partial=partial,
        rate_reason=standing.reason or "first_sample",
        skew=_skew_reason(state),
    )


def _trouble(trouble: Trouble, now_ms: int) -> SaidTrouble:
    what, span = say_broker(trouble.name, trouble.state, trouble.since, now_ms)
    return SaidTrouble(what, span, _queues_of(trouble))


def _queues_of(trouble: Trouble) -> str:
    said = []
    if trouble.old:
        said.append(plural("banner_old", trouble.old))
    if trouble.old and trouble.last_lag is not None:
        said.append(word("ui", "banner_lag", lag=count(trouble.last_lag)))
    if trouble.never:
        said.append(plural("banner_never", trouble.never))
    if trouble.answers and not said:
        said.append(word("ui", "banner_answers"))
    return " ".join(said)


def _rest(standing: Standing) -> str:
    more = len(standing.troubles) - BROKERS_NAMED
    said = [plural("banner_more", more)] if more > 0 else []
    if not standing.troubles:
        said.append(word("ui", "banner_part"))
    held = standing.held
    said.append(
        word("ui", "banner_held", time=clock(held["as_of"]), until=clock(held["until"]))
        if held
        else word("ui", "banner_judged")
    )
    return " ".join(said)


def _status_note(state: GroupState, standing: Standing) -> str:
    totals = state["totals"]
    if state["kind"] == "owned" and totals["unowned"]:
        return word("ui", "of_queues", n=totals["unowned"], all=totals["queues"])
    if standing.unseen:
        return word("ui", "judged_on", n=standing.fresh, all=standing.queues)
    return word("kind", state["kind"])


def _member_note(state: GroupState) -> str:
    idle = idle_members(state)
    missing = sum(bool(member.get("missing_since")) for member in state["members"])
    said = [
        word("ui", "n_missing", n=missing) if missing else "",
        word("ui", "n_idle", n=idle) if idle else "",
    ]
    return " · ".join(filter(None, said))


def _queue_note(state: GroupState, standing: Standing) -> str:
    totals = state["totals"]
    owned, unowned = totals["owned"], totals["unowned"]
    waiting = state["kind"] == "owned" and unowned
    if standing.unseen:
        said = [
            word("ui", "n_waiting", n=unowned)
            if waiting
            else word("ui", "n_fresh", n=standing.fresh),
            word("ui", "n_old", n=standing.old) if standing.old else "",
            word("ui", "n_never", n=standing.never) if standing.never else "",
        ]
        return " · ".join(filter(None, said))
    if state["kind"] != "owned":
        return ""
    if waiting:
        return word("ui", "owned_unowned", owned=owned, unowned=unowned)
    key = "all_owned" if owned == totals["queues"] else "owned_known"
    return word("ui", key, owned=owned)


def _left_out(state: GroupState, standing: Standing) -> str:
    """Say what the sum of the lag leaves out."""
    totals, lags = state["totals"], standing.last_lags
    if len(lags) == 1:
        return word("ui", "broker_had", name=lags[0][0], lag=count(lags[0][1]))
    if lags:
        lag = count(sum(lag for _name, lag in lags))
        return word("ui", "brokers_had", n=len(lags), lag=lag)
    known, queues = totals.get("queues_known"), totals["queues"]
    # All that are known of, where a broker that was never heard may have more.
    if totals["lag_partial"] and known is not None and known < queues:
        return word("ui", "queues_known", n=known, all=queues)
    return ""


def _oldest_reason(state: GroupState, standing: Standing) -> str | None:
    """Return why no age is known; the queues that have messages say so."""
    if state["totals"]["lag"] is None:
        return standing.reason
    unknown = (
        queue["unknown"].get("lag_ms")
        for queue in state["queues"]
        if queue["lag"] != 0 and queue["lag_ms"] is None
    )
    return next(unknown, None)


def _growth(state: GroupState) -> float | None:
    """Return by how much the lag grows each second, where that is worth a word."""
    rate_in, rate_out = state["totals"]["rate_in"], state["totals"]["rate_out"]
    if rate_in is None or rate_out is None or abs(rate_in - rate_out) < 1:
        return None
    return rate_in - rate_out


def _growth_note(growth: float | None) -> str:
    if growth is None:
        return ""
    return f"{'▲ +' if growth > 0 else '▼ −'}{rate(abs(growth))}/s"


def _rates_note(standing: Standing) -> str:
    names = standing.answering
    if len(names) == standing.brokers:
        return ""
    if len(names) == 1:
        return word("ui", "broker_only", name=names[0])
    return word("ui", "of_brokers", n=len(names), all=standing.brokers)


def _skew_reason(state: GroupState) -> str | None:
    if state["kind"] != "owned":
        return "shared"
    if state["totals"]["skew"] is not None:
        return None
    nothing = state["totals"]["lag"] == 0 and not state["totals"]["lag_partial"]
    return "no_lag" if nothing else "not_every_queue"
