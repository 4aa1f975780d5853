"""Turns a response's code into an error that says who answered what."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from rmqcore.errors import AccessDeniedError, BusyError, ResponseError
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand

_BUSY: Final = frozenset((ResponseCode.SYSTEM_BUSY, ResponseCode.FLOW_CONTROL))
_SUCCESS_ONLY: Final = frozenset((ResponseCode.SUCCESS,))
_ACL_REMARK: Final = "AclException"


def raise_for_code(
    response: RemotingCommand,
    *,
    request_code: int,
    address: str,
    ok: Container[int] = _SUCCESS_ONLY,
) -> None:
    """Raise unless the response's code is in `ok`.

    Raises `BusyError` for 2 and 215, `AccessDeniedError` for 16 and for the ACL's form
    of 1, and `ResponseError` for other codes.
    """
    code = response.code
    if code in ok:
        return
    if code in _BUSY:
        kind: type[ResponseError] = BusyError
    elif code == ResponseCode.NO_PERMISSION or _ACL_REMARK in (response.remark or ""):
        kind = AccessDeniedError
    else:
        kind = ResponseError
    raise kind(code, response.remark, request_code=request_code, address=address)
