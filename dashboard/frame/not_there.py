"""A page for a name that its cluster does not have: what may be meant instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from dashboard.live.finding_names import FoundName, near_names
from dashboard.live.name_documents import NameKind
from dashboard.models import Cluster
from dashboard.wording.words import Word

KIND_WORDS: Final[dict[NameKind, Word]] = {
    "group": _("Group"),
    "topic": _("Topic"),
    "client": _("Client"),
    "broker": _("Broker"),
}
KINDS_WORDS: Final[dict[NameKind, Word]] = {
    "group": _("Groups"),
    "topic": _("Topics"),
    "client": _("Clients"),
    "broker": _("Brokers"),
}


@dataclass(frozen=True, slots=True)
class Link:
    """A name with the word for its kind, its cluster and the address of its page."""

    kind: str
    icon: str
    name: str
    cluster: str
    address: str


class NotThereError(Http404):
    """A name that is not there; the page of it links what may be meant."""

    def __init__(self, cluster: Cluster, kind: NameKind, name: str, why: str) -> None:
        super().__init__(why)
        self.cluster = cluster
        self.name = name
        self.why = why
        self.near: Sequence[Link] = [
            link_to(each) for each in near_names(cluster.name, kind, name)
        ]
        self.all_of_them = (
            reverse(f"{kind}s", args=[cluster.name]),
            str(KINDS_WORDS[kind]),
        )


def link_to(found: FoundName) -> Link:
    """Return the link to the page of a group, topic, client or broker."""
    address = reverse(found.kind, args=[found.cluster, found.name])
    word = str(KIND_WORDS[found.kind])
    return Link(word, f"{found.kind}s", found.name, found.cluster, address)
