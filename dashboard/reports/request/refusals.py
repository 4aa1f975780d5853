"""Errors for reports that cannot be made or kept."""


class ReportRefusedError(ValueError):
    """A report is refused; the message is for the user, and about `field` if given."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class TooManyReportsError(ReportRefusedError):
    """As many reports are waiting or being made as may be at once."""
