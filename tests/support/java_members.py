"""How long Java's members may take to be at rest, and who a broker says they are.

Each member divides the queues by the member list of a broker that it picks anew each
time. So a group is at rest only once all brokers list the same members, and a broker
may list one that is gone: a client whose request was not answered in time (5 s for an
offset) closes the connection and makes another, and a heartbeat that the broker had
not yet read registers the closed one when the broker gets to it. No event removes that
any more, only the broker's search for members without a heartbeat. Until then members
divide now by one list, now by the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from rmqcore.admin import Admin
from rmqcore.admin.breaker import LONGEST_PAUSE_S
from rmqcore.errors import RmqError

CHANNEL_EXPIRED_S: Final = 120.0
"""A broker lets a member go that sent no heartbeat for so long."""

SCAN_EVERY_S: Final = 10.0
"""A broker looks for such members so often, and tells nobody what it found."""

AT_REST_S: Final = CHANNEL_EXPIRED_S + SCAN_EVERY_S + LONGEST_PAUSE_S
"""The longest that members, and we who ask them, may take to agree.

The members' own next look comes 2 s after the broker's (`java_driver.EAGER`), and is
within the last part: for so long we leave alone a member that did not answer.
"""

TEST_SECONDS: Final = 3 * AT_REST_S
"""A whole test: it starts a cluster and waits for rest twice."""


async def member_lists(nameserver: str, group: str) -> str:
    """Return whom each broker tells members that the group is made of, as text.

    A client id with a number is listed so often: the broker knows as many connections.
    It explains another failure, so what goes wrong here is told, not raised.
    """
    lines = []
    try:
        async with Admin(nameserver, timeout=20) as admin:
            for broker in await admin.brokers():
                ids = await admin.client_ids(group, str(broker.master))
                lines.append(f"{broker.broker_name} lists {_counted(ids)}")
    except RmqError as error:
        lines.append(f"who is listed was not told: {error}")
    return "; ".join(lines)


def _counted(client_ids: Iterable[str]) -> str:
    listed = sorted(Counter(client_ids).items())
    return ", ".join(f"{i} ({n} times)" if n > 1 else i for i, n in listed) or "nobody"
