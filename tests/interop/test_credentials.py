"""A real Apache RocketMQ that checks signatures and encrypts, and our clients."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from dashboard.gateway.access import read_rules, write_rules
from rmqcore.admin import AccessRule, AccessUser, AclCredentials, Admin
from rmqcore.client import Producer
from rmqcore.errors import AccessDeniedError
from rmqcore.model import Message
from rmqcore.model.columns import Reason
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import connect
from tests.support.apache import BRIEF, ApacheCluster, start_cluster
from tests.support.browser import find_chromium
from tests.support.jars import rocketmq_version
from tests.support.java_driver import AdminTool, JavaDriver
from tests.support.product import running_product

from .forms import change, undo
from .mqadmin_tool import Mqadmin
from .sides import PATIENT, Side, our_member, until

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(
        rocketmq_version().startswith("4."),
        reason="4.x checks signatures with another module, set up by files",
    ),
]

ROW: Final = "Custom Topic:{}"
ALLOW: Final = "ALLOW Pub,Sub from 10.0.0.1"
KEYS: Final = AclCredentials("root", "sk-12345678")
LIMITED: Final = AclCredentials("limited", "sk-87654321")
_PROVIDER: Final = "org.apache.rocketmq.auth.authentication.provider"
_AUTHORIZATION: Final = "org.apache.rocketmq.auth.authorization.provider"
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
    "authorizationEnabled": "true",
    "authorizationProvider": f"{_AUTHORIZATION}.DefaultAuthorizationProvider",
    "authorizationMetadataProvider": (
        f"{_AUTHORIZATION}.LocalAuthorizationMetadataProvider"
    ),
}


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def guarded(
    authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApacheCluster]:
    directory = tmp_path_factory.mktemp("guarded")
    with start_cluster(
        directory,
        settings=_SETTINGS,
        jvm_options=(*BRIEF, *tls_options(authority, directory)),
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def java(
    guarded: ApacheCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JavaDriver]:
    """Java clients beside this cluster: no test needs the one that others share."""
    with JavaDriver(guarded.nameserver, tmp_path_factory.mktemp("java")) as driver:
        yield driver


@pytest.fixture
def encrypted(authority: trustme.CA) -> ssl.SSLContext:
    """What trusts the cluster's certificate, and no other."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


def tls_options(authority: trustme.CA, directory: Path) -> list[str]:
    """Let Java processes take plain and encrypted connections on one port."""
    issued = authority.issue_cert("127.0.0.1")
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    issued.cert_chain_pems[0].write_to_path(certificate)
    # Netty reads keys of this form only.
    key.write_bytes(
        load_pem_private_key(issued.private_key_pem.bytes(), None).private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
        )
    )
    options = {
        "tls.server.mode": "permissive",
        "tls.test.mode.enable": "false",
        "tls.server.certPath": certificate,
        "tls.server.keyPath": key,
    }
    return [f"-D{name}={value}" for name, value in options.items()]


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
    async with attach(guarded, KEYS) as admin:
        await admin.create_topic("T", 2)
        snapshot = await admin.snapshot()
        assert snapshot.complete
        assert len(snapshot.topics["T"].keys) == 2


async def test_users_and_rules_are_added_changed_and_removed(
    guarded: ApacheCluster, name: str
) -> None:
    (address,) = guarded.brokers.values()
    user, subject = AccessUser(name, "Normal", "enable"), f"User:{name}"
    rule = AccessRule(subject, f"Topic:{name}", ("Pub", "Sub"), "Allow", ("10.0.0.1",))
    async with attach(guarded, KEYS) as admin:
        await admin.put_user(user, address, password="sk-12345678", new=True)
        assert user in await admin.users(address)
        disabled = AccessUser(name, "Normal", "disable")
        await admin.put_user(disabled, address, password="", new=False)
        assert disabled in await admin.users(address)

        await write_rules(admin, subject, address, None, {ROW.format(name): ALLOW})
        assert rule in await admin.rules(address)
        more = {ROW.format(name): "DENY Sub", "Custom Group:*": "ALLOW Sub"}
        await write_rules(admin, subject, address, {ROW.format(name): ALLOW}, more)
        assert await read_rules(admin, subject, address) == more
        less = {"Custom Group:*": "ALLOW Sub"}
        await write_rules(admin, subject, address, more, less)
        assert await read_rules(admin, subject, address) == less

        await admin.drop_user(name, address)
        assert disabled not in await admin.users(address)
        # A broker deletes what a user may do together with the user.
        assert await read_rules(admin, subject, address) is None


