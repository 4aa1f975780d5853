"""Send the alerts that wait. The collector starts this by itself."""

from __future__ import annotations

import signal
import threading
from typing import Any

from dashboard.alerting.delivery import send_waiting
from dashboard.management.base import OwnCommand


class Command(OwnCommand):
    help = "Send the messages of alerts that wait, and end a minute after the last."

    def handle(self, *_args: Any, **_options: Any) -> None:
        ended = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: ended.set())
        send_waiting(ended.is_set)
