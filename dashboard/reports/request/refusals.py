"""Why a report cannot be made or kept."""


class ReportRefusedError(ValueError):
    """The message is for the person who asked, and about `field` where it is named."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field