@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
def test_users_and_rules_are_changed_in_the_browser(
    guarded: ApacheCluster, name: str, tmp_path: Path
) -> None:
    settings = {
        "ROCKETSCOPE_CLUSTERS": f"east={guarded.nameserver}",
        "ROCKETSCOPE_CLUSTER_EAST_WRITES": "on",
        "ROCKETSCOPE_CLUSTER_EAST_ACCESS_KEY": KEYS.access_key,
        "ROCKETSCOPE_CLUSTER_EAST_SECRET_KEY": KEYS.secret_key,
    }
    keys = tmp_path / "tool" / "conf" / "tools.yml"
    keys.parent.mkdir(parents=True)
    keys.write_text(f"accessKey: {KEYS.access_key}\nsecretKey: {KEYS.secret_key}\n")
    (address,) = guarded.brokers.values()
    access, subject = "/clusters/east/access", f"User:{name}"
    with (
        AdminTool(tmp_path / "tool") as running,
        running_product(tmp_path / "product", settings) as product,
        product.page() as page,
    ):
        tool = Mqadmin(running, guarded.nameserver, guarded.brokers)

        def users() -> list[str]:
            text = tool.say("listUser", "-b", address, "-f", name)
            return [line for line in text.splitlines() if line.startswith(name)]

        def rules() -> str:
            return tool.say("listAcl", "-b", address, "-s", subject)

        change(page, f"{access}/new/", {"name": name}, secret="sk-12345678")
        (line,) = users()
        assert line.split()[-2:] == ["Normal", "enable"]
        status = {"userStatus": "disable"}
        change(page, f"{access}/user/?name={name}", status)
        assert users()[0].split()[-1] == "disable"
        undo(page)
        assert users()[0].split()[-1] == "enable"
        rule = {"resource": f"Topic:{name}", "actions": "Pub,Sub"}
        change(page, f"{access}/rules/?name={subject}", rule)
        assert f"Topic:{name}" in rules()
        assert "Allow" in rules()
        undo(page)
        assert f"Topic:{name}" not in rules()
        change(page, f"{access}/user/delete/?name={name}", confirm=name)
        assert users() == []


async def test_signed_and_encrypted_our_clients_and_javas_exchange_messages(
    guarded: ApacheCluster, java: JavaDriver, name: str, encrypted: ssl.SSLContext
) -> None:
    side = Side(guarded.nameserver, java)
    async with attach(guarded, KEYS) as admin:
        await admin.create_topic(name, 4)
    signed = {"access_key": KEYS.access_key, "secret_key": KEYS.secret_key, "tls": 1}
    group = {"group": name, "topic": name}
    await side.start_java(name, **group, **signed)
    async with our_member(
        side, f"{name}-ours", **group, credentials=KEYS, tls=encrypted
    ) as ours:
        await until(
            lambda: len(ours.queues) == len(side.java_queues(name)) == 2,
            lambda: (ours.queues, side.java_queues(name)),
        )
        producer = Producer(
            guarded.nameserver, group=name, credentials=KEYS, tls=encrypted
        )
        async with producer:
            for number in range(8):
                await producer.send(Message(name, b"m%d" % number))
        await side.produce_java(name, 8, first=8, **signed)
        heard = lambda: ours.bodies + side.java_bodies(name)  # noqa: E731
        await until(lambda: len(heard()) == 16, heard)
        assert set(heard()) == {f"m{number}" for number in range(16)}
        assert ours.bodies
        assert side.java_bodies(name)
    await side.stop_java(name)


@pytest.mark.parametrize("keys", [None, AclCredentials("root", "wrong")])
async def test_a_client_with_wrong_keys_is_told(
    guarded: ApacheCluster, keys: AclCredentials | None, encrypted: ssl.SSLContext
) -> None:
    async with attach(guarded, KEYS) as admin:
        await admin.create_topic("closed", 1)
    options = {"credentials": keys, "tls": encrypted}
    async with Producer(guarded.nameserver, group="P", **options) as producer:
        with pytest.raises(AccessDeniedError, match=guarded.brokers["broker-a"]):
            await producer.send(Message("closed", b"x"))


async def tell(cluster: ApacheCluster, code: int, field: str, body: object) -> None:
    """Ask the broker to note a user, or what a user may do."""
    assert isinstance(body, dict)
    data = json.dumps(body).encode()
    channel = await connect(cluster.brokers["broker-a"])
    try:
        fields = KEYS.sign({field: body[field]}, data)
        response = await channel.request(
            RemotingCommand.request(code, fields, data), timeout=20
        )
    finally:
        await channel.close()
    assert response.code == 0, response.remark


def policy(resource: str, *actions: str, decision: str) -> dict[str, object]:
    return {
        "resource": resource,
        "actions": actions,
        "sourceIps": [],
        "decision": decision,
    }


async def test_what_a_policy_denies_is_named_and_nothing_is_lost(
    guarded: ApacheCluster, java: JavaDriver, name: str
) -> None:
    async with attach(guarded, KEYS) as admin:
        await admin.create_topic(name, 2)
    user = {
        "username": LIMITED.access_key,
        "password": LIMITED.secret_key,
        "userType": "Normal",
    }
    await tell(guarded, RequestCode.AUTH_CREATE_USER, "username", user)
    entries = [
        policy(f"Topic:{name}", "Pub", decision="Deny"),
        *(
            policy(resource, "Sub", decision="Allow")
            for resource in (f"Topic:{name}", f"Topic:%RETRY%{name}", f"Group:{name}")
        ),
    ]
    rules = {
        "subject": f"User:{LIMITED.access_key}",
        "policies": [{"policyType": "Custom", "entries": entries}],
    }
    await tell(guarded, RequestCode.AUTH_CREATE_ACL, "subject", rules)

    where = guarded.brokers["broker-a"]
    address = guarded.nameserver
    async with (
        Producer(address, group=name, credentials=KEYS) as allowed,
        Producer(address, group=name, credentials=LIMITED) as denied,
        our_member(
            Side(address, java), name, group=name, topic=name, credentials=LIMITED
        ) as reader,
    ):
        for number in range(4):
            await allowed.send(Message(name, b"m%d" % number))
            refused = Message(name, b"refused")
            with pytest.raises(
                AccessDeniedError, match=rf"{where}.*limited.*Topic:{name}"
            ):
                await denied.send(refused)
            with pytest.raises(AccessDeniedError, match=f"Topic:{name}"):
                await denied.send_batch([refused, refused])
        await until(lambda: len(reader.bodies) >= 4, lambda: reader.bodies)
        assert sorted(reader.bodies) == ["m0", "m1", "m2", "m3"]
