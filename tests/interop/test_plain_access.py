"""Accounts in the files of real brokers of 4.9, read through the admin client."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from dashboard.gateway.access import everybody
from rmqcore.admin import AclCredentials, Admin, PlainAccess, PlainAccount
from tests.support.apache import BRIEF, start_cluster
from tests.support.jars import OLDEST_VERSION

from .sides import PATIENT

pytestmark = pytest.mark.interop

SECRET: Final = "sk-12345678"
FILE: Final = f"""
globalWhiteRemoteAddresses:
  - 10.10.103.*
accounts:
  - accessKey: orders-app
    secretKey: {SECRET}
    whiteRemoteAddress: 10.0.0.*
    admin: false
    defaultTopicPerm: DENY
    defaultGroupPerm: SUB
    topicPerms:
      - orders=PUB|SUB
    groupPerms:
      - billing=DENY
  - accessKey: operator
    secretKey: {SECRET}
    admin: true
"""


def write_file(_name: str, config: Path) -> None:
    (config.parents[1] / "conf" / "plain_acl.yml").write_text(FILE)


async def test_a_file_is_read_without_its_secrets(tmp_path: Path) -> None:
    with start_cluster(
        tmp_path,
        version=OLDEST_VERSION,
        settings={"aclEnable": "true"},
        seed=write_file,
        jvm_options=BRIEF,
    ) as cluster:
        keys = AclCredentials("operator", SECRET)
        address = cluster.brokers["broker-a"]
        async with Admin(
            cluster.nameserver, credentials=keys, timeout=20, patience=PATIENT
        ) as admin:
            found = await everybody(admin, address)
    assert found == PlainAccess(
        ("10.10.103.*",),
        (
            PlainAccount(
                "orders-app",
                False,
                "10.0.0.*",
                "DENY",
                "SUB",
                ("orders=PUB|SUB",),
                ("billing=DENY",),
            ),
            PlainAccount("operator", True, None, None, None, (), ()),
        ),
    )
