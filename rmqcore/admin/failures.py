"""Maps errors to the reasons that a snapshot gives for unknown values."""

from __future__ import annotations

from rmqcore.errors import (
    AccessDeniedError,
    BusyError,
    ProtocolError,
    ResponseError,
)
from rmqcore.model.columns import Reason
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport.responses import raise_for_code


def reason_for(error: Exception) -> Reason:
    """Return why, after this error, the value asked for is unknown."""
    if isinstance(error, BusyError):
        return Reason.BUSY
    if isinstance(error, AccessDeniedError):
        return Reason.DENIED
    if isinstance(error, ResponseError):
        return Reason.REFUSED
    if isinstance(error, ProtocolError):
        return Reason.UNREADABLE
    return Reason.NO_ANSWER


def answer_error(
    answer: RemotingCommand, *, request_code: int, address: str
) -> ResponseError | None:
    """Return the error that an answer stands for, None for a success."""
    try:
        raise_for_code(answer, request_code=request_code, address=address)
    except ResponseError as error:
        # With its traceback it would keep this frame, and all that called it, alive.
        return error.with_traceback(None)
    return None
