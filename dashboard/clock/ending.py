"""How long a worker may take to end: one duration, from which the others follow.

Whoever stops a worker kills it after a while. Until then all its roles must have handed
back what they hold, so they end side by side and none takes longer than its share.
"""

from __future__ import annotations

from typing import Final

KILL_AFTER_SECONDS: Final = 12.0
"""Between SIGTERM and SIGKILL; the units of systemd have the same value."""

LOOP_SECONDS: Final = 1.0
"""For a role's event loop to end, once everything is handed back or time is up."""

HAND_BACK_SECONDS: Final = KILL_AFTER_SECONDS - LOOP_SECONDS - 3.0
"""For a role to hand everything back; Celery needs some of the rest to end."""
