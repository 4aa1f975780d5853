"""Messages over REST: searching, one message, and its body.

Searches and messages come without bodies; a body has a route of its own, which needs
the right to see bodies and leaves an entry in the audit.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from django.http import Http404, HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.accounts.permissions import user_of
from dashboard.frame.messages.bodies import view_body
from dashboard.frame.messages.cuts import cut_said
from dashboard.frame.messages.masks import shown_properties
from dashboard.frame.messages.places import Place
from dashboard.frame.messages.rights import masks
from dashboard.rest.asking import cluster_named, refuse
from dashboard.rest.old_names import OldNames, old
from dashboard.rest.schemas import Problem
from rmqcore.model import MessageExt

from .forms import Search, SearchForm
from .reads import fate_of, read, search
from .tags import said
from .writes import look

router = Router()
ERRORS: Final[dict[int, Any]] = dict.fromkeys((424,), Problem)


class MessageOut(Schema):
    """One message without its body; times are ms since the epoch."""

    topic: str
    broker: str
    queue: int
    offset: int
    id: str = Field(description="the unique key, else the offset id")
    offset_id: str
    keys: str
    tag: str
    body_bytes: int
    stored_at: int
    born_at: int
    store_host: str
    born_host: str
    retries: int
    properties: dict[str, str]


class MessagesOut(Schema):
    """What a search found, newest first, and where it may have left something out."""

    messages: list[MessageOut]
    cut_short: list[str]
    failed: dict[str, str]


class ConsumedOut(Schema):
    """What became of a message in one group."""

    group: str
    state: str = Field(
        description="given_up, not_yet, unknown, passed, filtered or consumed"
    )
    reason: str
    why: str


class OneOut(MessageOut):
    """One message, and what became of it in each group of its topic."""

    compression: str | None
    stored_bytes: int
    consumed: list[ConsumedOut]
    problem: str = Field(description="why the groups could not be asked, or empty")


class SearchIn(OldNames):
    """A search by one of the ways that the page offers."""

    OLD_NAMES: ClassVar[Mapping[str, str]] = {
        "since": "begin",
        "until": "end",
        "queue_id": "queue",
    }

    by: str = Field(max_length=16)
    topic: str = Field("", max_length=255)
    key: str = Field("", max_length=1000)
    id: str = Field("", max_length=56)
    tag: str = Field("", max_length=255)
    since: str = Field("", max_length=40)
    until: str = Field("", max_length=40)
    broker: str = Field("", max_length=255)
    queue_id: int | None = Field(None, ge=0, le=99_999)
    offset: int | None = Field(None, ge=0, lt=2**63)
    begin: str = old("", "since", max_length=40)
    end: str = old("", "until", max_length=40)
    queue: int | None = old(None, "queue_id", ge=0, le=99_999)

    @property
    def fields(self) -> dict[str, Any]:
        """The search as the form of the page has it."""
        values = {k: v for k, v in self.dict().items() if v is not None}
        for new, before in self.OLD_NAMES.items():
            if new in values:
                values[before] = values.pop(new)
        return values


class PlaceIn(OldNames):
    """Where one message is."""

    OLD_NAMES: ClassVar[Mapping[str, str]] = {"queue_id": "queue"}
    NEEDED: ClassVar[frozenset[str]] = frozenset({"queue_id"})

    topic: str = Field(min_length=1, max_length=255)
    broker: str = Field(min_length=1, max_length=255)
    queue_id: int | None = Field(
        None, ge=0, le=99_999, description="needed, unless queue has it"
    )
    offset: int = Field(ge=0, lt=2**63)
    queue: int | None = old(None, "queue_id", ge=0, le=99_999)

    @property
    def place(self) -> Place:
        assert self.queue_id is not None  # noqa: S101 - it is needed
        return Place(self.topic, self.broker, self.queue_id, self.offset)


class BodyOut(Schema):
    """A body; `base64` is null where a mask applied, as it shows what is masked."""

    bytes: int
    base64: str | None
    forms: dict[str, str]
    masked_by: list[str]


@router.get("/clusters/{cluster}/messages", response={200: MessagesOut, **ERRORS})
def messages(
    request: HttpRequest, cluster: str, asked: Query[SearchIn]
) -> dict[str, Any]:
    """Search for messages by key, unique key, id, time or place in a queue."""
    name = cluster_named(cluster).name
    form = SearchForm(asked.fields)
    if not form.is_valid():
        field, errors = next(iter(form.errors.items()))
        refuse(422, f"{asked.name_of(field)}: {errors[0]}")
    found = search(name, Search.of(form.cleaned_data))
    return {
        "messages": [_message(each) for each in found.messages],
        "cut_short": [cut_said(cut) for cut in found.cuts],
        "failed": dict(found.failed),
    }


@router.get("/clusters/{cluster}/messages/one", response={200: OneOut, **ERRORS})
def message(
    request: HttpRequest, cluster: str, where: Query[PlaceIn]
) -> dict[str, Any]:
    """Return one message without its body, and who has consumed it."""
    name = cluster_named(cluster).name
    shown = read(name, where.place)
    if shown is None:
        raise Http404(f"no message at {where.place}")
    fate = fate_of(name, shown.message)
    return {
        **_message(shown.message),
        "compression": shown.compression,
        "stored_bytes": shown.stored_bytes,
        "problem": fate.problem,
        "consumed": [
            {
                "group": each.group,
                "state": each.state,
                "reason": each.reason,
                "why": said(each),
            }
            for each in fate.verdicts
        ],
    }


@router.post("/clusters/{cluster}/messages/body", response={200: BodyOut, **ERRORS})
def body(request: HttpRequest, cluster: str, where: PlaceIn) -> dict[str, Any]:
    """Return a body, and record the look."""
    name = cluster_named(cluster).name
    found = look(user_of(request), name, where.place).message
    view = view_body(found, masks())
    raw = base64.b64encode(found.body).decode()
    return {
        "bytes": view.size,
        "base64": None if view.rules else raw,
        "forms": {each.name: each.text for each in view.forms if not each.error},
        "masked_by": list(view.rules),
    }


def _message(message: MessageExt) -> dict[str, Any]:
    properties = shown_properties(message, masks())
    return {
        "topic": message.topic,
        "broker": message.broker_name,
        "queue": message.queue_id,
        "offset": message.queue_offset,
        "id": message.msg_id,
        "offset_id": message.offset_msg_id,
        "keys": properties.get("KEYS", ""),
        "tag": properties.get("TAGS", ""),
        "body_bytes": len(message.body),
        "stored_at": message.store_timestamp,
        "born_at": message.born_timestamp,
        "store_host": message.store_host,
        "born_host": message.born_host,
        "retries": message.reconsume_times,
        "properties": properties,
    }
