"""What somebody who can write to Redis makes of us."""

from __future__ import annotations

import base64
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from channels.layers import get_channel_layer
from django.core.cache import cache
from django.test import Client
from kombu import Connection
from kombu.exceptions import ContentDisallowed

from dashboard.accounts.throttle import LIMIT, SignInThrottle
from dashboard.config.cached import redis_cache
from dashboard.config.celery import app
from dashboard.gateway.settings import ClusterSettings
from dashboard.live import names
from dashboard.live.relay import Outbox, relay
from dashboard.models import Role
from tests.dashboard.conftest import SignIn
from tests.support.valkey import Valkey
from tests.support.waiting import eventually

pytestmark = pytest.mark.django_db


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self._path,)


@pytest.fixture
def sprung(tmp_path: Path) -> Path:
    """The file that exists once something of ours has unpickled the trap."""
    return tmp_path / "sprung"


@pytest.fixture
def trap(sprung: Path) -> bytes:
    return pickle.dumps(Trap(sprung))


@pytest.fixture
def planted(valkey: Valkey, settings: Any, hangzhou: ClusterSettings) -> Iterator[Any]:
    """Redis as an attacker reaches it, with our cache in it."""
    settings.CACHES = {"default": redis_cache(valkey.url)}
    with redis.Redis(port=valkey.port) as client:
        yield client


def test_the_trap_works(trap: bytes, sprung: Path) -> None:
    pickle.loads(trap)
    assert sprung.exists()


def test_a_cached_value_is_not_unpickled(
    planted: redis.Redis, trap: bytes, sprung: Path
) -> None:
    cache.set("kept", {"a": [1, "b"]})
    assert cache.get("kept") == {"a": [1, "b"]}
    planted.set(cache.make_key("kept"), trap)
    assert cache.get("kept") is None
    assert cache.get_many(["kept"]) == {"kept": None}
    assert not sprung.exists()


@pytest.mark.parametrize("value", [b"\x80", b'"x"', b"[]", b"null", b"1e999", b"{}"])
def test_a_count_that_is_none_lets_in_and_counts_again(
    planted: redis.Redis, value: bytes
) -> None:
    throttle = SignInThrottle("admin", "127.0.0.1")
    throttle.failed()
    (key,) = planted.keys("rs:*sign-in:*")
    planted.set(key, value)
    throttle.check()
    for _ in range(LIMIT):
        throttle.failed()


def keys_of(cluster: str, group: str) -> list[str]:
    return [
        names.overview_key(cluster),
        names.group_key(cluster, group),
        names.lake_gap_key(cluster),
        names.memory_key(cluster),
        names.moments_key(cluster, 0),
        names.metrics_key("collector@here"),
        names.lease_key(cluster),
        names.fence_key(cluster),
        names.BEAT_KEY,
    ]


@pytest.mark.parametrize(
    "path",
    [
        "/clusters/hangzhou/",
        "/clusters/hangzhou/groups/settlement/",
        "/reports/",
        "/timers/",
        "/metrics",
    ],
)
def test_pages_bear_pickles_in_the_place_of_documents(
    planted: redis.Redis, sign_in: SignIn, trap: bytes, sprung: Path, path: str
) -> None:
    for key in keys_of("hangzhou", "settlement"):
        planted.set(key, trap)
    client: Client = sign_in(Role.ADMIN)
    assert client.get(path).status_code in (200, 404)
    assert not sprung.exists()


@pytest.mark.parametrize(
    "path", ["clusters/hangzhou/groups", "clusters/hangzhou/groups/settlement"]
)
def test_programs_are_told_that_a_document_cannot_be_read(
    planted: redis.Redis, sign_in: SignIn, trap: bytes, sprung: Path, path: str
) -> None:
    for key in keys_of("hangzhou", "settlement"):
        planted.set(key, trap)
    answer = sign_in(Role.VIEWER).get(f"/api/v1/{path}")
    assert answer.status_code in (404, 503)
    assert answer.json()["detail"]
    assert not sprung.exists()


def test_a_pickled_task_is_refused_by_workers(
    planted: redis.Redis, valkey: Valkey, trap: bytes, sprung: Path
) -> None:
    body = base64.b64encode(trap).decode()
    message = {
        "body": body,
        "content-type": "application/x-python-serialize",
        "content-encoding": "binary",
        "headers": {"task": "dashboard.jobs.run", "id": "1"},
        "properties": {
            "body_encoding": "base64",
            "delivery_tag": "1",
            "delivery_info": {"exchange": "", "routing_key": "analytics"},
        },
    }
    planted.lpush("analytics", json.dumps(message))
    with Connection(valkey.url) as connection:
        queue = connection.SimpleQueue("analytics", accept=app.conf.accept_content)
        with pytest.raises(ContentDisallowed):
            queue.get(timeout=30).decode()
        queue.close()
    assert set(app.conf.accept_content) == {"json"}
    assert set(app.conf.result_accept_content) == {"json"}
    assert not sprung.exists()


async def test_a_pickle_on_a_channel_does_not_end_the_lines_of_others(
    planted: redis.Redis, trap: bytes, sprung: Path
) -> None:
    heard: list[str] = []
    cut: list[bool] = []

    async def hear(text: str) -> None:
        heard.append(text)

    async def cut_off() -> None:
        cut.append(True)

    outbox = Outbox(hear, cut_off)
    name = names.live_overview_name("hangzhou")
    await relay().join(name, outbox)
    for planted_bytes in (trap, b"\x81\xa4text\xc0", b"\xc0", b"\x80"):
        planted.publish(f"rs-live__group__{name}", planted_bytes)
    layer: Any = get_channel_layer()
    await layer.group_send(name, {"type": "live.update", "text": "true"})

    async def last() -> list[str]:
        return heard[-1:]

    await eventually(last, ["true"])
    await relay().leave(name, outbox)
    await outbox.close()
    assert not cut
    assert not sprung.exists()
