"""Why there is no backup, or why one cannot be restored."""

from __future__ import annotations


class BackupError(Exception):
    """The message names the file or the program, and what was expected of it."""
