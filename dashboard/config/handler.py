"""How a page is answered: all of a request in one thread, entered once.

Django's own handler goes back to the event loop between the middleware and the view,
for views that are coroutines. Ours are functions, as all of our middleware, so that
each of these steps would only cost time: a fifth of a list that is answered from what
is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase


class PageHandler(ASGIHandler):
    """Django's handler with middleware and views as plain calls of each other."""

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware()

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the answer to a request, made in the thread of this request."""
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)


def page_application() -> PageHandler:
    """Set Django up and return the application that answers requests."""
    django.setup(set_prefix=False)
    return PageHandler()
