"""The users and rules of all brokers side by side: who is known where, and as what."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from dashboard.gateway.access import everybody, rule_text
from dashboard.gateway.asking import ask, settings_of
from dashboard.models import Cluster
from rmqcore.errors import ResponseError, RmqError

from .refusals import SilentClusterError

UNSUPPORTED: Final = 3
"""RocketMQ's answer to a request that a broker does not know."""


@dataclass(frozen=True, slots=True)
class Row:
    """A user or rule with the brokers that have it so, and those that do not.

    `what` is a user's kind and status, or a rule's decision, actions and sources.
    """

    name: str
    key: str
    what: str
    brokers: tuple[str, ...]
    lacking: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Everybody:
    """Users and rules of a cluster; `silent` are brokers that did not tell, and why.

    `unsupported` are brokers that keep no users: 4.x, or those that check nothing.
    """

    users: tuple[Row, ...]
    rules: tuple[Row, ...]
    told: tuple[str, ...]
    silent: tuple[tuple[str, str], ...]
    unsupported: tuple[str, ...]


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
    users: dict[tuple[str, str, str], list[str]] = {}
    rules: dict[tuple[str, str, str], list[str]] = {}
    told, silent, unsupported = [], [], []
    for broker, answer in zip(brokers, answers, strict=True):
        name = broker.broker_name
        if isinstance(answer, ResponseError) and answer.code == UNSUPPORTED:
            unsupported.append(name)
        elif isinstance(answer, RmqError):
            silent.append((name, str(answer)))
        elif isinstance(answer, BaseException):
            raise answer
        else:
            told.append(name)
            its_users, its_rules = answer
            for user in its_users:
                what = f"{user.kind}, {user.status}"
                users.setdefault((user.name, "", what), []).append(name)
            for rule in its_rules:
                key = f"{rule.policy} {rule.resource}"
                found = (rule.subject, key, rule_text(rule))
                rules.setdefault(found, []).append(name)
    return Everybody(
        _rows(users, told),
        _rows(rules, told),
        tuple(told),
        tuple(silent),
        tuple(unsupported),
    )


def _rows(
    found: dict[tuple[str, str, str], list[str]], told: list[str]
) -> tuple[Row, ...]:
    return tuple(
        Row(
            *each,
            tuple(brokers),
            tuple(name for name in told if name not in brokers),
        )
        for each, brokers in sorted(found.items())
    )
