from __future__ import annotations

from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from dashboard.collector.topic_groups import TopicGroups
from dashboard.collector.topics_document import GROUPS_LISTED, TopicBook
from dashboard.live.documents import OverviewRow, Status
from dashboard.live.topic_documents import TopicRow
from rmqcore.model import Perm, QueueData
from rmqcore.model.columns import Column, Reason
from rmqcore.model.mapping import LogicalPiece, LogicQueueMappingItem
from rmqcore.model.snapshot import (
    ClusterSnapshot,
    GroupSnapshot,
    TopicKind,
    TopicSnapshot,
)
from tests.dashboard.collector.sights import (
    NOW,
    cluster,
    group,
    keys,
    member,
    sight,
    table,
)
from tests.dashboard.documents import overview_row

HEALTHY: Status = {"level": "ok", "word": "healthy"}
STALLED: Status = {"level": "crit", "word": "stalled"}
RW = Perm.READ | Perm.WRITE
STEP = 10_000


def topic(
    a: list[int | Reason],
    b: list[int | Reason],
    *,
    name: str = "orders",
    kind: TopicKind = TopicKind.NORMAL,
    types: tuple[str | None, str | None] = (None, None),
) -> TopicSnapshot:
    brokers = {
        "a": QueueData("a", len(a), len(a), RW, message_type=types[0]),
        "b": QueueData("b", len(b), len(b), RW, message_type=types[1]),
    }
    return TopicSnapshot(
        name,
        kind,
        keys(len(a), name, "a") + keys(len(b), name, "b"),
        Column.of([each if isinstance(each, Reason) else 0 for each in a + b]),
        Column.of(a + b),
        brokers,
    )


def sweep(step: int, *topics: TopicSnapshot) -> ClusterSnapshot:
    return replace(
        cluster(),
        taken_at_ms=NOW + step * STEP,
        topics={each.name: each for each in topics},
        system_topics={"TBW102": {"a": QueueData("a", 8, 8, RW)}},
    )


def test_a_topic_that_nobody_reads_needs_the_first_look() -> None:
    book = TopicBook("east")
    book.take(sweep(0, topic([0], [0])), {}, {})
    document = book.take(sweep(1, topic([100], [200])), {}, {})
    row, system = document["topics"][1], document["topics"][0]
    assert row["status"] == {"level": "crit", "word": "no_consumer"}
    assert (row["rate_in"], row["queues"], row["held"]) == (30.0, 2, 300)
    assert [each["rate"] for each in row["brokers"]] == [[10.0], [20.0]]
    assert (system["topic"], system["kind"]) == ("TBW102", "system")
    assert system["rate_in"] is None


def reading(count: int) -> tuple[list[GroupSnapshot], Any, Any]:
    """Groups of the topic `orders`, of which only the last is online."""
    groups, watches, rows = [], {}, {}
    for number in range(count):
        online = [member("one")] if number == count - 1 else []
        each = group(table(keys(1)), online, name=f"g{number:03}")
        level = "ok" if online else "warn"
        groups.append(each)
        watches[each.name] = SimpleNamespace(sight=sight(each))
        rows[each.name] = overview_row(
            each.name, members=len(online), status={"level": level, "word": "unknown"}
        )
    return groups, watches, rows


def test_a_topic_is_read_by_a_group_that_is_not_listed() -> None:
    groups, watches, rows = reading(GROUPS_LISTED + 10)
    book = TopicBook("east")
    for step, high in enumerate((0, 100)):
        at = replace(
            sweep(step, topic([high], [high])),
            groups={each.name: each for each in groups},
        )
        row = book.take(at, watches, rows)["topics"][1]
    assert row["rate_in"]
    assert row["status"]["word"] == "healthy"
    assert (len(row["groups"]), row["group_count"]) == (50, 60)
    assert not any(each["reads"] for each in row["groups"])


