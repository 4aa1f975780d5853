"""Dead letters that Apache's broker made, listed, resent, and consumed by Java."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from dashboard.dead_letters.playing import Playing
from dashboard.dead_letters.reads import effect_of, letters_of, levels_of
from dashboard.dead_letters.runs import claim
from dashboard.dead_letters.writes import Wish, start_resend, token_of
from dashboard.gateway.asking import ask
from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.dead_letters import DeadLetters
from dashboard.gateway.queue_search import Span
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import Cluster, ResendRun, Role, User
from rmqcore.client import ConsumeContext, ConsumeResult, PushConsumer, PushSettings
from rmqcore.loop_thread import LoopThread
from rmqcore.model import MessageExt
from tests.support.apache import ApacheCluster
from tests.support.java_driver import JavaDriver
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.interop, pytest.mark.django_db]

MESSAGES = 3
NOW_MS = 2**42
"""Later than any message: no level has one that is due after it."""


@pytest.fixture
def cluster(apache: ApacheCluster, settings: Any) -> ClusterSettings:
    made = ClusterSettings("apache", (apache.nameserver,), writes=True)
    settings.ROCKETSCOPE_CLUSTERS = {"apache": made}
    sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
    return made


async def give_up(
    _messages: Sequence[MessageExt], _context: ConsumeContext
) -> ConsumeResult:
    return ConsumeResult.RECONSUME_LATER


def letters(group: str) -> DeadLetters:
    return letters_of("apache", group, Span(), NOW_MS)


def resend(group: str) -> ResendRun:
    """Resend all dead letters of a group to it, as a worker does."""
    user, _made = User.objects.get_or_create(username="ann", role=Role.OPERATOR)
    chosen = letters(group).letters
    run = start_resend(
        *(user, Cluster.objects.get(name="apache"), group, chosen),
        Wish("group", 50, "mended"),
        token=token_of(chosen),
    )
    claimed = claim(run.pk, "w1")
    assert claimed is not None
    Playing(claimed, threading.Event()).play()
    run.refresh_from_db()
    return run


def test_java_gets_what_was_resent_to_its_group_alone(
    cluster: ClusterSettings, java: JavaDriver, name: str
) -> None:
    ask(cluster, lambda admin: admin.create_topic(name, 2))
    assert not letters(name).exists
    java.start_consumer(f"{name}-other", group=f"{name}-other", topic=name)
    loop = LoopThread("failing")
    loop.start()
    failing = PushConsumer(
        cluster.name_servers[0],
        group=name,
        listener=give_up,
        instance_name="failing",
        consume_from_where="CONSUME_FROM_FIRST_OFFSET",
        settings=PushSettings(max_reconsume_times=0),
    )
    failing.subscribe(name)
    loop.call(failing.start(), 60)
    java.produce(name, MESSAGES, tag="red", key="k")
    wait_until(lambda: letters(name).kept == MESSAGES)
    loop.call(failing.shutdown(), 60)
    loop.stop()

    found = letters(name)
    assert {each.topic for each in found.letters} == {name}
    assert {each.message.tags for each in found.letters} == {"red"}
    assert {each.message.reconsume_times for each in found.letters} == {1}
    assert all(each.origin_id for each in found.letters)
    levels = levels_of("apache", name, NOW_MS)
    assert (levels.waiting, len(levels.levels), levels.assumed) == (0, 18, [])

    java.start_consumer(name, group=name, topic=name)
    run = resend(name)
    assert (run.state, run.error) == ("done", "")
    java.wait_until(lambda: len(java.messages(name)) >= MESSAGES)
    assert {each["topic"] for each in java.messages(name)} == {name}
    wait_until(lambda: effect_of(run).passed == MESSAGES)
    java.wait_until(lambda: len(java.messages(f"{name}-other")) >= MESSAGES)
    assert len(java.messages(f"{name}-other")) == MESSAGES
