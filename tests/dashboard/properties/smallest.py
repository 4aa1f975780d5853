"""The smallest histories in which an invariant was once not kept, by what happens."""

from __future__ import annotations

from typing import Final

from tests.support.strange.events import Appeared, Produced, Vanished
from tests.support.strange.histories import Fault, History, NameServer, Step
from tests.support.strange.truth import BROADCASTING, Group, Process, Topic, Truth

TWO_BROKERS: Final = Truth(
    {"a": {"t": Topic(((0, 10),))}, "b": {"t": Topic(((0, 10),))}},
    {
        "g": Group(
            "g",
            (Process("c1", {"t": "*"}, (("t", "a", 0), ("t", "b", 0))),),
            {("t", "a", 0): 4, ("t", "b", 0): 4},
        )
    },
)
OFFLINE: Final = Truth(
    {"a": {"t": Topic(((0, 10),))}, "b": {"t": Topic(((0, 10),))}},
    {"g": Group("g", (), {("t", "b", 0): 4})},
)
LISTED_SHORT: Final = OFFLINE.with_topic("b", "t", Topic(((0, 10), (0, 10)), listed=1))
ONE_QUEUE: Final = Group("g", (), {("u", "a", 0): 4})
UNNAMED: Final = {0: NameServer(lacks=("b",)), 1: NameServer(lacks=("b",))}
SILENT: Final = {"b": Fault("silent")}


def _with_modes(mode: str) -> Truth:
    group = TWO_BROKERS.groups["g"]
    return TWO_BROKERS.with_group(
        Group("g", group.processes, group.committed, mode_at={"b": mode})
    )


SMALLEST: Final = {
    "a broker is not named any more": History(
        TWO_BROKERS, (Step(), Step(naming=UNNAMED))
    ),
    "one name server lacks a broker": History(
        TWO_BROKERS, (Step(naming={0: NameServer(lacks=("b",))}),)
    ),
    "the name server that answered last is down": History(
        TWO_BROKERS,
        (Step(), Step(naming={0: NameServer(down=True), 1: NameServer(lacks=("b",))})),
    ),
    "a broker is silent from the beginning": History(
        TWO_BROKERS, (Step(faults=SILENT),)
    ),
    # The first silent look is taken for lateness; the second one tells.
    "a broker falls silent": History(
        TWO_BROKERS, (Step(), Step(faults=SILENT), Step(faults=SILENT))
    ),
    "a broker of a group without members falls silent": History(
        OFFLINE, (Step(), Step(faults=SILENT), Step(faults=SILENT))
    ),
    "a topic has more queues than its listing says when its broker falls silent": (
        History(LISTED_SHORT, (Step(), Step(faults=SILENT), Step(faults=SILENT)))
    ),
    "a queue of a member was never committed": History(
        Truth(
            {"a": {"t": Topic(((0, 10), (0, 10)))}},
            {
                "g": Group(
                    "g",
                    (Process("c1", {"t": "*"}, (("t", "a", 0), ("t", "a", 1))),),
                    {("t", "a", 0): 4},
                )
            },
        ),
        (Step(),),
    ),
    "brokers know a group in two modes": History(_with_modes(BROADCASTING), (Step(),)),
    "a group is deleted while the lead changes": History(
        TWO_BROKERS, (Step(), Step((Vanished("g"),), "handed over"))
    ),
    "a look at a group overtakes a sweep": History(
        TWO_BROKERS,
        (
            Step(),
            Step(look="overtaken"),
            Step((Vanished("g"), Appeared(ONE_QUEUE)), "watched", 1),
        ),
    ),
    "the keys of two queues are one text": History(
        Truth(
            {
                "b|c": {"a": Topic(((0, 10),))},
                "c": {"a|b": Topic(((0, 20),))},
            },
            {"g": Group("g", (), {("a", "b|c", 0): 1, ("a|b", "c", 0): 2})},
        ),
        (Step(), Step((Produced(1),), "watched", 2), Step((Produced(1),), after_s=2)),
    ),
}
