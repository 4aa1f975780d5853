"""The table of found messages. It shows where messages are, never what is in them."""

from __future__ import annotations

from typing import Final

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.frame.messages.masks import Masks, shown_properties
from dashboard.frame.messages.moments import exact
from dashboard.frame.messages.places import message_url
from dashboard.frame.tables import Column, Facet, Table
from dashboard.wording import numbers, sizes
from rmqcore.model import MessageExt

PAGE_ROWS: Final = 50


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
            Column(
                *("keys", _("Keys"), keys, keys, "cut"),
                narrow=True,
                copies=keys,
            ),
            Column("tag", _("Tag"), tag, lambda m: _tag(tag(m)), narrow=True),
            Column(
                *("size", _("Size"), lambda m: len(m.body)),
                *(lambda m: sizes.size(len(m.body)), "num"),
                falls=True,
            ),
            Column(
                *("unique", _("Unique key"), unique, unique, "mono cut"),
                copies=unique,
            ),
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


def _tag(tag: str) -> str:
    return format_html('<span class="tag">{}</span>', tag) if tag else ""
