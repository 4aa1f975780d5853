import pytest

from rmqcore.broker.offsets import ConsumerOffsetTable
from rmqcore.protocol.bodies import DataVersion


@pytest.fixture
def table() -> ConsumerOffsetTable:
    return ConsumerOffsetTable()


def test_the_last_commit_counts_also_backwards(table: ConsumerOffsetTable) -> None:
    assert table.committed("g", "T", 0) is None
    table.commit("g", "T", 0, 10, 1)
    table.commit("g", "T", 0, 4, 2)
    table.commit("g", "T", 1, 7, 2)
    assert table.committed("g", "T", 0) == 4
    assert table.committed_queues("g", "T") == {0: 4, 1: 7}
    assert table.committed_queues("g", "U") == {}
    assert table.changed


def test_pulled_is_at_least_known_by_what_is_committed(
    table: ConsumerOffsetTable,
) -> None:
    assert table.pulled("g", "T", 0) is None
    table.commit("g", "T", 0, 10, 1)
    assert table.pulled("g", "T", 0) == 10
    table.note_pull("g", "T", 0, 32)
    assert table.pulled("g", "T", 0) == 32


def test_a_reset_waits_for_the_next_pull(table: ConsumerOffsetTable) -> None:
    table.commit("g", "T", 0, 10, 1)
    table.reset("g", "T", 0, 3, 2)
    table.reset("g", "T", 1, 5, 2)
    assert table.reset_waits("g", "T", 0)
    assert table.committed("g", "T", 0) == 3
    assert table.take_reset("g", "T", 0) == 3
    assert not table.reset_waits("g", "T", 0)
    assert table.take_reset("g", "T", 0) is None
    assert table.take_reset("g", "T", 1) == 5
    assert table.take_reset("g", "T", 1) is None
    assert table.committed("g", "T", 0) == 3


def test_a_clone_goes_its_own_way(table: ConsumerOffsetTable) -> None:
    table.commit("g", "T", 0, 10, 1)
    table.clone("g", "h", "T")
    table.clone("g", "h", "unknown")
    table.commit("g", "T", 0, 20, 1)
    assert table.committed("h", "T", 0) == 10
    assert table.groups_of("unknown") == set()


def test_topics_and_groups_are_found(table: ConsumerOffsetTable) -> None:
    for group, topic in (("g", "T"), ("g", "U"), ("h", "T")):
        table.commit(group, topic, 0, 1, 1)
    assert table.topics_of("g") == {"T", "U"}
    assert table.groups_of("T") == {"g", "h"}
    assert sorted((t, g, dict(o)) for t, g, o in table.all()) == [
        ("T", "g", {0: 1}),
        ("T", "h", {0: 1}),
        ("U", "g", {0: 1}),
    ]


def test_forgetting_takes_all_three_tables(table: ConsumerOffsetTable) -> None:
    for group, topic in (("g", "T"), ("g", "U"), ("h", "T")):
        table.reset(group, topic, 0, 1, 1)
        table.note_pull(group, topic, 0, 9)
    table.forget_topic("T")
    assert table.pulled("h", "T", 0) is None
    assert not table.reset_waits("g", "T", 0)
    table.forget_group("g")
    assert list(table.all()) == []


def test_a_snapshot_is_restored(table: ConsumerOffsetTable) -> None:
    table.commit("g", "T", 0, 10, 1)
    table.commit("%RETRY%g@x", "T", 0, 3, 1)
    snapshot = table.snapshot()
    assert snapshot == {"T@g": {0: 10}, "T@%RETRY%g@x": {0: 3}}
    again = ConsumerOffsetTable()
    again.restore(snapshot, DataVersion(counter=9))
    table.commit("g", "T", 0, 99, 1)
    assert again.committed("g", "T", 0) == 10
    assert again.committed("%RETRY%g@x", "T", 0) == 3
    assert (again.version.counter, again.changed) == (9, False)


def test_the_version_goes_on_every_500_commits(table: ConsumerOffsetTable) -> None:
    for number in range(1000):
        table.commit("g", "T", 0, number, 77)
    assert (table.version.counter, table.version.timestamp) == (2, 77)
