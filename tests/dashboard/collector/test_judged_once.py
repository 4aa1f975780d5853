"""State, findings and tiles of one document tell the same: they are one judgement."""

from __future__ import annotations

from typing import Any

from dashboard.collector.epochs import EpochBook
from dashboard.collector.group_document import group_document
from dashboard.collector.group_watch import GroupWatch, Look
from dashboard.collector.overview_document import overview_row
from dashboard.collector.status import WORDS
from dashboard.collector.trend import LagTrend
from dashboard.live.documents import GroupState
from dashboard.live.numbering import Stamp
from rmqcore.model.columns import Reason

from .sights import NOW, broker, group, keys, member, standing, table

QUEUES = keys(4)
BEGIN = 10_000


class Watched:
    """A group of two members, looked at every ten seconds."""

    def __init__(self) -> None:
        self.watch = GroupWatch(EpochBook())
        self.at_ms = NOW
        self.high: list[Any] = [BEGIN] * 4
        self.done: list[Any] = [BEGIN - 400] * 4
        self.held = (QUEUES[:2], QUEUES[2:])

    def look(self, flow_in: int = 0, flow_out: int = 0) -> GroupState:
        self.at_ms += 10_000
        self.high = [high + flow_in * 10 for high in self.high]
        self.done = [
            done if isinstance(done, Reason) else done + flow_out * 10
            for done in self.done
        ]
        seen = group(
            table(QUEUES, high=self.high, committed=self.done),
            [
                member("c1", self.held[0], strategy="AVG", topics=["orders"]),
                member("c2", self.held[1], strategy="AVG", topics=["orders"]),
            ],
            expected=["c1", "c1", "c2", "c2"],
        )
        sight = self.watch.see(
            Look("east", seen, standing(broker()), self.at_ms, asked=True)
        ).sight
        assert sight is not None
        document = group_document(sight, Stamp("r", 1))
        row = overview_row(sight, LagTrend())
        assert row["status"] == document["status"]
        assert [mark["key"] for mark in row["findings"]] == [
            finding["key"] for finding in document["findings"]
        ]
        return document


def agrees(document: GroupState) -> str:
    """Return the state's word after holding it, and all sums, against the findings."""
    found = {finding["key"]: finding for finding in document["findings"]}
    word, totals = document["status"]["word"], document["totals"]
    for key, state in (*WORDS.items(), ("stalled", "stalled")):
        if word == state:
            assert key in found
    if "losing_ground" in found:
        said = {**dict(found["losing_ground"]["evidence"]), "lag": totals["lag"]}
        assert found["losing_ground"]["values"]["lag"] == totals["lag"]
        partly = "lag" in found["losing_ground"].get("at_least", [])
        assert partly == totals["lag_partial"]
        assert said.get("in_rate", totals["rate_in"]) == totals["rate_in"]
        assert said.get("out_rate", totals["rate_out"]) == totals["rate_out"]
        if document["status"]["level"] == "warn":
            assert word == "falling_behind"
    if "unowned_queues" in found:
        assert found["unowned_queues"]["queue_count"] == totals["unowned"]
    return word


def test_falling_behind_begins_and_ends_with_the_finding() -> None:
    watched = Watched()
    words = [agrees(watched.look(100, 100)) for _ in range(15)]
    assert set(words) == {"unknown", "healthy"}
    assert words.index("healthy") == 1
    words = [agrees(watched.look(100, 60)) for _ in range(15)]
    began = words.index("falling_behind")
    assert began <= 8
    assert set(words[began:]) == {"falling_behind"}
    words = [agrees(watched.look(100, 180)) for _ in range(30)]
    ended = words.index("catching_up")
    assert ended <= 7
    assert "falling_behind" not in words[ended:]


def test_stalled_begins_with_the_finding_and_stays() -> None:
    watched = Watched()
    for _ in range(15):
        agrees(watched.look(100, 100))
    words = [agrees(watched.look(100, 0)) for _ in range(15)]
    began = words.index("stalled")
    assert 8 <= began <= 10
    assert set(words[began:]) == {"stalled"}


def test_no_owner_is_told_with_the_finding_of_the_same_queues() -> None:
    watched = Watched()
    watched.held = (QUEUES[:2], QUEUES[2:3])
    words = [agrees(watched.look(100, 100)) for _ in range(3)]
    assert words[-1] == "no_owner"


def test_lag_that_is_known_in_part_is_marked_in_both() -> None:
    watched = Watched()
    for _ in range(3):
        agrees(watched.look(100, 100))
    watched.done[3] = Reason.NOTHING_COMMITTED
    words = [agrees(watched.look(100, 40)) for _ in range(12)]
    assert words[-1] == "falling_behind"


def test_nothing_is_healthy_that_lags_and_was_seen_only_once() -> None:
    document = Watched().look()
    assert document["status"] == {"level": "unk", "word": "unknown"}
