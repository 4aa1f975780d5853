"""Why a change is refused. Messages are for those who asked; nothing is changed."""

from __future__ import annotations

from dashboard.rest.refusals import ReadOnlyRefusal


class AdministrationError(ValueError):
    """A change cannot be made; the message names the value and the limit."""


class StalePreviewError(AdministrationError):
    """Brokers have changed since the preview that was shown."""

    code = "stale"


class ConfirmationError(AdministrationError):
    """The name of what is changed has to be given, to confirm it."""

    code = "confirm"


class ReadOnlyError(ReadOnlyRefusal, AdministrationError):
    """The cluster is attached read-only; the message names its setting."""


class UnknownThingError(AdministrationError):
    """No broker has what is to be changed or deleted, or no such change was made."""


class SilentClusterError(AdministrationError):
    """The cluster does not answer, so that nothing can be previewed or changed."""
