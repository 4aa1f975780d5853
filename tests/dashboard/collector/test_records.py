from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dashboard import models
from dashboard.collector.epochs import Epoch, EpochBook, EpochMember, Membership
from dashboard.collector.handovers import Handover
from dashboard.collector.records import (
    GroupHandover,
    load_books,
    save_handovers,
    save_turns,
)

from .sights import NOW, keys

pytestmark = pytest.mark.django_db

FIRST = Membership((EpochMember("c1", "AVG", (("orders", "*"),)),), keys(2))
SECOND = Membership((EpochMember("c1"), EpochMember("c2")), keys(2))


@pytest.fixture
def cluster() -> models.Cluster:
    return models.Cluster.objects.create(name="east")


def turns(*memberships: Membership, book: EpochBook | None = None):  # type: ignore[no-untyped-def]
    book = book or EpochBook()
    found = (
        book.observe(membership, (), NOW + number * 1000)
        for number, membership in enumerate(memberships)
    )
    return [("g", turn) for turn in found if turn is not None]


def test_turns_close_and_open_epochs(cluster: models.Cluster) -> None:
    save_turns(cluster.pk, turns(FIRST, FIRST, SECOND))
    first, second = models.Epoch.objects.order_by("number")
    assert first.ended_after == datetime.fromtimestamp(NOW / 1000 + 1, UTC)
    assert first.ended_by == second.began_by
    assert (second.cause, second.ended_by) == ("member_joined", None)
    assert first.members[0]["subscriptions"] == [["orders", "*"]]
    assert second.queues == [["orders", "a", 0], ["orders", "a", 1]]


def test_books_go_on_where_the_last_collector_stopped(cluster: models.Cluster) -> None:
    save_turns(cluster.pk, turns(FIRST, SECOND))
    book = load_books(cluster.pk)["g"]
    assert isinstance(book.current, Epoch)
    assert (book.current.number, book.current.membership) == (2, SECOND)
    assert book.current.began_by_ms == NOW + 1000
    assert turns(SECOND, book=book) == []


def test_a_group_whose_last_epoch_ended_counts_on(cluster: models.Cluster) -> None:
    save_turns(cluster.pk, turns(FIRST, SECOND))
    models.Epoch.objects.update(ended_by=datetime.now(UTC))
    book = load_books(cluster.pk)["g"]
    assert book.current is None
    ((_, turn),) = turns(FIRST, book=book)
    assert turn.begun.number == 3


def test_books_of_other_clusters_are_left_out(cluster: models.Cluster) -> None:
    save_turns(cluster.pk, turns(FIRST))
    other = models.Cluster.objects.create(name="west")
    assert load_books(other.pk) == {}


def test_writing_a_turn_again_changes_nothing(cluster: models.Cluster) -> None:
    found = turns(FIRST, SECOND)
    save_turns(cluster.pk, found)
    save_turns(cluster.pk, found)
    assert models.Epoch.objects.count() == 2


def test_handovers_become_events(cluster: models.Cluster) -> None:
    handover = Handover(keys(1)[0], "moved", ("c1",), ("c2",), NOW, NOW + 1000)
    save_handovers(cluster.pk, [GroupHandover("g", 2, handover)])
    event = models.OwnershipEvent.objects.get()
    assert (event.kind, event.topic, event.queue_id) == ("moved", "orders", 0)
    assert (event.owners_before, event.owners_after) == (["c1"], ["c2"])
    assert event.epoch == 2
    assert (event.at_by - event.at_after).total_seconds() == 1
