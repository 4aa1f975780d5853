"""The kinds of conditions whose start time is tracked."""

from __future__ import annotations

from typing import Final

LISTED_TWICE: Final = "listed_twice"
"""Client ids that one broker lists more than once."""
IDLE: Final = "idle"
"""Client ids that report no queue."""
UNLOCKED: Final = "unlocked"
"""(client id, queue): held by an orderly member without the broker's lock."""
PULLED_LAST: Final = "pulled_last"
"""(client id, queue, time of the last pull by the member's clock)."""
OLDEST_IN_HAND: Final = "oldest_in_hand"
"""(client id, queue, offset of the oldest message in hand)."""
