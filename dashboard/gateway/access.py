"""What a subject may do on a broker, as a table: a row for each policy and resource.

A key is `Custom Topic:orders`; a value is `ALLOW Pub,Sub`, followed by `from ` and the
addresses, if the rule holds only for some.
"""

from __future__ import annotations

from rmqcore.admin import AccessRule, AccessUser, Admin
from rmqcore.errors import ArgumentError

from .configured import Values


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


async def everybody(
    admin: Admin, address: str
) -> tuple[tuple[AccessUser, ...], tuple[AccessRule, ...]]:
    """Return all users and rules of one broker."""
    return await admin.users(address), await admin.rules(address)
