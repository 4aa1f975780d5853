"""The tail of a topic: it begins now, goes on where it was, is bounded, only reads."""

from __future__ import annotations

from random import Random

import pytest
from django.test import Client

from dashboard.gateway.message_tail import MOST_PER_STEP, tail
from dashboard.gateway.messages import find_newest
from dashboard.gateway.settings import ClusterSettings
from dashboard.messages.tail_pages import MOST_LETTERS, offsets_of
from dashboard.models import Role
from rmqcore.model import Message, MessageQueue
from tests.dashboard.conftest import SignIn

from .conftest import Running

pytestmark = pytest.mark.usefixtures("east")

LARGE = Random(1).randbytes(100_000)
HERE = "/clusters/east/messages/tail/"


@pytest.fixture
def viewer(sign_in: SignIn) -> Client:
    return sign_in(Role.VIEWER)


def test_the_page_names_the_topic_and_asks_nothing(viewer: Client) -> None:
    page = viewer.get(HERE, {"topic": "orders"}).content.decode()
    assert "data-tail" in page
    assert "Name a topic" in viewer.get(HERE).content.decode()


def test_it_begins_now_and_goes_on_where_it_was(
    viewer: Client, running: Running
) -> None:
    begun = viewer.get(f"{HERE}step/", {"topic": "orders"}).json()
    assert begun["rows"] == []
    running.send(
        Message.of("orders", b"secret", tags="red", keys=["tail-1"]),
        Message.of("orders", b"secret", tags="blue", keys=["tail-2"]),
    )
    asked = {"topic": "orders", "offsets": begun["offsets"]}
    told = viewer.get(f"{HERE}step/", asked).json()
    assert sorted(row["keys"] for row in told["rows"]) == ["tail-1", "tail-2"]
    assert "secret" not in str(told)
    red = viewer.get(f"{HERE}step/", {**asked, "tag": "red"}).json()
    assert [row["keys"] for row in red["rows"]] == ["tail-1"]
    text = viewer.get(f"{HERE}step/", {**asked, "text": "TAIL-2"}).json()
    assert [row["keys"] for row in text["rows"]] == ["tail-2"]
    assert text["filtered"] == 1
    later = viewer.get(f"{HERE}step/", {**asked, "offsets": told["offsets"]}).json()
    assert later["rows"] == []


def test_more_than_a_step_may_return_is_skipped_and_counted(
    viewer: Client, running: Running
) -> None:
    begun = viewer.get(f"{HERE}step/", {"topic": "orders"}).json()
    running.send(*(Message.of("orders", b"m") for _ in range(MOST_PER_STEP + 100)))
    asked = {"topic": "orders", "offsets": begun["offsets"]}
    told = viewer.get(f"{HERE}step/", asked).json()
    assert len(told["rows"]) == MOST_PER_STEP
    assert told["skipped"] == 100


def test_a_busy_queue_may_fill_the_step_alone(viewer: Client, running: Running) -> None:
    begun = viewer.get(f"{HERE}step/", {"topic": "orders"}).json()
    key = "k" * 1000
    running.send(*(Message.of("orders", b"m", keys=[key]) for _ in range(150)), queue=0)
    asked = {"topic": "orders", "offsets": begun["offsets"]}
    told = viewer.get(f"{HERE}step/", asked).json()
    assert (len(told["rows"]), told["skipped"]) == (150, 0)
    assert {len(row["keys"]) for row in told["rows"]} == {MOST_LETTERS}


def test_with_a_tag_more_is_looked_through(viewer: Client, running: Running) -> None:
    begun = viewer.get(f"{HERE}step/", {"topic": "orders"}).json()
    running.send(Message.of("orders", b"m", tags="rare", keys=["first"]))
    running.send(*(Message.of("orders", b"m") for _ in range(3 * MOST_PER_STEP)))
    asked = {"topic": "orders", "offsets": begun["offsets"], "tag": "rare"}
    told = viewer.get(f"{HERE}step/", asked).json()
    assert [row["keys"] for row in told["rows"]] == ["first"]
    assert told["skipped"] == 0


def test_large_messages_end_a_step_early(
    running: Running, east: ClusterSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.gateway.message_tail.MOST_BYTES", 250_000)
    begun = tail(east, "orders", {})
    running.send(*(Message.of("orders", LARGE) for _ in range(8)), queue=0)
    taken = tail(east, "orders", begun.offsets)
    assert 3 <= len(taken.messages) < 8
    assert len(taken.messages) + taken.skipped == 8
    assert list(tail(east, "orders", taken.offsets).messages) == []


def test_large_messages_end_a_search_early_and_it_says_so(
    running: Running, east: ClusterSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.gateway.queue_search.MOST_BYTES", 250_000)
    running.send(*(Message.of("orders", LARGE) for _ in range(8)), queue=0)
    found = find_newest(east, "orders")
    assert sum(len(each.body) for each in found.messages) < 8 * len(LARGE)
    assert "bytes" in {cut.kind for cut in found.cuts}


def test_nothing_is_left_at_the_broker(viewer: Client, running: Running) -> None:
    state = running.cluster.brokers["broker-a"].state
    before = running.ask(lambda admin: admin.committed_on("broker-a"))
    viewer.get(f"{HERE}step/", {"topic": "orders", "offsets": "broker-a:0:0"})
    assert running.ask(lambda admin: admin.committed_on("broker-a")) == before
    assert list(state.consumers.groups()) == []


@pytest.mark.parametrize("text", ["broker-a", "a:b:c", "a:1:-1", ":0:0", "a:1:9e9"])
def test_offsets_that_are_none_are_refused_by_name(viewer: Client, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        offsets_of("T", text)
    answer = viewer.get(f"{HERE}step/", {"topic": "orders", "offsets": text})
    assert answer.status_code == 422


def test_a_brokers_name_may_have_colons() -> None:
    assert offsets_of("T", "a:b:1:7") == {MessageQueue("T", "a:b", 1): 7}


def test_a_cluster_that_refuses_is_told(viewer: Client) -> None:
    answer = viewer.get(f"{HERE}step/", {"topic": "nowhere"})
    assert answer.status_code == 424
    assert "nowhere" in answer.json()["detail"]
