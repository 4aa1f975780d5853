"""Members of a group subscribe to a topic with different expressions (behaviour E3).

A broker keeps one subscription per group and topic, the newest, and filters for all
members with it, while queues are divided among all. So messages that match only the
other expressions are dropped, and the commits go past them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _
from rmqcore.model.subscription import SubscriptionData

KEY: Final = "inconsistent_subscriptions"

Meaning: TypeAlias = tuple[str, str]
"""The kind of an expression, and the expression."""


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Compare the subscriptions that members report."""
    readers: dict[str, dict[Meaning, list[str]]] = {}
    for member in evidence.told_members():
        for subscription in member.subscriptions or ():
            by_meaning = readers.setdefault(subscription.topic, {})
            meaning = _meaning(subscription)
            by_meaning.setdefault(meaning, []).append(member.client_id)
    differing = {topic: found for topic, found in readers.items() if len(found) > 1}
    if not differing:
        return evidence.needs_everybody()
    topic, found = next(iter(sorted(differing.items())))
    filtered_by = {s.topic: s.sub_string for s in evidence.group.subscriptions}
    shown = [
        (shown, clients)
        for (_kind, shown), clients in sorted(
            found.items(), key=lambda item: (-len(item[1]), item[0])
        )
    ]
    return Finding(
        KEY,
        "crit",
        text="broadcasting" if evidence.group.mode == "BROADCASTING" else "text",
        values={
            "topic": topic,
            "expressions": [expression for expression, _clients in shown],
            "filtered_by": filtered_by.get(topic, "?"),
        },
        evidence=(
            ("topic", topic),
            *(
                ("members_with", f"{expression} × {len(clients)}")
                for expression, clients in shown
            ),
            *((("filtered_by", filtered_by[topic]),) if topic in filtered_by else ()),
        ),
        queues=tuple(key for key in evidence.group.queues.keys if key[0] in differing),
        members=tuple(sorted(_clients(differing.values()))),
    )


def _clients(differing: Iterable[Mapping[Meaning, list[str]]]) -> set[str]:
    return {
        client
        for found in differing
        for clients in found.values()
        for client in clients
    }


def _meaning(subscription: SubscriptionData) -> Meaning:
    """Return the kind of the expression, and the expression in its normal form."""
    kind, text = subscription.expression_type, subscription.sub_string.strip()
    if kind != "TAG":
        return kind, text
    if text in ("", "*"):
        return kind, "*"
    tags = sorted({tag.strip() for tag in text.split("||")} - {""})
    return kind, " || ".join(tags)


SAYS: Final = {
    "state": _("Tags differ"),
    "title": _("Members subscribe to different tags"),
    "text": _(
        "The members read {topic} with different expressions: "
        "{expressions}. The broker filters by the newest, {filtered_by}, "
        "for all of them; messages that match only the others are "
        "skipped, and commits pass them by."
    ),
    "broadcasting": _(
        "The members read {topic} with different expressions: "
        "{expressions}. The broker filters by the newest, {filtered_by}, "
        "for all of them; a member with another expression gets none of "
        "its own messages."
    ),
    "advice": _(
        "Let all members of the group use the same expression, or give "
        "each expression a group of its own. While a release with "
        "another expression rolls out, messages are lost until the last "
        "member has it."
    ),
}

RULE: Final = Rule(KEY, check, SAYS, told=True)
