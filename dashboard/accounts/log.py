"""What may be written to a log, which more people can read than may sign in.

Loaded with the settings, before there are models.
"""

from __future__ import annotations

import logging
import re
from typing import Final


class WithoutTokens(logging.Filter):
    """Take the tokens of sign-in links out of log lines; a token may be unspent."""

    _ADDRESS: Final = re.compile(r"(/sign-in/)[^/\s'\"]+")

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record; it is always kept."""
        message = record.getMessage()
        if "/sign-in/" in message:
            record.msg, record.args = self._ADDRESS.sub(r"\1…", message), ()
        return True


class OnOneLine(logging.Filter):
    """Escape control characters and halves of surrogate pairs: names may be anything.

    Otherwise a group's name could look like further lines of the log, or could not be
    encoded as UTF-8.
    """

    _CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record; it is always kept."""
        message = record.getMessage().rstrip()
        if self._CONTROL.search(message):
            escaped = self._CONTROL.sub(lambda found: ascii(found[0])[1:-1], message)
            record.msg, record.args = escaped, ()
        return True
