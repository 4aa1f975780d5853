"""How much of a group's document is fresh, how much is old, and why.

`static/js/groups/standing.js` works out the same for updates. Documents of an older
version lack some fields: a broker is then known to have answered or not, and no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.live.documents import (
    BrokerAge,
    BrokerCondition,
    GroupState,
    Held,
    Queue,
)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A broker of a group that is not listed, or does not answer everything itself.

    Of its queues `old` show a value from before, and of `never` nothing was ever known.
    `last_lag` is what waited in those that are not known now.
    """

    name: str
    state: BrokerCondition
    answers: bool
    since: int | None
    queues: int
    old: int
    never: int
    last_lag: int | None


@dataclass(frozen=True, slots=True)
class Standing:
    """What a group's page rests on.

    `as_of` is the moment of the status and the findings where they stand still, else
    None. `answering` names the brokers that answered everything themselves.
    """

    complete: bool
    fresh: int
    old: int
    never: int
    troubles: Sequence[Trouble]
    answering: Sequence[str]
    brokers: int
    held: Held | None
    fault: str | None
    as_of: int | None

    @property
    def unseen(self) -> int:
        """Queues of which nothing is known now."""
        return self.old + self.never

    @property
    def queues(self) -> int:
        return self.fresh + self.unseen

    @property
    def reason(self) -> str | None:
        """Why nothing at all is known now; None where something is."""
        if self.fresh or not self.troubles:
            return None
        return "missing" if self.troubles[0].state == "missing" else "no_answer"

    @property
    def last_lags(self) -> list[tuple[str, int]]:
        """Brokers with what waited there, where that is not known now."""
        return [
            (trouble.name, trouble.last_lag)
            for trouble in self.troubles
            if trouble.last_lag is not None
        ]


def standing_of(state: GroupState) -> Standing:
    old: Counter[str] = Counter()
    never: Counter[str] = Counter()
    for queue in state["queues"]:
        old[queue["broker"]] += is_old(queue)
        never[queue["broker"]] += is_never(queue)
    troubles = [
        _trouble(broker, state, old[broker["name"]], never[broker["name"]])
        for broker in state["brokers"]
        if broker_state(broker) != "answered"
    ]
    unseen = old.total() + never.total()
    held, fault = state.get("held"), state.get("fault")
    return Standing(
        complete=state.get("complete", not troubles),
        fresh=len(state["queues"]) - unseen,
        old=old.total(),
        never=never.total(),
        troubles=troubles,
        answering=[b["name"] for b in state["brokers"] if answers(b)],
        brokers=len(state["brokers"]),
        held=held,
        fault=fault,
        as_of=held["as_of"] if held else state["taken_at"] if fault else None,
    )


def is_old(queue: Queue) -> bool:
    """Say whether what is shown of a queue is what was known before."""
    return queue.get("last") is not None


def is_never(queue: Queue) -> bool:
    """Say whether nothing is known of a queue, and nothing was."""
    return queue["max"] is None and not is_old(queue)


def broker_state(broker: BrokerAge) -> BrokerCondition:
    return broker.get("state") or ("answered" if broker["answered"] else "silent")


def answers(broker: BrokerAge) -> bool:
    """Say whether a broker answered everything itself, listed or not."""
    return broker["answered"] and broker_state(broker) in {"answered", "missing"}


def _trouble(broker: BrokerAge, state: GroupState, old: int, never: int) -> Trouble:
    name = broker["name"]
    queues = broker.get("queues")
    if queues is None:
        queues = sum(queue["broker"] == name for queue in state["queues"])
    since = broker.get("since")
    if "state" not in broker and broker["age_ms"] is not None:
        since = state["taken_at"] - broker["age_ms"]
    return Trouble(
        name=name,
        state=broker_state(broker),
        answers=answers(broker),
        since=since,
        queues=queues,
        old=old,
        never=never,
        last_lag=broker.get("last_lag"),
    )
