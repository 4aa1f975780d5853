"""Alerts about a real Apache cluster arrive at real receivers: once, with the reason.

The whole product runs, and is started anew in between with nothing left of its cache.
"""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import pytest
import redis

from dashboard.live.alert_documents import RuleState
from dashboard.live.state import LiveState
from dashboard.supervisor import plan
from rmqcore.admin import Admin
from rmqcore.model import MessageQueue
from rmqcore.model.topic import SubscriptionGroupConfig
from rmqcore.protocol.bodies import group_document
from tests.support.apache import ApacheCluster
from tests.support.java_driver import JavaDriver
from tests.support.java_members import AT_REST_S
from tests.support.our_clients import OurCommand, produce
from tests.support.process import Process
from tests.support.receivers import Hook, Mailbox, running_receivers
from tests.support.waiting import wait_until
from tests.support.web_processes import WebProcesses, running_web

pytestmark = pytest.mark.interop

NAME: Final = "apache"
STILL_MS: Final = 8_000
"""Java commits every five seconds."""
GROUPS: Final = 100
LAG_LIMIT: Final = 20

_MAKE_RULE: Final = """
import json, sys
from dashboard.models import AlertRule, Channel
given = json.loads(sys.argv[1])
channels = [
    Channel.objects.get_or_create(name=name, defaults={"address": address})[0]
    for name, address in given.pop("channels").items()
]
rule = AlertRule.objects.create(**given)
rule.channels.set(channels)
print(rule.pk)
"""


@contextmanager
def running_alerts(folder: Path, apache: ApacheCluster) -> Iterator[WebProcesses]:
    """Run what an installation runs; all state but the database ends with it."""
    settings = {"ROCKETSCOPE_CLUSTERS": f"{NAME}={apache.nameserver}"}
    with ExitStack() as running:
        web = running.enter_context(running_web(folder, count=1, settings=settings))
        for child in plan.workers(0):
            log = folder / f"{child.name}.log"
            process = Process(child.argv, log=log, env=web.env, forked=True)
            running.callback(end, process)
        yield web


def end(process: Process) -> None:
    """End a process as the supervisor does, and by force if that is not enough."""
    process.signal(signal.SIGTERM)
    deadline = time.monotonic() + 15
    while process.running and time.monotonic() < deadline:
        time.sleep(0.1)
    process.kill()


def make_rule(web: WebProcesses, **fields: object) -> int:
    return int(web.run(_MAKE_RULE, json.dumps(fields)))


def state_of(web: WebProcesses, rule: int) -> RuleState | None:
    """Return how a rule stands, as pages read it."""
    with redis.Redis.from_url(web.valkey.url) as client:
        document = LiveState(client).alerting(NAME)
    return None if document is None else document["rules"].get(str(rule))


def is_quiet_for(web: WebProcesses, rule: int, subjects: int) -> bool:
    state = state_of(web, rule)
    return state is not None and (
        (state["subjects"], state["firing"], state["unknown"]) == (subjects, 0, 0)
    )


@pytest.fixture(scope="module")
def receivers() -> Iterator[tuple[Mailbox, Hook]]:
    with running_receivers() as running:
        yield running


@pytest.fixture
def frozen(apache: ApacheCluster, tmp_path: Path) -> Iterator[JavaDriver]:
    """A JVM of its own, which can be stopped."""
    with JavaDriver(apache.nameserver, tmp_path / "jvm") as driver:
        yield driver


def channels_to(mailbox: Mailbox, hook: Hook) -> dict[str, str]:
    return {"mail": mailbox.address, "hook": hook.address}


