"""How long a change of a hosted group may leave queues held twice or by nobody.

It is computed from the fleet's periods; each span is the longest possible while all
workers live. Usually workers are told at once through the cache, and all members switch
within a fraction of a second.
"""

from __future__ import annotations

from dataclasses import dataclass

from rmqcore.timers import PERIOD_S, Timer


@dataclass(frozen=True, slots=True)
class Windows:
    """The longest possible spans in seconds; None for what cannot happen.

    `told` is the time until the last worker knows of the change, `noticed` until the
    last member knows who joined or left, `released` until an orderly queue is handed
    over.
    """

    told: float
    noticed: float | None
    released: float | None

    @property
    def twice(self) -> float | None:
        """How long a queue may be held twice; for orderly members locks prevent it."""
        if self.released is not None:
            return None
        return max(self.told, self.noticed or 0.0)

    @property
    def nobody(self) -> float:
        """How long a queue may be held by nobody."""
        return max(self.told, self.noticed or 0.0) + (self.released or 0.0)


def windows_of(*, orderly: bool, members_change: bool) -> Windows:
    """Return the longest spans of one change."""
    # Imported late: pages that only read need not load the clients.
    from rmqcore.client.rebalance.rebalancer import RELEASE_WAIT_S, RETRY_AFTER_S

    from .host import PLAN_SECONDS

    return Windows(
        told=PLAN_SECONDS,
        # A member that misses a notice finds out at its next rebalance.
        noticed=PERIOD_S[Timer.REBALANCE] if members_change else None,
        released=RELEASE_WAIT_S + RETRY_AFTER_S if orderly else None,
    )
