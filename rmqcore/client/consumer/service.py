"""What both kinds of consumption have: a listener, and workers that call it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from rmqcore.client.membership.group import GroupContext
from rmqcore.client.membership.process_queue import ProcessQueue
from rmqcore.model import MessageExt

from .listener import ListenerCall
from .push_settings import PushSettings
from .retries import Retries
from .workers import Workers

Piece = TypeVar("Piece")


class ConsumptionService(ABC, Generic[Piece]):
    """The consumption of one member's messages. Belongs to one event loop."""

    def __init__(
        self,
        context: GroupContext,
        listener: ListenerCall,
        retries: Retries,
        settings: PushSettings,
    ) -> None:
        self._context = context
        self._listener = listener
        self._retries = retries
        self._batch_size = settings.batch_size
        self._clock = context.instance.clock
        self.workers = Workers(self._consume, settings.threads, self._clock)

    @abstractmethod
    def deliver(self, process: ProcessQueue, messages: list[MessageExt]) -> None:
        """Take pulled messages into the process queue, and have them consumed."""

    @abstractmethod
    async def expire_stuck(self) -> None:
        """Send back messages that have been consumed for too long."""

    @abstractmethod
    async def _consume(self, piece: Piece, /) -> None:
        """Do one piece of work, as a worker."""
