"""The table of producers, as the brokers list them."""

from __future__ import annotations

from django.utils.translation import gettext as _

from dashboard.frame.tables import Column, Facet, Table
from dashboard.frame.tables.table import natural
from dashboard.frame.tags import unknown
from dashboard.gateway.producers import ProducerRow
from dashboard.wording import numbers


def producer_table() -> Table[ProducerRow]:
    """Return the table of producers, in the order of their groups."""
    return Table(
        title=_("Producers"),
        filter_title=_("Filter producers"),
        columns=[
            Column(
                "group",
                _("Producer group"),
                lambda row: row.group,
                lambda row: row.group,
                css="name strong",
                fixed=True,
                narrow=True,
                copies=lambda row: row.group,
            ),
            Column(
                "client",
                _("Client"),
                lambda row: row.client_id,
                lambda row: row.client_id,
                css="name",
                narrow=True,
                copies=lambda row: row.client_id,
            ),
            Column("host", _("Host"), lambda row: row.address, lambda row: row.address),
            Column(
                "language",
                _("Language"),
                lambda row: row.language,
                lambda row: row.language,
            ),
            Column(
                "brokers",
                _("Brokers"),
                lambda row: ", ".join(row.brokers),
                lambda row: ", ".join(row.brokers),
                css="name",
                narrow=True,
            ),
            Column(
                "heard",
                _("Last heartbeat"),
                lambda row: row.heard_at,
                lambda row: (
                    unknown("not_asked")
                    if row.heard_at is None
                    else numbers.clock(row.heard_at)
                ),
                css="num",
                unknown=lambda row: "not_asked",
            ),
        ],
        key=lambda row: f"{row.group} {row.client_id} {row.address}",
        rank=lambda row: (natural(row.group), natural(row.client_id)),
        texts=lambda row: (row.group, row.client_id, row.address),
        facets=[
            Facet("broker", _("Broker"), lambda row: row.brokers),
            Facet("language", _("Language"), lambda row: [row.language]),
        ],
    )
