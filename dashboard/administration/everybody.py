"""The users and rules of all brokers side by side: who is known where, and as what."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dashboard.gateway.access import (
    AccessRule,
    AccessUser,
    PlainAccess,
    PlainAccount,
    Told,
    account_text,
    everybody,
    rule_text,
)
from dashboard.gateway.asking import ask, settings_of
from dashboard.models import Cluster
from rmqcore.errors import RmqError

from .refusals import SilentClusterError


@dataclass(frozen=True, slots=True)
class Row:
    """A user, rule, account or address with the brokers that have it, and lack it.

    `what` is a user's kind and status, a rule's decision, actions and sources, or what
    an account may do; `key` is a rule's policy and resource, or an account's address.
    """

    name: str
    key: str
    what: str
    brokers: tuple[str, ...]
    lacking: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Everybody:
    """Users and rules of a cluster; `silent` are brokers that did not tell, and why.

    `accounts` and `addresses` are those in the files of older brokers, which are `old`.
    `open` are brokers that keep neither users nor accounts: there, anybody may do
    anything.
    """

    users: tuple[Row, ...]
    rules: tuple[Row, ...]
    accounts: tuple[Row, ...]
    addresses: tuple[Row, ...]
    told: tuple[str, ...]
    old: tuple[str, ...]
    silent: tuple[tuple[str, str], ...]
    open: tuple[str, ...]


def everybody_of(cluster: Cluster) -> Everybody:
    """Ask every broker for its users and rules; raise SilentClusterError."""
    try:
        return ask(settings_of(cluster.name), _ask)
    except RmqError as error:
        raise SilentClusterError(str(error)) from error


async def _ask(admin: Any) -> Everybody:
    brokers = await admin.brokers()
    answers = await asyncio.gather(
        *(everybody(admin, str(each.any_address)) for each in brokers),
        return_exceptions=True,
    )
    return side_by_side(
        dict(zip((each.broker_name for each in brokers), answers, strict=True))
    )


def side_by_side(
    answers: Mapping[str, Told | PlainAccess | BaseException | None],
) -> Everybody:
    """Compare what brokers, by name, said of who may do what on them."""
    users, rules, accounts, addresses = _Found(), _Found(), _Found(), _Found()
    silent, unguarded = [], []
    for name, answer in answers.items():
        if answer is None:
            unguarded.append(name)
        elif isinstance(answer, RmqError):
            silent.append((name, str(answer)))
        elif isinstance(answer, BaseException):
            raise answer
        elif isinstance(answer, PlainAccess):
            accounts.add(name, map(_account, answer.accounts))
            addresses.add(name, ((address, "", "") for address in answer.addresses))
        else:
            users.add(name, map(_user, answer[0]))
            rules.add(name, map(_rule, answer[1]))
    return Everybody(
        users.rows(),
        rules.rows(),
        accounts.rows(),
        addresses.rows(),
        tuple(users.told),
        tuple(accounts.told),
        tuple(silent),
        tuple(unguarded),
    )


def _user(user: AccessUser) -> tuple[str, str, str]:
    return user.name, "", f"{user.kind}, {user.status}"


def _rule(rule: AccessRule) -> tuple[str, str, str]:
    return rule.subject, f"{rule.policy} {rule.resource}", rule_text(rule)


def _account(account: PlainAccount) -> tuple[str, str, str]:
    return account.access_key, account.address or "", account_text(account)


@dataclass(slots=True)
class _Found:
    """What brokers have of one kind: name, key and what is said, and who has it so."""

    told: list[str] = field(default_factory=list)
    brokers: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)

    def add(self, broker: str, found: Iterable[tuple[str, str, str]]) -> None:
        self.told.append(broker)
        for each in found:
            self.brokers.setdefault(each, []).append(broker)

    def rows(self) -> tuple[Row, ...]:
        return tuple(
            Row(*each, tuple(those), tuple(n for n in self.told if n not in those))
            for each, those in sorted(self.brokers.items())
        )
