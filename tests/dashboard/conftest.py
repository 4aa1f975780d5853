"""Fixtures that every room of the dashboard may ask for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import orjson
import pytest
import redis
from django.test import Client
from django.utils import timezone, translation

from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.settings import ClusterSettings
from dashboard.live.kept_overviews import forget_overviews
from dashboard.live.names import group_key, overview_columns_key, overview_key
from dashboard.live.overview_rows import OverviewEncoder
from dashboard.models import Role, User
from dashboard.reports import maker, making
from tests.support.valkey import Valkey, valkey, valkey_server

__all__ = ["valkey", "valkey_server"]

SignIn = Callable[[Role], Client]
Write = Callable[..., None]


@pytest.fixture(autouse=True)
def language_and_zone_of_the_settings() -> Iterator[None]:
    """Leave no request's language and zone to the next test of the same thread."""
    yield
    translation.deactivate()
    timezone.deactivate()


@pytest.fixture(autouse=True)
def files_are_made_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make files in this process: another one does not see a test's transaction.

    `tests/dashboard/reports/test_making.py` uses the real one.
    """

    class Here:
        def make(self, wish: making.FileWish) -> None:
            maker.make_file(json.loads(wish.to_json()))

    monkeypatch.setattr(making, "MAKER", Here())


@pytest.fixture
def sign_in(db: None) -> SignIn:
    """Return a browser signed in as a user of the role asked for."""

    def make(role: Role) -> Client:
        user, _made = User.objects.get_or_create(username=role.value, role=role)
        client = Client()
        client.force_login(user)
        return client

    return make


@pytest.fixture
def hangzhou(db: None, settings: Any) -> ClusterSettings:
    """One configured cluster of that name, on which groups may be hosted."""
    servers = ("10.20.6.1:9876", "10.20.6.2:9876")
    cluster = ClusterSettings("hangzhou", servers, writes=True)
    settings.ROCKETSCOPE_CLUSTERS = {cluster.name: cluster}
    sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
    return cluster


@pytest.fixture
def nobody_there(hangzhou: ClusterSettings, settings: Any) -> None:
    """Let connections to the cluster be refused at once, wherever the tests run."""
    away = replace(hangzhou, name_servers=("127.0.0.1:1",))
    settings.ROCKETSCOPE_CLUSTERS = {away.name: away}


def stored(document: Any) -> dict[str, bytes]:
    """Return a group's document or an overview as the collector stores it, by key."""
    cluster, group = document["cluster"], document.get("group")
    if group:
        return {group_key(cluster, group): orjson.dumps(document)}
    text, columns = OverviewEncoder().encode(document)
    return {overview_key(cluster): text, overview_columns_key(cluster): columns}


@pytest.fixture
def write(valkey: Valkey, hangzhou: ClusterSettings) -> Iterator[Write]:
    """Put documents into the cache, as the collector does."""

    def put(*documents: Any) -> None:
        with redis.Redis(port=valkey.port) as client:
            for document in documents:
                client.mset(stored(document))
        # Documents of tests have the same number, whatever they say.
        forget_overviews()

    yield put
    forget_overviews()
