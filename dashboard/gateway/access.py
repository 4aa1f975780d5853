"""What a subject may do on a broker, as a table: a row for each policy and resource.

A key is `Custom Topic:orders`; a value is `ALLOW Pub,Sub`, followed by `from ` and the
addresses, if the rule holds only for some.
"""

from __future__ import annotations

from rmqcore.admin import AccessRule, AccessUser, Admin, PlainAccess, PlainAccount
from rmqcore.errors import ArgumentError, ResponseError
from rmqcore.protocol.codes import ResponseCode

from .configured import Values

__all__ = [
    "AccessRule",
    "AccessUser",
    "PlainAccess",
    "PlainAccount",
    "Told",
    "account_text",
    "everybody",
    "read_rules",
    "rule_of",
    "rule_text",
    "write_rules",
]


async def read_rules(admin: Admin, subject: str, address: str) -> Values | None:
    """Return a subject's rules on one broker, or None if it has none."""
    found = {
        f"{rule.policy} {rule.resource}": rule_text(rule)
        for rule in await admin.rules(address)
        if rule.subject == subject
    }
    return found or None


async def write_rules(
    admin: Admin,
    subject: str,
    address: str,
    before: Values | None,
    after: Values | None,
) -> None:
    """Bring a subject's rules on one broker from one table to another."""
    old, new = before or {}, after or {}
    has_rules = bool(old)
    for key, text in new.items():
        if old.get(key) != text:
            await admin.put_rule(
                rule_of(subject, key, text), address, new=not has_rules
            )
            has_rules = True
    for key in old:
        if key not in new:
            policy, _, resource = key.partition(" ")
            await admin.drop_rule(subject, resource, address, policy=policy)


def rule_text(rule: AccessRule) -> str:
    """Return a rule as a value of the table."""
    text = f"{rule.decision.upper()} {','.join(rule.actions)}"
    return f"{text} from {','.join(rule.sources)}" if rule.sources else text


def rule_of(subject: str, key: str, text: str) -> AccessRule:
    """Return the rule that a row of the table stands for."""
    policy, _, resource = key.partition(" ")
    allowed, _, sources = text.partition(" from ")
    decision, _, actions = allowed.partition(" ")
    if not resource or not actions:
        raise ArgumentError(f"rule {key!r}: {text!r} has no resource or no action")
    return AccessRule(
        subject,
        resource,
        tuple(actions.split(",")),
        decision.capitalize(),
        tuple(filter(None, sources.split(","))),
        policy,
    )


def account_text(account: PlainAccount) -> str:
    """Return what an account may do, in the words of its file."""
    if account.admin:
        return "admin"
    topic, group = account.default_topic or "DENY", account.default_group or "DENY"
    rules = (*account.topics, *account.groups)
    said = f"topics {topic}, groups {group}"
    return f"{said}, {', '.join(rules)}" if rules else said


Told = tuple[tuple[AccessUser, ...], tuple[AccessRule, ...]]
"""All users and rules of one broker."""


async def everybody(admin: Admin, address: str) -> Told | PlainAccess | None:
    """Return who may do what on one broker.

    That is users and rules of ACL 2.0, or what is in an older broker's file, or None
    if the broker lets everybody do everything.
    """
    try:
        return await admin.users(address), await admin.rules(address)
    except ResponseError as error:
        if error.code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
            raise
    settings = await admin.broker_settings(address)
    if settings.get("aclEnable") != "true":
        return None
    return await admin.plain_access(address)
