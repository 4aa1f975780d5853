"""The table of found messages. It shows where messages are, never what is in them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.frame.tables import Column, Facet, Table
from dashboard.wording import numbers
from rmqcore.model import MessageExt

from .forms import Place
from .masks import Masks
from .moments import exact

PAGE_ROWS: Final = 50


def message_url(cluster: str, message: MessageExt) -> str:
    """Return the address of a message's page."""
    queue_id, offset = message.queue_id, message.queue_offset
    return place_url(
        cluster, Place(message.topic, message.broker_name, queue_id, offset)
    )


def place_url(cluster: str, place: Place) -> str:
    """Return the address of the page of the message at a place."""
    return f"{reverse('message', args=[cluster])}?{urlencode(asdict(place))}"


def shown_properties(message: MessageExt, masks: Masks) -> dict[str, str]:
    """Return a message's properties without those that are masked."""
    return dict(masks.properties(message.properties).value)


def message_table(cluster: str, masks: Masks) -> Table[MessageExt]:
    """Return the table of messages of a cluster, the newest first."""

    def keys(message: MessageExt) -> str:
        return shown_properties(message, masks).get("KEYS", "")

    def tag(message: MessageExt) -> str:
        return shown_properties(message, masks).get("TAGS", "")

    def stored(message: MessageExt) -> SafeString:
        return format_html(
            '<a href="{}" data-open>{}</a>',
            message_url(cluster, message),
            exact(message.store_timestamp),
        )

    def queue(message: MessageExt) -> str:
        return f"{message.broker_name} / {message.queue_id}"

    def topic(message: MessageExt) -> str:
        return message.topic

    def unique(message: MessageExt) -> str:
        return message.msg_id

    def host(message: MessageExt) -> str:
        return message.born_host

    return Table(
        title=_("Messages"),
        filter_title=_("Filter by key, tag or id"),
        columns=[
            Column(
                *("stored", _("Stored"), lambda m: m.store_timestamp, stored, "mono"),
                falls=True,
                fixed=True,
            ),
            Column("topic", _("Topic"), topic, topic, "cut", shown=False),
            Column("queue", _("Queue"), queue, queue, narrow=True),
            Column(
                *("offset", _("Offset"), lambda m: m.queue_offset),
                *(lambda m: numbers.count(m.queue_offset), "num"),
                falls=True,
                narrow=True,
            ),
            Column("keys", _("Keys"), keys, keys, "cut", narrow=True),
            Column("tag", _("Tag"), tag, lambda m: _tag(tag(m)), narrow=True),
            Column(
                *("size", _("Size"), lambda m: len(m.body)),
                *(lambda m: size(len(m.body)), "num"),
                falls=True,
            ),
            Column("unique", _("Unique key"), unique, unique, "mono cut"),
            Column(
                *("born", _("Born"), lambda m: m.born_timestamp),
                *(lambda m: exact(m.born_timestamp), "mono"),
                shown=False,
            ),
            Column("host", _("Sent by"), host, host, shown=False),
            Column(
                *("tries", _("Retries"), lambda m: m.reconsume_times),
                *(lambda m: str(m.reconsume_times), "num"),
                shown=False,
            ),
        ],
        key=lambda m: f"{m.topic}/{m.broker_name}/{m.queue_id}/{m.queue_offset}",
        rank=lambda m: (-m.store_timestamp, -m.queue_offset),
        texts=lambda m: (keys(m), tag(m), m.msg_id, m.offset_msg_id),
        facets=[
            Facet("tag", _("Tag"), lambda m: [tag(m)] if tag(m) else []),
            Facet("queue", _("Queue"), lambda m: [queue(m)]),
        ],
        page_rows=PAGE_ROWS,
    )


def size(number: int) -> str:
    """Write a number of bytes: 814 B, 1.2 kB, 3.0 MB."""
    if number < 1000:
        return f"{number} B"
    if number < 1_000_000:
        return f"{number / 1000:.1f} kB"
    return f"{number / 1_000_000:.1f} MB"


def _tag(tag: str) -> str:
    return format_html('<span class="tag">{}</span>', tag) if tag else ""
