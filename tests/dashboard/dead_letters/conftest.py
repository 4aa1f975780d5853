"""A real embedded cluster whose groups give messages up, for the tests of a module."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from django.test import Client

from dashboard.dead_letters.playing import Playing
from dashboard.dead_letters.runs import claim, waiting_runs
from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import ResendRun, Role
from rmqcore.client import ConsumeContext, ConsumeResult, PushConsumer, PushSettings
from rmqcore.model import Message, MessageExt
from rmqcore.model.topic import dead_letter_topic
from tests.dashboard.conftest import SignIn
from tests.dashboard.messages.conftest import Running
from tests.support.waiting import wait_until

GROUP = "billing"
OTHER = "stock"
HERE = f"/clusters/east/groups/{GROUP}/dead-letters/"
BODY = b'{"event": "paid", "card": "4111"}'


class Member:
    """A member that fails as long as it is told to, and gives up at the first try."""

    def __init__(self, running: Running, group: str, **options: Any) -> None:
        self.fails = False
        self.seen: list[MessageExt] = []
        self._running = running
        self._consumer = PushConsumer(
            running.cluster.nameserver_address,
            group=group,
            listener=self._listen,
            instance_name=group,
            settings=PushSettings(max_reconsume_times=0),
            **options,
        )
        self._consumer.subscribe("orders")
        running.call(self._consumer.start())

    async def _listen(
        self, messages: Sequence[MessageExt], _context: ConsumeContext
    ) -> ConsumeResult:
        self.seen += messages
        return ConsumeResult.RECONSUME_LATER if self.fails else ConsumeResult.SUCCESS

    def keys(self) -> list[str]:
        return [key for message in self.seen for key in message.keys]

    def stop(self) -> None:
        self._running.call(self._consumer.shutdown())


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    made = Running()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def other(running: Running) -> Iterator[Member]:
    """A member of another group of the same topic, which never fails."""
    member = Member(running, OTHER)
    yield member
    member.stop()


@pytest.fixture(scope="module")
def member(running: Running, other: Member) -> Iterator[Member]:
    """The group's member; it has given up three messages and consumes now."""
    member = Member(running, GROUP)
    give_up(running, member, "a-1", "a-2", tag="red")
    give_up(running, member, "b-1", tag="blue")
    yield member
    member.stop()


@pytest.fixture
def east(running: Running, db: None, settings: Any) -> ClusterSettings:
    """The cluster as the dashboard knows it, open to writing."""
    given = ClusterSettings("east", (running.cluster.nameserver_address,), writes=True)
    settings.ROCKETSCOPE_CLUSTERS = {"east": given}
    settings.ROCKETSCOPE_REDIS_URL = ""
    sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
    return given


@pytest.fixture
def viewer(sign_in: SignIn) -> Client:
    return sign_in(Role.VIEWER)


@pytest.fixture
def operator(sign_in: SignIn) -> Client:
    return sign_in(Role.OPERATOR)


def kept(running: Running, group: str = GROUP) -> int:
    """Return how many dead letters of a group are kept."""

    async def count(admin: Any) -> int:
        if dead_letter_topic(group) not in await admin.topic_names():
            return 0
        spans = await admin.queue_spans(dead_letter_topic(group))
        return sum(each.max - each.min for each in spans.spans)

    return int(running.ask(count))


def give_up(running: Running, member: Member, *keys: str, tag: str = "") -> None:
    """Send messages and let a member give them up."""
    before = kept(running)
    member.fails = True
    running.send(*(Message.of("orders", BODY, tags=tag, keys=[key]) for key in keys))
    wait_until(lambda: kept(running) == before + len(keys))
    member.fails = False


def play(stopping: threading.Event | None = None) -> ResendRun:
    """Play the only waiting run to its end, as a worker does."""
    (pk,) = waiting_runs()
    run = claim(pk, "w1")
    assert run is not None
    Playing(run, stopping or threading.Event()).play()
    return ResendRun.objects.get(pk=pk)


Resend = Callable[..., Any]


@pytest.fixture
def resend(operator: Client) -> Resend:
    """Start a run as the preview of a query shows it; return the answer."""

    def start(query: str = "", **fields: Any) -> Any:
        preview = operator.get(f"{HERE}resend/?{query}")
        given = {
            "query": query,
            "token": preview.context.get("token", ""),
            "target": "group",
            "rate": 100,
            "reason": "mended",
        }
        return operator.post(f"{HERE}resend/", {**given, **fields})

    return start
