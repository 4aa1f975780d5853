"""Where a finding leads: the lab that plays it, a comparison in what-if, documentation.

Only what applies: what-if answers questions of division, so a message that blocks its
queue has no use for it; a lab is named where it ends with this finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_DOCS: Final = "https://rocketmq.apache.org/docs/"
_SUBSCRIPTION: Final = _DOCS + "domainModel/09subscription"
_GROUP: Final = _DOCS + "domainModel/07consumergroup"
_BALANCE: Final = _DOCS + "featureBehavior/08consumerloadbalance"
_ORDER: Final = _DOCS + "featureBehavior/03fifomessage"
_RETRY: Final = _DOCS + "featureBehavior/10consumerretrypolicy"
_PROGRESS: Final = _DOCS + "featureBehavior/09consumerprogress"
_STORAGE: Final = _DOCS + "featureBehavior/11messagestorepolicy"


@dataclass(frozen=True, slots=True)
class Leads:
    """The lab's name and the address of RocketMQ's documentation; "" without one."""

    docs: str
    lab: str = ""
    whatif: bool = False


LEADS: Final[Mapping[str, Leads]] = {
    "shared_client_id": Leads(_BALANCE, "F3"),
    "inconsistent_subscriptions": Leads(_SUBSCRIPTION, "F4"),
    "different_topics": Leads(_SUBSCRIPTION, "F4b"),
    "mixed_strategies": Leads(_BALANCE, whatif=True),
    "lock_expired": Leads(_ORDER, "F7", whatif=True),
    "lock_lost": Leads(_ORDER),
    "unowned_queues": Leads(_BALANCE, whatif=True),
    "owned_twice": Leads(_BALANCE),
    "lost_messages": Leads(_STORAGE),
    "stuck_commit": Leads(_PROGRESS, "F6"),
    "gone": Leads(_GROUP, whatif=True),
    "stopped": Leads(_GROUP),
    "rewound": Leads(_PROGRESS),
    "stalled": Leads(_PROGRESS),
    "losing_ground": Leads(_BALANCE, whatif=True),
    "hot_queue": Leads(_ORDER, whatif=True),
    "dead_letters": Leads(_RETRY, "F8"),
    "retries": Leads(_RETRY, "F8"),
    "flapping": Leads(_BALANCE, whatif=True),
    "offsets_file_lost": Leads(_PROGRESS, "F2b"),
    "idle_members": Leads(_BALANCE, "F5", whatif=True),
    "given_up_topics": Leads(_SUBSCRIPTION),
    "broadcasting": Leads(_BALANCE, "F2"),
}
