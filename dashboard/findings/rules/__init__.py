"""The rules, in the order in which they are asked: causes before effects."""

from __future__ import annotations

from typing import Final

from dashboard.findings.rule import Rule

from . import (
    broadcasting,
    dead_letters,
    different_topics,
    flapping,
    given_up_topics,
    gone,
    hot_queue,
    idle_members,
    inconsistent_subscriptions,
    lock_expired,
    lock_lost,
    losing_ground,
    lost_messages,
    mixed_strategies,
    offsets_file_lost,
    owned_twice,
    retries,
    rewound,
    shared_client_id,
    stalled,
    stopped,
    stuck_commit,
    unowned_queues,
)

RULES: Final[tuple[Rule, ...]] = (
    shared_client_id.RULE,
    inconsistent_subscriptions.RULE,
    different_topics.RULE,
    mixed_strategies.RULE,
    lock_expired.RULE,
    lock_lost.RULE,
    unowned_queues.RULE,
    owned_twice.RULE,
    lost_messages.RULE,
    stuck_commit.RULE,
    gone.RULE,
    stopped.RULE,
    rewound.RULE,
    stalled.RULE,
    losing_ground.RULE,
    hot_queue.RULE,
    dead_letters.RULE,
    retries.RULE,
    flapping.RULE,
    offsets_file_lost.RULE,
    idle_members.RULE,
    given_up_topics.RULE,
    broadcasting.RULE,
)
