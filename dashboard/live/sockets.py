"""The live socket: watch groups or a cluster, and get changes as they are published.

The socket relays text that the collector encoded once; it neither reads nor builds
documents. A page watches first and loads the document afterwards, so that no change is
lost between the two; the numbers in updates show which ones it already has.
"""

from __future__ import annotations

import logging
from typing import Any, Final

import orjson
import redis
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError

from dashboard.gateway.present import clusters_now
from dashboard.models import User

from .admission import admission_of, admissions
from .messages import (
    MessageError,
    Ping,
    UnknownClusterError,
    Unwatch,
    Watch,
    parse_message,
)
from .metrics import SOCKETS
from .names import live_group_name, live_labs_name, live_overview_name
from .relay import Outbox, relay
from .shares import Share, ShareError, share_of
from .watching import watch_list

logger = logging.getLogger(__name__)

CLOSE_TRY_AGAIN: Final = 1013
CLOSE_REFUSED: Final = 1008
"""A bound is reached, as the reason says; pages do not try again by themselves."""


class LiveSocket(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One browser's socket. Only signed-in users are accepted."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._watches: set[Watch] = set()
        self._outbox: Outbox | None = None
        self._share: Share | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the socket to its end; without the cache, ask the page to try later."""
        SOCKETS.open += 1
        try:
            await super().__call__(scope, receive, send)
        except (redis.RedisError, OSError) as error:
            logger.warning("live socket closed, the cache is away: %s", error)
            await send({"type": "websocket.close", "code": CLOSE_TRY_AGAIN})
        finally:
            SOCKETS.open -= 1
            await admissions().discard(self.close)
            for watch in list(self._watches):
                await self._leave(watch)
            if self._outbox is not None:
                await self._outbox.close()
            if self._share is not None:
                self._share.give_socket()

    async def connect(self) -> None:
        """Accept a signed-in user; others are refused before the handshake ends.

        Beyond the user's share the socket is closed at once. It is accepted first,
        since browsers do not show pages why a handshake failed.
        """
        session = self.scope.get("session")
        admit = database_sync_to_async(admission_of)
        admission = await admit(self.scope.get("user"), session, self.scope)
        if admission is None:
            await self.close()
            return
        admissions().add(self.close, admission)
        await self.accept()
        share = share_of(admission.user_id)
        try:
            share.take_socket()
        except ShareError as error:
            await self.close(CLOSE_REFUSED, str(error))
            return
        self._share = share

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None
    ) -> None:
        """Follow one message, or answer what is wrong with it and continue."""
        if self._share is None:
            return
        try:
            self._share.take_message()
            text = _text_of(text_data, bytes_data)
            await self._follow(await _parsed(text))
        except ShareError as error:
            await self.close(CLOSE_REFUSED, str(error))
        except MessageError as error:
            await self._answer({"type": "error", "message": str(error)})
        except DatabaseError as error:
            logger.warning("live socket closed, the database is away: %s", error)
            await self.close(CLOSE_TRY_AGAIN)

    async def _follow(self, message: Watch | Unwatch | Ping) -> None:
        match message:
            case Ping():
                await self._answer({"type": "pong"})
            case Watch():
                await self._check(message)
                await self._join(message)
                await self._answer(_named("watching", message))
            case Unwatch(cluster, group, labs):
                await self._leave(Watch(cluster, group, labs))
                await self._answer(_named("unwatched", message))

    async def _check(self, watch: Watch) -> None:
        """Raise MessageError for a cluster that the user may not look at."""
        user: User = self.scope["user"]
        if not await database_sync_to_async(user.sees)(watch.cluster):
            raise MessageError(f"you may not look at cluster {watch.cluster!r}")

    async def _join(self, watch: Watch) -> None:
        if watch in self._watches or self._share is None:
            return
        self._share.take_watch()
        if self._outbox is None:
            self._outbox = Outbox(self._write, self._cut_off)
        try:
            await relay().join(_layer_name(watch), self._outbox)
        except BaseException:
            self._share.give_watch()
            raise
        self._watches.add(watch)
        if watch.group:
            await watch_list().add(watch.cluster, watch.group)

    async def _leave(self, watch: Watch) -> None:
        if watch not in self._watches:
            return
        self._watches.remove(watch)
        if self._share is not None:
            self._share.give_watch()
        if watch.group:
            await watch_list().discard(watch.cluster, watch.group)
        if self._outbox is not None:
            await relay().leave(_layer_name(watch), self._outbox)

    async def _write(self, text: str) -> None:
        await self.send(text_data=text)

    async def _cut_off(self) -> None:
        await self.close(CLOSE_TRY_AGAIN)

    async def _answer(self, answer: dict[str, Any]) -> None:
        await self.send(text_data=orjson.dumps(answer).decode())


def _text_of(text_data: str | None, bytes_data: bytes | None) -> str:
    if text_data is None:
        size = len(bytes_data or b"")
        raise MessageError(f"binary message of {size} bytes, expected text")
    return text_data


async def _parsed(text: str) -> Watch | Unwatch | Ping:
    """Read a message; the database is asked only for clusters not in the settings."""
    try:
        return parse_message(text, settings.ROCKETSCOPE_CLUSTERS)
    except UnknownClusterError:
        return parse_message(text, await database_sync_to_async(clusters_now)())


def _layer_name(watch: Watch) -> str:
    if watch.labs:
        return live_labs_name(watch.cluster)
    if watch.group:
        return live_group_name(watch.cluster, watch.group)
    return live_overview_name(watch.cluster)


def _named(kind: str, message: Watch | Unwatch) -> dict[str, Any]:
    answer: dict[str, Any] = {"type": kind, "cluster": message.cluster}
    if message.labs:
        return {**answer, "labs": True}
    return {**answer, "group": message.group} if message.group else answer
