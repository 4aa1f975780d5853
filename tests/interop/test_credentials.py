"""A real Apache RocketMQ that checks signatures, and our admin client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

import pytest

from rmqcore.admin import AclCredentials, Admin
from rmqcore.errors import AccessDeniedError
from rmqcore.model.columns import Reason
from tests.support.apache import ApacheCluster, start_cluster
from tests.support.jars import rocketmq_version

from .conftest import PATIENT

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(
        rocketmq_version().startswith("4."),
        reason="4.x checks signatures with another module, set up by files",
    ),
]

_PROVIDER: Final = "org.apache.rocketmq.auth.authentication.provider"
_USER: Final = {"accessKey": "root", "secretKey": "sk-12345678"}
_SETTINGS: Final = {
    "authenticationEnabled": "true",
    "authenticationProvider": f"{_PROVIDER}.DefaultAuthenticationProvider",
    "authenticationMetadataProvider": (
        f"{_PROVIDER}.LocalAuthenticationMetadataProvider"
    ),
    "initAuthenticationUser": json.dumps(
        {"username": _USER["accessKey"], "password": _USER["secretKey"]}
    ),
    "innerClientAuthenticationCredentials": json.dumps(_USER),
}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheCluster]:
    directory = tmp_path_factory.mktemp("guarded")
    with start_cluster(directory, settings=_SETTINGS) as cluster:
        yield cluster


def attach(cluster: ApacheCluster, credentials: AclCredentials | None) -> Admin:
    return Admin(
        cluster.nameserver, credentials=credentials, timeout=20, patience=PATIENT
    )


@pytest.mark.parametrize(
    ("credentials", "words"),
    [
        (None, "username"),
        (AclCredentials("root", "wrong"), "signature"),
        (AclCredentials("nobody", "sk-12345678"), "nobody"),
    ],
)
async def test_wrong_credentials_are_named_and_nothing_is_made_up(
    guarded: ApacheCluster, credentials: AclCredentials | None, words: str
) -> None:
    async with attach(guarded, credentials) as admin:
        (broker,) = (await admin.snapshot()).brokers
        assert (broker.answered, broker.reason) == (False, Reason.DENIED)
        assert guarded.brokers["broker-a"] in (broker.error or "")
        assert words in (broker.error or "")
        with pytest.raises(AccessDeniedError, match=guarded.brokers["broker-a"]):
            await admin.create_topic("T", 1)


async def test_the_right_credentials_open_the_door(guarded: ApacheCluster) -> None:
    async with attach(guarded, AclCredentials("root", "sk-12345678")) as admin:
        await admin.create_topic("T", 2)
        snapshot = await admin.snapshot()
        assert snapshot.complete
        assert len(snapshot.topics["T"].keys) == 2
