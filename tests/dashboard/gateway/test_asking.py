"""Work with an admin client, on a real embedded cluster."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from dashboard.gateway.asking import ClusterAnswerError, ask, settings_of
from dashboard.gateway.settings import ClusterSettings
from rmqcore.admin import Admin
from rmqcore.errors import RmqError
from tests.support.cluster import TOPIC, local_cluster
from tests.support.cluster import settings_of as settings_of_running


async def test_what_a_cluster_answers_is_returned() -> None:
    async with local_cluster() as running:
        cluster = settings_of_running(running)

        async def names(admin: Admin) -> list[str]:
            return await admin.topic_names()

        assert TOPIC in await asyncio.to_thread(ask, cluster, names)


async def test_a_read_only_cluster_takes_no_write() -> None:
    async with local_cluster() as running:
        cluster = replace(settings_of_running(running), embedded=False, writes=False)

        async def create(admin: Admin) -> None:
            await admin.create_topic("unwanted", 1)

        with pytest.raises(RmqError, match="attached read-only"):
            await asyncio.to_thread(ask, cluster, create)


def test_an_answer_is_not_waited_for_longer_than_said() -> None:
    cluster = ClusterSettings("slow", ("127.0.0.1:1",))

    async def sleep(admin: Admin) -> None:
        await asyncio.Event().wait()

    with pytest.raises(ClusterAnswerError, match=r"'slow' gave no .* within 0\.01 s"):
        ask(cluster, sleep, seconds=0.01)


@pytest.mark.django_db
def test_settings_are_found_by_name(settings: Any) -> None:
    east = ClusterSettings("east", ("127.0.0.1:1",))
    settings.ROCKETSCOPE_CLUSTERS = {"east": east}
    assert settings_of("east") is east
    with pytest.raises(KeyError):
        settings_of("west")
