"""Dead letters as JSON lines, with bodies for those who may see them.

Properties and bodies are masked as on pages. A body that is JSON, or that a decoder
reads, is written as JSON; any other as text or in base64, unless a mask applied to it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from django.http import HttpResponse

from dashboard.frame.messages.bodies import view_body
from dashboard.frame.messages.masks import Masks, shown_properties
from dashboard.gateway.dead_letters import DeadLetter
from rmqcore.model import MessageExt

from .reads import Mark

NAME: Final = "dead-letters"
CONTENT_TYPE: Final = "application/x-ndjson; charset=utf-8"


def letter_record(
    letter: DeadLetter, masks: Masks, mark: Mark | None = None
) -> dict[str, Any]:
    """Return one dead letter without its body, as files and the API have it."""
    message = letter.message
    properties = shown_properties(message, masks)
    return {
        "letter": letter.id,
        "id": message.msg_id,
        "origin_id": letter.origin_id or None,
        "topic": letter.topic,
        "keys": properties.get("KEYS", ""),
        "tag": properties.get("TAGS", ""),
        "tries": message.reconsume_times,
        "broker": message.broker_name,
        "queue": message.queue_id,
        "offset": message.queue_offset,
        "stored_at": message.store_timestamp,
        "born_at": message.born_timestamp,
        "born_host": message.born_host,
        "store_host": message.store_host,
        "body_bytes": letter.body_bytes,
        "properties": properties,
        "resent_by": None if mark is None else mark.run,
    }


def body_record(message: MessageExt | None, masks: Masks) -> dict[str, Any]:
    """Return the fields of a body; without the message it was gone, or beyond a limit.

    `masked_by` has the masks that applied.
    """
    if message is None:
        return {"body": None, "body_left_out": True}
    view = view_body(message, masks)
    forms = {each.name: each.text for each in view.forms if not each.error}
    raw = {name: text for name, text in forms.items() if name not in ("text", "hex")}
    told = {"masked_by": list(view.rules)}
    if raw and not view.cut:
        return {"body": _parsed(next(iter(raw.values()))), **told}
    if view.rules:
        return {"body": None, "body_left_out": True, **told}
    try:
        return {"body": message.body.decode(), **told}
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(message.body).decode(), **told}


def json_lines(
    letters: Sequence[DeadLetter],
    masks: Masks,
    marks: Mapping[str, Mark],
    bodies: Mapping[str, MessageExt] | None = None,
) -> HttpResponse:
    """Return letters as a file, one JSON object a line."""
    lines = (
        {
            **letter_record(each, masks, marks.get(each.id)),
            **({} if bodies is None else body_record(bodies.get(each.id), masks)),
        }
        for each in letters
    )
    return HttpResponse(
        _written(lines),
        content_type=CONTENT_TYPE,
        headers={"Content-Disposition": f'attachment; filename="{NAME}.jsonl"'},
    )


def _written(lines: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(
        json.dumps(each, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        for each in lines
    )


def _parsed(text: str) -> Any:
    return json.loads(text)
