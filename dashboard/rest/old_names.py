"""Parameters that were renamed: their old names are still accepted, as promised.

Spans are `since` and `until` everywhere, and a queue is `queue_id`. The names that they
had before are marked as deprecated in the document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ninja import Schema
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError


class OldNames(Schema):
    """Values that may be given under an old name; afterwards the new one has them.

    `OLD_NAMES` has the name of the old field for each new one. Both are optional, and
    an old one is made by `old`. Giving both is refused.
    """

    OLD_NAMES: ClassVar[Mapping[str, str]] = {}
    NEEDED: ClassVar[frozenset[str]] = frozenset()
    """New names without which, or their old ones, there is nothing to do."""

    @model_validator(mode="after")
    def take_old_names(self) -> OldNames:
        """Move what was given under an old name; raise where both names are given."""
        for new, old in self.OLD_NAMES.items():
            given, before = getattr(self, new), getattr(self, old)
            if before not in {None, ""}:
                if given not in {None, ""}:
                    raise PydanticCustomError(
                        "two_names",
                        f"give {new} or {self.written(old)}, its old name, not both",
                    )
                setattr(self, new, before)
            elif given is None and new in self.NEEDED:
                raise PydanticCustomError("missing", f"{new}: Field required")
        return self

    def name_of(self, field: str) -> str:
        """Return what the caller calls a value that a form knows by its old name."""
        news = {old: new for new, old in self.OLD_NAMES.items()}
        if field not in news or getattr(self, field) not in {None, ""}:
            return field
        return news[field]

    @classmethod
    def written(cls, name: str) -> str:
        """Return how callers write a field."""
        return cls.model_fields[name].alias or name


def old(default: Any, new: str, **limits: Any) -> Any:
    """Return the field for the old name of `new`."""
    return Field(
        default,
        description=f"old name of {new}",
        json_schema_extra={"deprecated": True},
        **limits,
    )
