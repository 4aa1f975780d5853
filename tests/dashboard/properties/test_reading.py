"""What is worked out from documents and epochs never fails, whatever they say."""

from __future__ import annotations

from contextlib import suppress
from math import isnan
from typing import Any

from django.test import Client
from django.urls import reverse
from hypothesis import given

from dashboard.live.documents import GroupState
from dashboard.models import Cluster, Epoch, OwnershipEvent, Role
from dashboard.timeline.alerts import NO_ALERTS
from dashboard.timeline.document import timeline_document
from dashboard.timeline.reads import read_timeline
from dashboard.whatif.model import (
    Scenario,
    compare,
    comparison_document,
    read_situation,
)
from rmqcore.errors import ArgumentError
from tests.dashboard.conftest import SignIn, Write
from tests.support.strange.documents import documents
from tests.support.strange.histories import History, histories
from tests.support.strange.story import Story

from .conftest import Tell, strange
from .test_pages import CHINESE, fault_of


@strange(40)
@given(state=documents(cluster="hangzhou"))
def test_what_if_compares_or_says_why_not(state: GroupState) -> None:
    with suppress(ArgumentError):
        situation = read_situation(state)
        document = comparison_document(compare(situation, Scenario()))
        assert not [each for each in _leaves(document) if _is_nan(each)]


@strange(20)
@given(history=histories())
def test_every_timeline_can_be_drawn(tell: Tell, history: History) -> None:
    story = tell(history)
    cluster = kept(story)
    last = story.seen[-1]
    for group in {name for seen in story.seen for name in seen.documents}:
        found = read_timeline(
            cluster,
            group,
            last.documents.get(group),
            now=last.ended_ms,
            minutes=15,
        )
        assert timeline_document(found, NO_ALERTS)["epochs"] is not None


@strange(6)
@given(history=histories())
def test_pages_of_what_was_collected_answer(
    tell: Tell, sign_in: SignIn, write: Write, history: History
) -> None:
    viewer: Client = sign_in(Role.VIEWER)
    for group, state in tell(history).seen[-1].documents.items():
        write({**state, "cluster": "hangzhou"})
        for page in ("group", "group_queues", "group_members", "group_whatif"):
            answer = viewer.get(
                reverse(page, args=["hangzhou", group]), headers=CHINESE
            )
            assert answer.status_code == 200
            assert fault_of(answer) is None


def kept(story: Story) -> Cluster:
    """Keep a story's epochs and events under a cluster of this test."""
    cluster, _made = Cluster.objects.get_or_create(name=f"{story.cluster}-read")
    for model, rows in ((Epoch, story.epochs), (OwnershipEvent, story.events)):
        model.objects.filter(cluster=cluster).delete()
        for row in rows:
            row.pk, row.cluster = None, cluster
        model.objects.bulk_create(rows)  # type: ignore[arg-type]
    return cluster


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in _leaves(each)]
    if isinstance(value, list | tuple):
        return [leaf for each in value for leaf in _leaves(each)]
    return [value]


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and isnan(value)