def test_nobody_is_said_to_read_nothing_before_all_groups_were_looked_at() -> None:
    groups, _watches, _rows = reading(1)
    book = TopicBook("east")
    for step, high in enumerate((0, 100)):
        at = replace(sweep(step, topic([high], [high])), groups={"g000": groups[0]})
        row = book.take(at, {}, {})["topics"][1]
    assert row["status"]["word"] == "half_known"
    assert row["groups_known"] is False


def test_the_oldest_message_of_a_topic_may_be_older_while_ages_lack() -> None:
    at = {"orders": 30_000, "other": 0}
    rows = {"g": overview_row("g", oldest_partial=True)}
    for topics in (["orders"], ["orders", "other"]):
        queues = [key for name in topics for key in keys(2, name)]
        ages = [at[name] if row else Reason.NOT_ASKED for name, _b, row in queues]
        waiting = table(queues, committed=[90] * len(queues), lag_ms=ages)
        seen = group(waiting, [member("one")])
        watches: Any = {"g": SimpleNamespace(sight=sight(seen))}
        now = replace(sweep(0, topic([0], [0])), groups={"g": seen})
        row = TopicBook("east").take(now, watches, rows)["topics"][1]
        assert (row["oldest_ms"], row["oldest_partial"]) == (30_000, True)
        assert row["groups"][0]["partial"] is False


def test_nobody_is_said_to_read_nothing_while_a_broker_is_silent() -> None:
    book = TopicBook("east")
    for step, high in enumerate((0, 100)):
        half = topic([high], [Reason.NO_ANSWER])
        row = book.take(sweep(step, half), {}, {})["topics"][1]
    assert row["rate_in"]
    assert row["status"] == {"level": "unk", "word": "half_known"}


def test_a_broker_that_is_away_keeps_its_last_values_out_of_the_sums() -> None:
    book = TopicBook("east")
    book.take(sweep(0, topic([0], [0])), {}, {})
    book.take(sweep(1, topic([100], [200])), {}, {})
    for step in (2, 3):
        gone = topic([200], [Reason.NO_ANSWER])
        row = book.take(sweep(step, gone), {}, {})["topics"][1]
    away = row["brokers"][1]
    assert (away["reason"], away["max"], away["rate"]) == ("no_answer", [200], [None])
    assert away["as_of"] == NOW + STEP
    assert row["rate_partial"] is True
    assert row["held"] is None
    assert row["skew"] is None


def test_the_next_leader_has_rates_at_once_and_the_last_values() -> None:
    first = TopicBook("east")
    left = first.take(sweep(0, topic([0], [0])), {}, {})
    book = TopicBook("east")
    book.restore(left)
    row = book.take(sweep(1, topic([100], [Reason.NO_ANSWER])), {}, {})["topics"][1]
    assert row["brokers"][0]["rate"] == [10.0]
    assert row["brokers"][1]["as_of"] == NOW


def test_types_and_queue_counts_that_differ_are_named() -> None:
    odd = topic([1, 1], [1], types=("FIFO", None))
    row = TopicBook("east").take(sweep(0, odd), {}, {})["topics"][1]
    assert row["differs"] == ["readQueueNums", "writeQueueNums", "message.type"]
    assert row["message_type"] is None
    assert row["status"]["word"] == "brokers_differ"


def test_dead_letters_that_came_within_the_hour_fill_their_topic() -> None:
    book = TopicBook("east")
    name, kind = "%DLQ%billing", TopicKind.DEAD_LETTER
    book.take(sweep(0, topic([0], [0], name=name, kind=kind)), {}, {})
    row = book.take(sweep(1, topic([9], [0], name=name, kind=kind)), {}, {})["topics"][
        0
    ]
    assert (row["kind"], row["status"]["word"]) == ("dlq", "filling")


def static(end: int | None, begin: int | None = 10_000) -> TopicSnapshot:
    """A logical queue that has moved from b to a, and one that nobody has."""
    name = "__syslo__global__"
    old = LogicalPiece(LogicQueueMappingItem(0, 1, "b", 0), 5, 40)
    new = LogicalPiece(LogicQueueMappingItem(1, 0, "a", begin), 0, end)
    high = Reason.NO_ANSWER if end is None else 10_000 + end
    return TopicSnapshot(
        "orders",
        TopicKind.NORMAL,
        keys(1, "orders", name),
        Column.of([5]),
        Column.of([high]),
        {"a": QueueData("a", 1, 1, RW), "b": QueueData("b", 2, 2, RW)},
        ((old, new),),
    )


