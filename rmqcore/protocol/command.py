"""The remoting command: one request or one response, in either direction.

Both sides of a connection send requests, each with its own sequence of `opaque`
numbers, so a response is told from a request by its flag, never by its number.
Ext fields are strings on the wire in both encodings; `headers` gives them types.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

import msgspec

from .codes import VERSION_ORDINAL, LanguageCode

FLAG_RESPONSE: Final = 1
FLAG_ONEWAY: Final = 2


class SerializeType(IntEnum):
    """How a frame's header is written; its number is the frame's type byte."""

    JSON = 0
    ROCKETMQ = 1


class RemotingCommand(msgspec.Struct, gc=False):
    """One request or response.

    `language` and `version` are kept as received, even when unknown to us;
    `serialize_type` is the encoding it came in, and will be sent in.
    """

    code: int
    ext_fields: dict[str, str] = msgspec.field(default_factory=dict)
    body: bytes = b""
    opaque: int = 0
    flag: int = 0
    remark: str | None = None
    language: int | str = LanguageCode.PYTHON
    version: int = VERSION_ORDINAL
    serialize_type: SerializeType = SerializeType.JSON

    @classmethod
    def request(
        cls,
        code: int,
        ext_fields: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        oneway: bool = False,
        serialize_type: SerializeType = SerializeType.JSON,
    ) -> RemotingCommand:
        """Make a request; the connection numbers it when it is sent."""
        return cls(
            code,
            dict(ext_fields) if ext_fields else {},
            body,
            flag=FLAG_ONEWAY if oneway else 0,
            serialize_type=serialize_type,
        )

    def response(
        self,
        code: int = 0,
        remark: str | None = None,
        ext_fields: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> RemotingCommand:
        """Make the answer to this request, with its number and encoding.

        4.9 brokers mirror the encoding, too, and every client can read that.
        """
        return RemotingCommand(
            code,
            dict(ext_fields) if ext_fields else {},
            body,
            self.opaque,
            FLAG_RESPONSE,
            remark,
            serialize_type=self.serialize_type,
        )

    @property
    def is_response(self) -> bool:
        """Whether this is an answer, and not a request."""
        return bool(self.flag & FLAG_RESPONSE)

    @property
    def is_oneway(self) -> bool:
        """Whether this request must never be answered, not even with an error."""
        return bool(self.flag & FLAG_ONEWAY)
