"""The fixtures of the dashboard's own tests, and our pages behind the real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from django.core.cache import cache
from django.utils import timezone

from dashboard.config.asgi import application
from dashboard.config.web import server_settings
from dashboard.models import (
    Cluster,
    GroupChange,
    LabRun,
    ManagedGroup,
    ReportDefinition,
    ResendRun,
    SavedScenario,
    Team,
    User,
)
from tests.attacks.routes import SAMPLES
from tests.dashboard.alerts.made import one_of_each_alert
from tests.dashboard.alerts.tried import finished_trial
from tests.dashboard.conftest import (
    Write,
    files_are_made_here,
    hangzhou,
    nobody_there,
    sign_in,
    write,
)
from tests.dashboard.documents import overview, waiting_for_locks
from tests.dashboard.reports.finished import finished_run, two_epochs
from tests.support.valkey import valkey, valkey_server

__all__ = [
    "files_are_made_here",
    "hangzhou",
    "nobody_there",
    "sign_in",
    "valkey",
    "valkey_server",
    "write",
]


@asynccontextmanager
async def served(proxies: list[str]) -> AsyncIterator[int]:
    """Serve our pages as the launcher does, and give the port."""
    settings = server_settings("127.0.0.1", 0, proxies)
    settings["timeout_graceful_shutdown"] = 1
    server = uvicorn.Server(
        uvicorn.Config(application, **settings, lifespan="off", log_config=None)
    )
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await serving


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """Our pages as they are without a proxy."""
    async with served([]) as port:
        yield port


@pytest.fixture
async def port_behind_a_proxy() -> AsyncIterator[int]:
    """Our pages where whoever asks is a trusted proxy."""
    async with served(["127.0.0.0/8"]) as port:
        yield port


@pytest.fixture
def one_of_each(write: Write, settings: Any, tmp_path: Path) -> Iterator[None]:
    """One of everything, with the number 1 where numbers are in addresses."""
    cache.clear()
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    write(overview(), waiting_for_locks())
    owner = User.objects.create_user("one", pk=1)
    two_epochs()
    finished_run(tmp_path, pk=1)
    finished_trial(pk=2)
    one_of_each_alert()
    cluster = Cluster.objects.get(name="hangzhou")
    asked = {"asked_at": timezone.now(), "asked_by_name": "olga"}
    LabRun.objects.create(pk=1, cluster=cluster, lab="F5", **asked)
    ResendRun.objects.create(
        pk=1,
        cluster=cluster,
        group=SAMPLES["group"],
        target="group",
        rate=1,
        reason="x",
        at=timezone.now(),
    )
    ReportDefinition.objects.create(pk=1, cluster="hangzhou", period="day")
    Team.objects.create(pk=1, name="Payments").members.add(owner)
    name = {"cluster": cluster, "group": SAMPLES["group"]}
    SavedScenario.objects.create(pk=1, name="x", shared=True, owner=owner, **name)
    group = ManagedGroup.objects.create(pk=1, cluster=cluster, name=SAMPLES["group"])
    state = {"strategy": "AVG", "strategy_options": {}, "members": []}
    GroupChange.objects.create(
        pk=1, group=group, before=state, after=state, revision=1, at=timezone.now()
    )
    yield
    cache.clear()