def test_a_frozen_consumer_is_told_once_and_its_recovery_once(
    apache: ApacheCluster,
    frozen: JavaDriver,
    receivers: tuple[Mailbox, Hook],
    tmp_path: Path,
    name: str,
) -> None:
    mailbox, hook = receivers
    asyncio.run(create_topic(apache, name))
    client_id = frozen.start_consumer("c1", group=name, topic=name, instance=name)
    sending = OurCommand(
        tmp_path / "producer",
        *("produce", "--nameserver", apache.nameserver, "--topic", name),
        *("--count", "0", "--rate", "40"),
    )
    product = tmp_path / "product"
    with sending:
        with running_alerts(product, apache) as web:
            rule = make_rule(
                web,
                name="Still",
                kind="out_stops",
                limit=STILL_MS,
                severity="crit",
                groups=name,
                channels=channels_to(mailbox, hook),
            )
            wait_until(lambda: is_quiet_for(web, rule, 1), "quiet", seconds=AT_REST_S)
            # A machine with much else to do may have let a commit wait before.
            posts, mails = len(hook.posts), len(mailbox.mails)
            frozen.signal(signal.SIGSTOP)
            wait_until(
                lambda: len(hook.posts) > posts and len(mailbox.mails) > mails,
                "told",
                seconds=AT_REST_S,
            )
        with running_alerts(product, apache) as web:
            firing = lambda: (state_of(web, rule) or {}).get("firing") == 1  # noqa: E731
            wait_until(firing, "it fires still", seconds=AT_REST_S)
            assert (len(hook.posts), len(mailbox.mails)) == (posts + 1, mails + 1)
            frozen.signal(signal.SIGCONT)
            wait_until(
                lambda: len(hook.posts) > posts + 1 and len(mailbox.mails) > mails + 1,
                "told of the recovery",
                seconds=AT_REST_S,
            )
            wait_until(lambda: is_quiet_for(web, rule, 1), "quiet", seconds=AT_REST_S)
    opened, closed = hook.titles[posts:]
    assert f"of {name} stand" in opened
    assert f"[{NAME}] [critical] Over:" in closed
    text = hook.posts[posts]["message"]
    assert f"Owner: {client_id}" in text
    assert f"{name} broker-" in text
    assert f"Why: Its owner {client_id} does not answer when asked." in text
    assert [subject for subject, _body in mailbox.mails] == hook.titles


async def create_topic(apache: ApacheCluster, name: str) -> None:
    async with Admin(apache.nameserver, timeout=20) as admin:
        await admin.create_topic(name, 2)


def groups_in_parts(name: str) -> Iterator[list[str]]:
    """Yield the names of the groups, fifty at a time."""
    for first in range(0, GROUPS, 50):
        yield [f"{name}-{number}" for number in range(first, first + 50)]


@contextmanager
def many_groups(apache: ApacheCluster, name: str) -> Iterator[None]:
    """Let many groups have consumed all of one queue; none has a member.

    They are deleted at the end: tests that follow on the cluster ask for every group.
    """
    asyncio.run(commit_for_groups(apache, name))
    try:
        yield
    finally:
        asyncio.run(delete_groups(apache, name))


async def commit_for_groups(apache: ApacheCluster, name: str) -> None:
    queue = MessageQueue(name, "broker-a", 0)
    master = apache.brokers["broker-a"]
    async with Admin(apache.nameserver, timeout=20) as admin:
        await admin.create_topic(name, 1)
        for names in groups_in_parts(name):
            for each in names:
                config = group_document(SubscriptionGroupConfig(each), {})
                await admin.put_group_document(config, master)
            await asyncio.gather(
                *(admin.commit_offset(each, queue, 0, master) for each in names)
            )


async def delete_groups(apache: ApacheCluster, name: str) -> None:
    master = apache.brokers["broker-a"]
    async with Admin(apache.nameserver, timeout=20) as admin:
        for names in groups_in_parts(name):
            await asyncio.gather(
                *(admin.drop_group(each, master, clean_offset=True) for each in names)
            )


def test_groups_that_fail_for_one_reason_are_one_message(
    apache: ApacheCluster, receivers: tuple[Mailbox, Hook], tmp_path: Path, name: str
) -> None:
    mailbox, hook = receivers
    mails, posts = len(mailbox.mails), len(hook.posts)
    with (
        many_groups(apache, name),
        running_alerts(tmp_path / "product", apache) as web,
    ):
        rule = make_rule(
            web,
            name="Lag",
            kind="lag",
            limit=LAG_LIMIT,
            groups=f"{name}-*",
            channels=channels_to(mailbox, hook),
        )
        wait_until(lambda: is_quiet_for(web, rule, GROUPS), "quiet", seconds=AT_REST_S)
        produce(
            tmp_path / "producer",
            apache.nameserver,
            topic=name,
            count=LAG_LIMIT * 8,
        )
        wait_until(
            lambda: (state_of(web, rule) or {}).get("firing") == GROUPS,
            "all fire",
            seconds=AT_REST_S,
        )
        wait_until(
            lambda: len(hook.posts) > posts and len(mailbox.mails) > mails,
            "told",
            seconds=AT_REST_S,
        )
    assert (len(hook.posts), len(mailbox.mails)) == (posts + 1, mails + 1)
    assert f" {GROUPS} groups: " in hook.titles[-1]
