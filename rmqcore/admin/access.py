"""Calls about users and what they may do.

Brokers of 5.x have ACL 2.0 (3001-3010). Brokers of 4.x, and of 5.x before 5.3, read
accounts from files (`plain_acl.yml`), which are only read here (54).

Each broker keeps its own users and policies. A broker that checks no signatures answers
these requests with an error, or does not know them. Passwords are written, never read:
brokers of some releases send them, and they are dropped here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rmqcore.errors import BodyError
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.fastjson import dumps, loads
from rmqcore.transport.responses import raise_for_code

from .caller import Caller

CUSTOM: Final = "Custom"
"""The type of policies that people write; `Default` ones apply before those."""

_OR_NO_POLICY: Final = (ResponseCode.SUCCESS, ResponseCode.POLICY_NOT_EXIST)


@dataclass(frozen=True, slots=True)
class AccessUser:
    """A user of a broker; its status is `enable` or `disable`.

    `Super` users may do everything, `Normal` users only what policies allow.
    """

    name: str
    kind: str
    status: str


@dataclass(frozen=True, slots=True)
class AccessRule:
    """What a subject such as `User:orders` may do with one resource.

    A resource is `Topic:orders`, `Topic:ord*` (a prefix), `Group:*`, `Cluster:…`;
    actions are `Pub`, `Sub`, `Create`, `Update`, `Delete`, `Get`, `List`, `All`.
    Without sources it applies to requests from everywhere.
    """

    subject: str
    resource: str
    actions: tuple[str, ...]
    decision: str
    sources: tuple[str, ...] = ()
    policy: str = CUSTOM


@dataclass(frozen=True, slots=True)
class PlainAccount:
    """An account of a broker's `plain_acl.yml`, without its secret key.

    Permissions are `DENY`, `PUB`, `SUB` or `PUB|SUB`; None where the file says nothing,
    which brokers take for `DENY`. `topics` and `groups` are as in the file, such as
    `orders=PUB|SUB`. Without an address the account may come from everywhere.
    """

    access_key: str
    admin: bool
    address: str | None
    default_topic: str | None
    default_group: str | None
    topics: tuple[str, ...]
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlainAccess:
    """What a broker's `plain_acl.yml` says; the addresses need no account at all."""

    addresses: tuple[str, ...]
    accounts: tuple[PlainAccount, ...]


class AccessCalls(Caller):
    """The questions and operations on a broker's users and policies."""

    async def users(self, broker_address: str) -> tuple[AccessUser, ...]:
        """Return the users of one broker, by name."""
        body = await self._access(broker_address, RequestCode.AUTH_LIST_USER, {})
        return tuple(sorted(map(_user, _documents(body)), key=lambda user: user.name))

    async def put_user(
        self, user: AccessUser, broker_address: str, *, password: str, new: bool
    ) -> None:
        """Create a user, or change one; an empty password leaves it as it is."""
        code = RequestCode.AUTH_CREATE_USER if new else RequestCode.AUTH_UPDATE_USER
        document = {
            "password": password or None,
            "userStatus": user.status,
            "userType": user.kind,
            "username": user.name,
        }
        await self._access(
            broker_address, code, {"username": user.name}, dumps(document)
        )

    async def drop_user(self, name: str, broker_address: str) -> None:
        """Delete a user; brokers delete the user's policies with it."""
        await self._access(
            broker_address, RequestCode.AUTH_DELETE_USER, {"username": name}
        )

    async def rules(self, broker_address: str) -> tuple[AccessRule, ...]:
        """Return what every subject may do on one broker."""
        body = await self._access(broker_address, RequestCode.AUTH_LIST_ACL, {})
        return tuple(rule for each in _documents(body) for rule in _rules(each))

    async def put_rule(
        self, rule: AccessRule, broker_address: str, *, new: bool
    ) -> None:
        """Add a rule, or replace the one for the same resource.

        `new` says that the subject has no rule yet.
        """
        code = RequestCode.AUTH_CREATE_ACL if new else RequestCode.AUTH_UPDATE_ACL
        entry = {
            "actions": list(rule.actions),
            "decision": rule.decision,
            "resource": rule.resource,
            "sourceIps": list(rule.sources),
        }
        document = {
            "policies": [{"entries": [entry], "policyType": rule.policy}],
            "subject": rule.subject,
        }
        await self._access(
            broker_address, code, {"subject": rule.subject}, dumps(document)
        )

    async def drop_rule(
        self, subject: str, resource: str, broker_address: str, *, policy: str = CUSTOM
    ) -> None:
        """Delete the rule for one resource."""
        await self._access(
            broker_address,
            RequestCode.AUTH_DELETE_ACL,
            {"subject": subject, "resource": resource, "policyType": policy},
        )

    async def plain_access(self, broker_address: str) -> PlainAccess:
        """Return the accounts of one broker's file.

        A broker whose setting `aclEnable` is not `true` answers nothing at all: ask
        for its settings first. The answer holds the secret keys, which are dropped.
        """
        code = RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG
        document = loads(await self._access(broker_address, code, {}))
        if not isinstance(document, dict):
            raise BodyError("an object with accounts was expected")
        return PlainAccess(
            tuple(map(str, document.get("globalWhiteAddrs") or ())),
            tuple(map(_account, document.get("plainAccessConfigs") or ())),
        )

    async def _access(
        self,
        address: str,
        code: RequestCode,
        fields: Mapping[str, str],
        body: bytes = b"",
    ) -> bytes:
        request = RemotingCommand.request(code, dict(fields), body)
        answer = await self._pool.request(address, request, self._timeout)
        raise_for_code(answer, request_code=code, address=address, ok=_OR_NO_POLICY)
        return answer.body


def _documents(body: bytes) -> Sequence[Mapping[str, Any]]:
    found = loads(body) if body else []
    if not isinstance(found, list) or not all(isinstance(x, dict) for x in found):
        raise BodyError("a list of objects was expected")
    return found


def _user(document: Mapping[str, Any]) -> AccessUser:
    return AccessUser(
        str(document.get("username") or ""),
        str(document.get("userType") or ""),
        str(document.get("userStatus") or ""),
    )


def _rules(document: Mapping[str, Any]) -> list[AccessRule]:
    return [
        AccessRule(
            str(document.get("subject") or ""),
            str(entry.get("resource") or ""),
            tuple(map(str, entry.get("actions") or ())),
            str(entry.get("decision") or ""),
            tuple(map(str, entry.get("sourceIps") or ())),
            str(policy.get("policyType") or CUSTOM),
        )
        for policy in document.get("policies") or ()
        for entry in policy.get("entries") or ()
    ]


def _account(document: Mapping[str, Any]) -> PlainAccount:
    return PlainAccount(
        str(document.get("accessKey") or ""),
        document.get("admin") is True,
        document.get("whiteRemoteAddress") or None,
        document.get("defaultTopicPerm"),
        document.get("defaultGroupPerm"),
        tuple(map(str, document.get("topicPerms") or ())),
        tuple(map(str, document.get("groupPerms") or ())),
    )
