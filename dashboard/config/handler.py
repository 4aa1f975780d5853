"""How a page is answered: all of a request in one thread, entered once.

Django's own handler goes back to the event loop between the middleware and the view,
for views that are coroutines. Our views and middleware are all functions, so that these
steps would only cost time: a third of that of a list whose rows have been made before.

It also starts a thread for each request, and another one that waits for its end. Here
requests reuse threads, and with each thread its connection to the database.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import django
from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.db import connections
from django.urls import get_resolver

from .addresses import LateURLs

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

P = ParamSpec("P")
Result = TypeVar("Result")

_SLOTS: Final = 17_000
"""Of 8 bytes, so that CPython takes a piece of 256 kB, of which 120 kB are left."""

KEPT_THREADS: Final = 8
"""How many threads are kept while there is no request. There is no limit to how many
are at work: some requests wait for brokers."""


class Threads:
    """Lends a thread to each request. Belongs to one event loop."""

    def __init__(self) -> None:
        self._free: list[ThreadPoolExecutor] = []

    @contextmanager
    def lent(self) -> Iterator[ThreadPoolExecutor]:
        """Lend an executor of one thread: the one that came back last, if there is one.

        When the block ends, everything that it was given has to be done.
        """
        executor = self._free.pop() if self._free else ThreadPoolExecutor(1, "request")
        try:
            yield executor
        finally:
            if len(self._free) < KEPT_THREADS:
                self._free.append(executor)
            else:
                executor.submit(connections.close_all)
                executor.shutdown(wait=False)


class PageHandler(ASGIHandler):
    """Django's handler with middleware and views as plain calls of each other."""

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware()
        self._has_readers = False
        self._threads = Threads()

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[Mapping[str, Any]]],
        send: Callable[[Mapping[str, Any]], Awaitable[None]],
    ) -> None:
        """Answer a request in a thread that is lent to it."""
        with self._threads.lent() as executor:
            async with ThreadSensitiveContext(executor=executor):
                await super().__call__(scope, receive, send)

    def get_response(self, request: HttpRequest) -> HttpResponseBase:
        """Return the answer; after the first to a signed-in user, import late URLs."""
        response = with_room(super().get_response, request)
        if not self._has_readers and _is_signed_in(request):
            self._has_readers = True
            threading.Thread(target=_import_late_urls, daemon=True).start()
        return response

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the answer to a request, made in the thread of this request."""
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)


def with_room(
    function: Callable[P, Result], *args: P.args, **named: P.kwargs
) -> Result:
    """Call a function so that the frames of all that it calls lie in one piece.

    CPython keeps frames in pieces of 16 kB, and gives each one back to the system as
    soon as it is left. Templates call each other deeply. A loop whose calls begin a new
    piece, such as that over the cells of a table, waits for memory at each of them:
    15 ms for fifty rows.
    """
    return function(*args, **named)


# The frame itself claims more than it uses, and pages that nobody touches cost nothing.
with_room.__code__ = with_room.__code__.replace(co_stacksize=_SLOTS)


def page_application() -> PageHandler:
    """Set Django up and return the application that answers requests."""
    django.setup(set_prefix=False)
    # It needs the models, which Django has only now.
    from dashboard.gateway.clusters import log_unverified

    log_unverified(settings.ROCKETSCOPE_CLUSTERS)
    handler = PageHandler()
    get_resolver().url_patterns  # noqa: B018  imports all pages
    # Looking for garbage among what was imported would hold a page up for 0.2 s.
    gc.freeze()
    return handler


def _is_signed_in(request: HttpRequest) -> bool:
    # Only if somebody asked before: the database may be away, which has been answered.
    user = getattr(request, "_cached_user", None)
    return user is not None and user.is_authenticated


def _import_late_urls() -> None:
    for each in get_resolver().url_patterns:
        if isinstance(each, LateURLs):
            each.url_patterns  # noqa: B018  importing is what it is for
    gc.freeze()
