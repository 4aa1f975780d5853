"""Refusals of what is to be done about alerts; the message names value and limit."""

from __future__ import annotations


class AlertRefusedError(ValueError):
    """A value cannot be accepted; `field` is the one it is about, if one is."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field
