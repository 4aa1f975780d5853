"""Where one message is, and the address of its page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from urllib.parse import urlencode

from django.urls import reverse

from rmqcore.model import MessageExt, MessageQueue


@dataclass(frozen=True, slots=True)
class Place:
    """A queue and an offset in it."""

    topic: str
    broker: str
    queue: int
    offset: int

    @property
    def message_queue(self) -> MessageQueue:
        return MessageQueue(self.topic, self.broker, self.queue)

    def __str__(self) -> str:
        return f"{self.topic} {self.broker}/{self.queue}@{self.offset}"


def place_of(message: MessageExt) -> Place:
    """Return where a message is stored."""
    queue_id, offset = message.queue_id, message.queue_offset
    return Place(message.topic, message.broker_name, queue_id, offset)


def place_url(cluster: str, place: Place) -> str:
    """Return the address of the page of the message at a place."""
    return f"{reverse('message', args=[cluster])}?{urlencode(asdict(place))}"


def message_url(cluster: str, message: MessageExt) -> str:
    """Return the address of a message's page."""
    return place_url(cluster, place_of(message))
