"""What may stand in a log, which more people read than may sign in.

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
