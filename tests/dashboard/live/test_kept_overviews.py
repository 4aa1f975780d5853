from __future__ import annotations

from collections.abc import Iterator

import orjson
import pytest
import redis

from dashboard.live.kept_overviews import (
    MOST_CLUSTERS,
    forget_overviews,
    kept_overview,
    made_of,
)
from dashboard.live.names import overview_key
from dashboard.live.state import LiveState
from tests.dashboard.documents import overview, overview_row
from tests.support.valkey import Valkey


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    forget_overviews()
    yield
    forget_overviews()


def test_one_document_is_shared_until_a_sweep_stores_the_next(valkey: Valkey) -> None:
    with redis.Redis(port=valkey.port) as client:
        state, key = LiveState(client), overview_key("hangzhou")
        assert state.overview("hangzhou") is None
        client.set(key, orjson.dumps(overview(seq=1)))
        first = state.overview("hangzhou")
        assert first == overview(seq=1)
        assert state.overview("hangzhou") is first
        client.set(key, orjson.dumps(overview(seq=2)))
        assert state.overview("hangzhou") == overview(seq=2)
        client.delete(key)
        assert state.overview("hangzhou") is None


def test_what_was_made_of_a_document_ends_with_it() -> None:
    one = overview(groups=[overview_row("one")])
    two = overview(groups=[overview_row("two")])
    assert kept_overview("hangzhou", 1, lambda: one) is one
    made: list[str] = []

    def make() -> str:
        made.append("")
        return f"made {len(made)}"

    assert [made_of(one, "a", make) for _ in range(2)] == ["made 1"] * 2
    assert made_of(one, "b", make) == "made 2"
    kept_overview("hangzhou", 2, lambda: two)
    assert made_of(two, "a", make) == "made 3"
    assert [made_of(one, "a", make) for _ in range(2)] == ["made 4", "made 5"]


def test_the_cluster_that_nobody_asked_for_is_dropped_first() -> None:
    names = [f"cluster-{at}" for at in range(MOST_CLUSTERS + 1)]

    def ask(name: str) -> bool:
        read: list[str] = []
        kept_overview(name, 1, lambda: read.append(name) or overview(cluster=name))  # type: ignore[func-returns-value]
        return not read

    assert not any(ask(name) for name in names[:-1])
    assert ask(names[0])
    assert not ask(names[-1])
    assert ask(names[0])
    assert not ask(names[1])
