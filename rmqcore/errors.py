"""Every error that rmqcore raises on purpose, shown as a tree.

    RmqError
    ├── ArgumentError (also ValueError)   the caller gave a value that cannot be used
    │   ├── AllocationError               a strategy's own checks failed
    │   └── UnknownStrategyError          no allocation strategy of that name
    ├── StateError                        a call at a time when it is not allowed
    ├── ProtocolError                     bytes or values break the remoting protocol
    │   ├── LocalProtocolError            we were asked to send what cannot be sent
    │   └── RemoteProtocolError           the peer sent what cannot be read
    │       ├── FrameError                a frame's lengths or type byte are wrong
    │       ├── HeaderError               a header, or one field of it, is wrong
    │       └── BodyError                 a body, or one member of it, is wrong
    ├── TransportError                    the bytes did not get through
    │   ├── ConnectError                  no connection could be made
    │   ├── ChannelClosedError            the connection ended while waiting
    │   └── RequestTimeoutError           no answer in time
    ├── ResponseError                     the peer answered with a code other than 0
    │   ├── BusyError                     …it is overloaded: leave it alone for a while
    │   └── AccessDeniedError             …the credentials are missing or wrong
    ├── RouteError                        no broker is known for a topic
    ├── StoreError                        files on disk are not what was written
    └── LabError                          what a lab waits for did not come

Local and remote faults are different classes, because different people fix them.
Messages carry the value and the limit: "frame of 20971520 bytes, limit 16777216".
"""

from __future__ import annotations

from typing import Final


class RmqError(Exception):
    """Base of every error raised by rmqcore on purpose."""


class ArgumentError(RmqError, ValueError):
    """The caller gave a value that cannot be used; the message names it."""


class AllocationError(ArgumentError):
    """An allocation strategy refused its input (behaviour B7)."""


class UnknownStrategyError(ArgumentError):
    """No allocation strategy has the given name."""


class StateError(RmqError):
    """A call was made at a time when it is not allowed, such as before `start`."""


class ProtocolError(RmqError):
    """Bytes or values break RocketMQ's remoting protocol."""


class LocalProtocolError(ProtocolError):
    """We were asked to send something that the protocol cannot carry."""


class RemoteProtocolError(ProtocolError):
    """The peer sent something that the protocol does not allow."""


class FrameError(RemoteProtocolError):
    """A frame's lengths or its serialize type are wrong; the connection is lost."""


class HeaderError(RemoteProtocolError):
    """A header cannot be read, or lacks a field, or a field has a wrong form."""


class BodyError(RemoteProtocolError):
    """A body cannot be read, or lacks a member, or a member has a wrong form."""


class TransportError(RmqError):
    """The bytes did not get through."""


class ConnectError(TransportError):
    """No connection could be made to an address."""


class ChannelClosedError(TransportError):
    """The connection ended before the answer came."""


class RequestTimeoutError(TransportError):
    """No answer came within the time allowed."""


MOST_REMARK_CHARS: Final = 1000
"""How much of a peer's own words a message quotes: it ends up in logs and on pages."""


def _cut(remark: str) -> str:
    if len(remark) <= MOST_REMARK_CHARS:
        return remark
    return f"{remark[:MOST_REMARK_CHARS]}… ({len(remark)} characters)"


class ResponseError(RmqError):
    """The peer answered with a code other than success.

    `code` is the response code, `remark` the peer's own words (may be empty or long),
    `request_code` the code of the request, `address` the peer that answered.
    """

    def __init__(
        self, code: int, remark: str | None, *, request_code: int, address: str
    ) -> None:
        self.code = code
        self.remark = remark or ""
        self.request_code = request_code
        self.address = address
        super().__init__(
            f"{address} answered request {request_code} with code {code}"
            + (f": {_cut(self.remark)}" if self.remark else "")
        )


class BusyError(ResponseError):
    """The peer is overloaded (codes 2 and 215); it should be left alone for a while."""


class AccessDeniedError(ResponseError):
    """The peer refused the credentials (code 16, or code 1 with an ACL remark)."""


class RouteError(RmqError):
    """No name server knows a living broker for a topic."""


class StoreError(RmqError):
    """Files on disk are not what was written, or cannot be written."""


class LabError(RmqError):
    """The event that a lab waits for did not come within its patience."""
