"""Fields for names, texts and JSON that others chose, in a form any database can hold.

Consumers and brokers choose names, and nobody checks them: offsets can be committed for
a group of any name. SQLite takes almost everything. PostgreSQL refuses NUL, halves of
surrogate pairs and texts that are too long, and with them the whole batch, however
often it is tried again. So a replacement is stored, and looked up, on both.

Migrations see Django's own fields, since the columns are the same.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, Final

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.db import models

if TYPE_CHECKING:
    _CharField = models.CharField[str, str]
    _TextField = models.TextField[str, str]
else:
    _CharField = models.CharField
    _TextField = models.TextField

REPLACEMENT: Final = "\ufffd"
_DIGEST_CHARS: Final = 16
_NOT_TEXT: Final = re.compile("[\0\ud800-\udfff]")
_ESCAPES: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair, which stays
    r"|(?P<bad>\\u0000|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\."
)


def storable(text: str) -> str:
    """Return the text with U+FFFD in place of what is not a valid character."""
    return _NOT_TEXT.sub(REPLACEMENT, text)


def storable_name(name: str, most_chars: int) -> str:
    """Return the name; a longer one is cut, and ends in a digest of all of it."""
    name = storable(name)
    if len(name) <= most_chars:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST_CHARS]
    return f"{name[: most_chars - _DIGEST_CHARS - 1]}…{digest}"


class StorableEncoder(json.JSONEncoder):
    """Writes JSON whose texts PostgreSQL can hold."""

    def encode(self, o: Any) -> str:
        text = super().encode(o)
        if "\\u0000" not in text and "\\ud" not in text:
            return text
        return _ESCAPES.sub(_replaced, text)


def _replaced(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape["bad"] else escape[0]


class NameField(_CharField):
    """A name that a cluster, its clients or a stranger chose."""

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        if not isinstance(value, str) or self.max_length is None:
            return value
        return storable_name(value, self.max_length)

    def deconstruct(self) -> Any:
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs


class StorableTextField(_TextField):
    """A text that may have the words of a cluster or a stranger in it."""

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        return storable(value) if isinstance(value, str) else value

    def deconstruct(self) -> Any:
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs


class StorableJSONField(models.JSONField):
    """Values that may have names in them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"encoder": StorableEncoder, **kwargs})

    def deconstruct(self) -> Any:
        name, _path, args, kwargs = super().deconstruct()
        del kwargs["encoder"]
        return name, "django.db.models.JSONField", args, kwargs


class SealedField(StorableTextField):
    """A text that is encrypted in the database, with a key made from the secret key.

    A row that another secret key encrypted reads as an empty text: what it held is
    lost with that key.
    """

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        if not isinstance(value, str) or not value:
            return value
        return _seal().encrypt(value.encode()).decode()

    def from_db_value(self, value: str | None, *_where: Any) -> str | None:
        """Return the text as it was given."""
        if not value:
            return value
        try:
            return _seal().decrypt(value).decode()
        except InvalidToken:
            return ""


def _seal() -> Fernet:
    digest = hashlib.sha256(
        b"rocketscope sealed fields:" + settings.SECRET_KEY.encode()
    )
    return Fernet(base64.urlsafe_b64encode(digest.digest()))
