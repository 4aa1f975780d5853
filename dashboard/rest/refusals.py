"""Refusals that several features share."""

from __future__ import annotations


class ReadOnlyRefusal(Exception):  # noqa: N818 - the errors of features derive from it
    """The cluster is attached read-only; the message names its setting.

    A feature's own error derives from this first, so that every route answers alike.
    """

    code = "read_only"