def row_of(book: TopicBook, step: int, seen: TopicSnapshot) -> TopicRow:
    return book.take(sweep(step, seen), {}, {})["topics"][1]


def test_a_static_topic_is_counted_in_messages_and_not_in_offsets() -> None:
    book = TopicBook("east")
    first = row_of(book, 0, static(0))
    row = row_of(book, 1, static(100))
    (queues,) = row["brokers"]
    assert (queues["name"], queues["read"], queues["ids"]) == (
        "__syslo__global__",
        1,
        [0],
    )
    assert (first["held"], row["held"], queues["held"]) == (35, 135, [135])
    assert queues["max"] == [10_100]
    assert row["rate_in"] == 10.0
    assert row["leaders"] == {"a": 1, "b": 0}
    assert row["differs"] == []


def test_a_move_of_a_logical_queue_is_no_traffic() -> None:
    book = TopicBook("east")
    only = static(0)
    before = replace(only, pieces=(only.pieces[0][:1],), max=Column.of([40]))
    row_of(book, 0, before)
    assert row_of(book, 1, static(0))["rate_in"] == 0.0


def test_a_logical_queue_whose_leader_is_silent_is_not_known() -> None:
    book = TopicBook("east")
    row_of(book, 0, static(100))
    row = row_of(book, 1, static(None))
    (queues,) = row["brokers"]
    assert (row["held"], row["rate_in"], queues["reason"]) == (None, None, "no_answer")
    assert (queues["max"], queues["held"]) == ([10_100], [None])
    assert row["status"]["word"] == "half_known"


def numbers(chance: Random, most: int) -> list[int | Reason]:
    """What a broker tells of two queues, at times nothing."""
    if chance.random() < 0.1:
        return [Reason.NO_ANSWER] * 2
    return [chance.randrange(most), most]


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_are_kept_are_the_same_as_made_anew(seed: int) -> None:
    chance, step = Random(seed), 0
    kept, anew = TopicBook("east"), TopicBook("east")
    topics = {
        name: topic([5, 5], [5, 5], name=name, kind=kind)
        for name, kind in (
            *(("orders", TopicKind.NORMAL), ("logs", TopicKind.NORMAL)),
            ("%DLQ%g", TopicKind.DEAD_LETTER),
        )
    }
    watches: dict[str, Any] = {}
    rows: dict[str, OverviewRow] = {}
    there: dict[str, GroupSnapshot] = {}
    for _ in range(150):
        step += chance.choice((1,) * 9 + (20,))
        name, reader = chance.choice(list(topics)), chance.choice("gh")
        match chance.randrange(12):
            case 0:
                told = numbers(chance, step * 400), numbers(chance, step * 10)
                topics[name] = topic(*told, name=name, kind=topics[name].kind)
            case 1:
                queues = keys(2, chance.choice(("orders", "logs")))
                done = [chance.choice((100, 90))] * 2
                seen = table(queues, committed=done, lag_ms=[step, Reason.NOT_ASKED])
                there[reader] = group(seen, [member("one")], name=reader)
            case 2:
                status = chance.choice((HEALTHY, STALLED))
                rows[reader] = overview_row(reader, status=status, members=1)
            case 3:
                for each in (watches, rows, there):
                    each.pop(reader, None)
            case 4:
                watches = {n: SimpleNamespace(sight=sight(g)) for n, g in there.items()}
        at = replace(sweep(step, *topics.values()), groups=dict(there))
        anew._still.clear()
        anew._groups = TopicGroups()
        # Dumped, as rows that are kept take in what is new.
        document = orjson.dumps(kept.take(at, watches, rows))
        assert document == orjson.dumps(anew.take(at, watches, rows))
