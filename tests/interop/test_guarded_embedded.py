"""Java clients on a cluster of ours that encrypts and checks signatures."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Iterator
from typing import Final

import pytest

from rmqcore.admin import AclCredentials, Admin
from tests.interop.sides import until_at_rest
from tests.support.certificates import loopback_certificate
from tests.support.java_driver import JavaDriver
from tests.support.our_clients import OurCluster

from .conftest import PATIENT

pytestmark = pytest.mark.interop

KEYS: Final = AclCredentials("root", "sk-12345678")
SIGNED: Final = {"access_key": "root", "secret_key": "sk-12345678", "tls": 1}

Guarded = tuple[OurCluster, ssl.SSLContext]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """A cluster of two brokers that takes nothing plain and nothing unsigned."""
    directory = tmp_path_factory.mktemp("guarded-embedded")
    certificate, key, context = loopback_certificate(directory)
    users = directory / "users.json"
    users.write_text(json.dumps({KEYS.access_key: KEYS.secret_key}))
    options = (
        *("--tls-certificate", str(certificate), "--tls-key", str(key)),
        *("--tls-mode", "enforcing", "--users", str(users)),
    )
    with OurCluster(directory, brokers=2, options=options) as cluster:
        yield cluster, context


@pytest.fixture
async def host(guarded: Guarded, java: JavaDriver) -> AsyncIterator[Admin]:
    """Our admin client, once Java has sent something.

    A cold JVM needs longer to encrypt for the first time than it waits for an answer.
    """
    cluster, encrypted = guarded

    async def has_sent() -> bool:
        try:
            await asyncio.to_thread(java.produce, "first", 1, **_place(cluster))
        except RuntimeError:
            return False
        return True

    async with Admin(
        cluster.nameserver, tls=encrypted, credentials=KEYS, patience=PATIENT
    ) as admin:
        await admin.create_topic("first", 1)
        await until_at_rest(has_sent, bool, seconds=60)
        yield admin


def _place(cluster: OurCluster, **changes: object) -> dict[str, object]:
    return {"nameserver": cluster.nameserver, **SIGNED, **changes}


async def test_java_sends_and_receives_signed_and_encrypted(
    guarded: Guarded, java: JavaDriver, host: Admin, name: str
) -> None:
    where = _place(guarded[0])
    await host.create_topic(name, 2)
    await asyncio.to_thread(java.start_consumer, name, group=name, topic=name, **where)
    sent = await asyncio.to_thread(java.produce, name, 20, key="k", **where)
    await asyncio.to_thread(
        java.wait_until, lambda: len(java.messages(name)) >= len(sent)
    )
    received = java.messages(name)
    assert {(m["broker"], m["queue_id"], m["offset"]) for m in received} == {
        tuple(place) for place in sent
    }
    (member,) = (await host.snapshot(groups=[name])).groups[name].members
    assert member.language == "JAVA"
    await asyncio.to_thread(java.stop_consumer, name)


async def test_java_with_a_wrong_key_sends_nothing(
    guarded: Guarded, java: JavaDriver, host: Admin, name: str
) -> None:
    # The driver keeps one producer for each spelling of a cluster's address.
    other = guarded[0].nameserver.replace("127.0.0.1", "localhost")
    wrong = _place(guarded[0], nameserver=other, secret_key="sk-wrong")
    await host.create_topic(name, 1)
    with pytest.raises(RuntimeError, match="BrokersSent"):
        await asyncio.to_thread(java.produce, name, 1, **wrong)
    stats = await host.topic_stats(name)
    assert [offset.max_offset for offset in stats.values()] == [0, 0]
