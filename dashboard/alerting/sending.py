"""Sends one text to one address, by Apprise.

Apprise knows a hundred services and logs why a sending failed instead of raising, so
its log is read while it sends. It is imported here only, in the process that sends and
where an address is checked: it takes 48 MB and 1.6 s.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from .texts import Text

MOST_ERROR_CHARS: Final = 500


class AddressError(ValueError):
    """An address is of no service that is known, or lacks something."""


def check_address(address: str) -> str:
    """Return an address with what is secret in it replaced by stars.

    Raises AddressError.
    """
    import apprise

    with _log() as lines:
        service = apprise.Apprise.instantiate(address)
    if service is None:
        raise AddressError("; ".join(lines) or "no service has such an address")
    return str(service.url(privacy=True))  # type: ignore[no-untyped-call]


def send(address: str, text: Text) -> str:
    """Send a text; return why it was not accepted, empty if it was."""
    import apprise

    with _log() as lines:
        try:
            service = apprise.Apprise.instantiate(address)
            accepted = service is not None and service.notify(
                title=text.title,
                body=text.body,
                notify_type=text.kind,
                body_format=apprise.NotifyFormat.TEXT,
            )
        except Exception as error:  # a service's own code: one must not stop others
            return f"{type(error).__name__}: {error}"[:MOST_ERROR_CHARS]
    if accepted:
        return ""
    return ("; ".join(lines) or "not accepted, without a reason")[:MOST_ERROR_CHARS]


class _Lines(logging.Handler):
    """Keeps what is logged in one thread: others may be sending at the same time."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            self.lines.append(record.getMessage())


@contextmanager
def _log() -> Iterator[list[str]]:
    logger, handler = logging.getLogger("apprise"), _Lines()
    logger.addHandler(handler)
    logger.propagate = False  # our own log says what failed, and for which channel
    try:
        yield handler.lines
    finally:
        logger.removeHandler(handler)
