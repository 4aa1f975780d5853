from __future__ import annotations

import pytest
from django.test import Client

from dashboard.live.names import scraped_key
from dashboard.live.state import live_state
from dashboard.metrics import queues
from tests.dashboard.conftest import Write
from tests.dashboard.documents import (
    group_state,
    looked_at,
    member,
    now_ms,
    overview_row,
    queue,
)

from .scrape import of, scrape

pytestmark = pytest.mark.django_db

PREFIX = "rocketscope_queue_"


def put(write: Write, *sizes: tuple[str, int]) -> None:
    """Write groups with that many queues, all owned by the first of two members."""
    rows = [overview_row(name, queues=count) for name, count in sizes]
    write(looked_at(groups=rows))
    for name, count in sizes:
        first = member(0)
        made = [
            queue("broker-a", number, owners=[first["client_id"]])
            for number in range(count)
        ]
        write(group_state([first, member(1)], made, group=name, taken_at=now_ms()))


def test_a_queue_that_is_known_has_every_figure(write: Write) -> None:
    put(write, ("orders", 2))
    found = scrape("/metrics/queues?group=orders")
    assert of(found, "broker-a|hangzhou|orders|1|orders") == {
        PREFIX + "lag_messages": 100,
        PREFIX + "oldest_message_age_seconds": 0.4,
        PREFIX + "committed_offset": 90_900,
        PREFIX + "end_offset": 91_000,
        PREFIX + "in_messages_per_second": 180,
        PREFIX + "out_messages_per_second": 181,
    }
    owner = f"broker-a|{member(0)['client_id']}|hangzhou|orders|1|reported|orders"
    assert found[f"{PREFIX}owner|{owner}"] == 1
    assert found[f"{PREFIX}groups_left_out|hangzhou"] == 0


def test_what_is_not_known_has_no_sample(write: Write) -> None:
    put(write, ("orders", 1))
    away = dict.fromkeys(("max", "lag", "lag_ms", "rate_in", "rate_out"))
    unowned = queue("broker-a", 0, owner_source=None, **away)
    write(group_state([], [unowned], group="orders", taken_at=now_ms()))
    found = scrape("/metrics/queues?group=orders")
    assert of(found, "broker-a|hangzhou|orders|0|orders") == {
        PREFIX + "committed_offset": 90_900
    }
    assert not any(name.startswith(PREFIX + "owner|") for name in found)


def test_a_client_id_on_two_connections_is_one_owner(write: Write) -> None:
    put(write, ("orders", 1))
    shared = member(0)["client_id"]
    both = [member(0), member(0, connection=1)]
    owned = queue("broker-a", 0, owners=[shared, shared])
    write(group_state(both, [owned], group="orders", taken_at=now_ms()))
    text = Client().get("/metrics/queues?group=orders").content.decode()
    assert text.count(f'client_id="{shared}"') == 1


def test_an_old_document_gives_no_samples(write: Write) -> None:
    put(write, ("orders", 1))
    write(group_state([], [queue("broker-a", 0)], group="orders", taken_at=1))
    found = scrape("/metrics/queues?group=orders")
    assert found == {
        PREFIX + "groups_left_out|hangzhou": 0,
        PREFIX + "groups_awaited|hangzhou": 1,
    }


def test_a_group_that_nobody_looks_at_is_asked_for(write: Write) -> None:
    write(looked_at(groups=[overview_row("orders", queues=1)]))
    found = scrape("/metrics/queues?group=orders")
    assert found[PREFIX + "groups_awaited|hangzhou"] == 1
    asked = live_state().client.zrange(scraped_key("hangzhou"), 0, -1)
    assert asked == [b"orders"]
    put(write, ("orders", 1))
    found = scrape("/metrics/queues?group=orders")
    assert found[PREFIX + "groups_awaited|hangzhou"] == 0


def test_groups_are_named_by_patterns(write: Write) -> None:
    put(write, ("orders-eu", 1), ("orders-us", 1), ("payments", 1), ("Orders-x", 1))
    found = scrape("/metrics/queues?group=orders-*&group=pay?ents")
    groups = {
        name.split("|")[3] for name in found if name.startswith(PREFIX + "lag_messages")
    }
    assert groups == {"orders-eu", "orders-us", "payments"}


def test_whole_groups_are_left_out_beyond_the_limit(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "MOST_QUEUES", 5)
    put(write, ("a", 3), ("b", 3), ("c", 2))
    found = scrape("/metrics/queues?group=*")
    lags = [name for name in found if name.startswith(PREFIX + "lag_messages")]
    assert sorted(name.split("|")[3] for name in lags) == [*"aaa", *"cc"]
    assert found[PREFIX + "groups_left_out|hangzhou"] == 1


@pytest.mark.parametrize("query", ["", "?group=", "?" + "&group=a" * 101])
def test_groups_have_to_be_named(query: str, write: Write) -> None:
    write(looked_at())
    answer = Client().get("/metrics/queues" + query)
    assert answer.status_code == 400
    assert b"values of group=, allowed are 1 to 100" in answer.content
