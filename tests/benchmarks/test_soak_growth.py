"""What the soak says of everything that grows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from benchmarks.soak.bounds import FILES, KEYS, TABLES, Bound, pattern_of
from benchmarks.soak.figures import Tally
from benchmarks.soak.growth import (
    Growth,
    Size,
    file_sizes,
    growth_table,
    growths,
    key_sizes,
    table_sizes,
)
from benchmarks.soak.verdict import goals
from tests.support.valkey import Valkey

MB = 1024 * 1024


@pytest.fixture
def server(tmp_path: Path) -> Iterator[redis.Redis]:
    valkey = Valkey(tmp_path)
    valkey.start()
    with redis.Redis(port=valkey.port) as client:
        yield client
    valkey.kill()


def row(bound: Bound | None, begin: Size, end: Size, hours: float = 0.5) -> Growth:
    return Growth("what", bound, bound.most if bound else 0, begin, end, hours)


@pytest.mark.parametrize(
    ("bound", "begin", "end", "fault"),
    [
        (Bound(100, "rows"), 0, 100, ""),
        (Bound(100, "rows"), 0, 101, "reaches 101 rows"),
        # 20 an hour make 100 in four hours, and more in five.
        (Bound(100, "rows", grows_h=4), 10, 20, ""),
        (Bound(100, "rows", grows_h=5), 10, 20, "reaches 120 rows"),
        # What became less is not expected to go on so.
        (Bound(100, "rows", grows_h=5), 200, 90, ""),
        (None, 0, 0, "is in no table of what grows"),
    ],
)
def test_a_row_is_within_its_bound_or_says_what_it_reaches(
    bound: Bound | None, begin: int, end: int, fault: str
) -> None:
    grown = row(bound, Size(begin), Size(end))
    assert grown.fault == fault
    assert [goal.found for goal in goals(Tally(sweeps=1), [], [], [grown])][-1] == bool(
        fault
    )


def test_bytes_are_counted_where_bytes_are_bounded() -> None:
    grown = row(Bound(8 * MB, "bytes", 2.0), Size(900, 2 * MB), Size(1, 4 * MB))
    assert (grown.an_hour, grown.expected, grown.fault) == (
        4 * MB,
        12 * MB,
        (f"reaches {12 * MB} bytes"),
    )


def test_a_key_without_an_end_is_a_fault_unless_its_row_says_so() -> None:
    endless = Size(3, 100, endless=2)
    assert row(KEYS["rs:group:*"], Size(), endless).fault == "2 keys never run out"
    assert row(KEYS["rs:fence:*"], Size(), endless).fault == ""


def test_bounds_of_groups_grow_with_them() -> None:
    few, many = (
        {each.name: each.most for each in growths({}, {}, 1.0, groups)}
        for groups in (10, 1000)
    )
    assert many["dashboard_epoch"] == 100 * few["dashboard_epoch"]
    assert many["rs:group:*"] == 1000
    assert many["logs/"] == few["logs/"]
    assert set(many) == {*TABLES, *FILES, *KEYS}


def test_tables_are_counted_with_their_indexes(tmp_path: Path) -> None:
    path = tmp_path / "some.sqlite3"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("CREATE TABLE plain (word text)")
        connection.execute("CREATE TABLE indexed (word text UNIQUE)")
        for name in ("plain", "indexed"):
            connection.executemany(
                f"INSERT INTO {name} VALUES (?)", ((f"{n:050}",) for n in range(1000))
            )
    connection.close()
    found = table_sizes(path)
    assert {name: size.count for name, size in found.items()} == {
        "plain": 1000,
        "indexed": 1000,
    }
    assert found["indexed"].bytes > 1.5 * found["plain"].bytes > 50_000


def test_files_are_summed_by_row_and_strangers_stand_alone(tmp_path: Path) -> None:
    for name in (
        "logs/web.log",
        "logs/web.log.1",
        "lake/landing/samples/cluster=a/day=2026-01-01/1-a-1.parquet",
        "lake/compact/rollup_queues_60/cluster=a/day=2026-01-01/1-1.parquet",
        "lake/compact/samples/cluster=a/day=2026-01-01/1-1-a.parquet",
        "rocketscope.sqlite3",
        "forgotten/deep/file",
        "lake/elsewhere/file",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 10_000)
    found = file_sizes(tmp_path)
    assert {name: size.count for name, size in found.items()} == {
        "logs/": 2,
        "lake/landing/": 1,
        "lake/compact/rollup*/": 1,
        "lake/compact/": 1,
        "rocketscope.sqlite3": 1,
        "forgotten": 1,
        "lake": 1,
    }
    assert found["logs/"].bytes >= 20_000


def test_keys_are_summed_by_row_with_those_that_never_run_out(
    server: redis.Redis,
) -> None:
    for number in range(3):
        server.set(f"rs:group:east:g{number}", "x" * 1000, ex=None if number else 60)
    server.hset("rs:gone:east", "broker-a", "{}")
    server.set("someone:else", "x")
    found = key_sizes(server)
    assert {name: (s.count, s.endless) for name, s in found.items()} == {
        "rs:group:*": (3, 2),
        "rs:gone:*": (1, 1),
        "someone:else": (1, 1),
    }
    assert found["rs:group:*"].bytes > 3000


def test_a_name_belongs_to_its_own_row() -> None:
    assert pattern_of("rs:memory:east", KEYS) == "rs:memory:*"
    assert pattern_of("rs:beat", KEYS) == "rs:beat"
    assert pattern_of("rs:beaten", KEYS) is None
    rollup = "lake/compact/rollup_queues_60/a"
    assert pattern_of(rollup, FILES) == "lake/compact/rollup*/"
    assert pattern_of("logs", FILES) is None


def test_the_table_says_which_row_does_not_hold() -> None:
    end = {"logs/": Size(18, 900 * MB), "dashboard_user": Size(1, 8192)}
    lines = growth_table(growths({}, end, 0.5, 10))
    (logs,) = (line for line in lines if line.startswith("logs/"))
    assert logs.endswith(f"reaches {900 * MB} bytes")
    assert logs.split()[1:6] == ["0.0", "943.7", "1887.4", "396", "MB"]
    (user,) = (line for line in lines if line.startswith("dashboard_user "))
    assert user.split()[1:] == [
        "0",
        "1",
        "2.0",
        "10000",
        "rows",
        "0.00",
        "0.01",
        "0",
        "within",
    ]
    assert len(lines) == 1 + len(TABLES) + len(FILES) + len(KEYS)
