"""That a request is answered in one thread, and as Django's own handler would."""

from __future__ import annotations

import asyncio
import os
import resource
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import iscoroutinefunction
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, get_resolver, path

from dashboard.config.handler import KEPT_THREADS, PageHandler, with_room
from tests.support.waiting import PATIENCE_SECONDS, until

ROOT = Path(__file__).parents[3]
IN_THREADS: list[int] = []
MEET: Callable[[], object] = threading.get_ident
"""What the page does."""


def page(request: HttpRequest) -> HttpResponse:
    IN_THREADS.append(threading.get_ident())
    MEET()
    if request.GET.get("is") == "missing":
        raise Http404
    if request.GET.get("is") == "broken":
        raise ZeroDivisionError
    return HttpResponse(b"read " + request.body, headers={"X-Own": "1"})


urlpatterns = [path("page/", page)]


class NotesThread:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        IN_THREADS.append(threading.get_ident())
        return self.get_response(request)


@pytest.fixture
def small_site(settings: Any) -> Iterator[None]:
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = [
        "django.middleware.security.SecurityMiddleware",
        f"{__name__}.NotesThread",
        "django.middleware.common.CommonMiddleware",
        f"{__name__}.NotesThread",
    ]
    IN_THREADS.clear()
    yield
    IN_THREADS.clear()


async def answer(handler: Any, query: bytes = b"", where: str = "/page/") -> Any:
    scope = {
        "type": "http",
        "method": "POST",
        "path": where,
        "query_string": query,
        "headers": [(b"host", b"testserver")],
    }
    talk: Any = ApplicationCommunicator(handler, scope)
    await talk.send_input({"type": "http.request", "body": b"it all"})
    start = await talk.receive_output()
    body = await talk.receive_output()
    await talk.wait()
    return start["status"], sorted(start["headers"]), body["body"]


@pytest.mark.usefixtures("small_site")
async def test_middleware_and_view_run_in_one_thread_beside_the_loop() -> None:
    status, _headers, body = await answer(PageHandler())
    assert (status, body) == (200, b"read it all")
    assert len(IN_THREADS) == 3
    assert len(set(IN_THREADS)) == 1
    assert threading.get_ident() not in IN_THREADS


@pytest.mark.usefixtures("small_site")
async def test_requests_after_each_other_have_one_thread() -> None:
    handler = PageHandler()
    for _ in range(3):
        await answer(handler)
    assert len(set(IN_THREADS)) == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("small_site")
async def test_requests_at_once_wait_for_no_thread_and_few_threads_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = KEPT_THREADS + 3
    together = threading.Barrier(many, timeout=PATIENCE_SECONDS)
    opened: list[Any] = []

    def ask() -> None:
        connection.ensure_connection()
        opened.append(connection.connection)

    def meet_and_ask() -> None:
        together.wait()
        ask()

    monkeypatch.setattr(f"{__name__}.MEET", meet_and_ask)
    handler = PageHandler()
    await asyncio.gather(*(answer(handler) for _ in range(many)))
    assert len(set(IN_THREADS)) == len(set(map(id, opened))) == many
    await until(lambda: sum(map(is_closed, opened)) == many - KEPT_THREADS)
    monkeypatch.setattr(f"{__name__}.MEET", ask)
    await answer(handler)
    assert len(set(IN_THREADS)) == many
    again = opened.pop()
    assert again in opened
    assert not is_closed(again)


def is_closed(opened: sqlite3.Connection) -> bool:
    try:
        opened.execute("SELECT 1")
    except sqlite3.ProgrammingError as error:
        return "closed" in str(error)
    return False


@pytest.mark.usefixtures("small_site")
@pytest.mark.parametrize(
    ("query", "where"),
    [
        (b"", "/page/"),
        (b"is=missing", "/page/"),
        (b"is=broken", "/page/"),
        (b"", "/elsewhere/"),
    ],
)
async def test_answers_are_those_of_djangos_own_handler(
    query: bytes, where: str
) -> None:
    expected = await answer(ASGIHandler(), query, where)
    assert await answer(PageHandler(), query, where) == expected


def test_no_view_and_no_middleware_is_a_coroutine() -> None:
    found = list(views_of(get_resolver()))
    assert len(found) > 100
    assert [view for view in found if iscoroutinefunction(view)] == []
    handler = PageHandler()
    assert not iscoroutinefunction(handler._middleware_chain)
    assert len(settings.MIDDLEWARE) > 10


def views_of(resolver: URLResolver) -> Iterator[object]:
    for each in resolver.url_patterns:
        if isinstance(each, URLPattern):
            yield each.callback
        else:
            yield from views_of(each)


LATE_AND_SOON = """
import gc, os, sys, threading
os.environ["DJANGO_SETTINGS_MODULE"] = "dashboard.config.settings"
from dashboard.config.handler import page_application
handler = page_application()
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory
from django.urls import resolve, reverse
from django.utils.functional import SimpleLazyObject

def imported():
    return "dashboard.config.api" in sys.modules

print(reverse("groups", args=["x"]), imported())
request = RequestFactory().get("/healthz")
handler._middleware_chain = lambda request: answer
from django.http import HttpResponse
answer = HttpResponse()
handler.get_response(request)
request._cached_user = AnonymousUser()
handler.get_response(request)
del request._cached_user
# Who it is was not asked, and cannot be now: the answer is made all the same.
def away():
    raise OSError("the database is away")
request.user = SimpleLazyObject(away)
assert handler.get_response(request) is answer
print(threading.active_count(), imported())
frozen = gc.get_freeze_count()
if sys.argv[1] == "asked":
    print(resolve("/api/v1/clusters").url_name, imported())
else:
    from dashboard.models import User
    from django.contrib.auth.middleware import get_user
    request._cached_user = User()
    assert get_user(request) is request._cached_user
    handler.get_response(request)
    others = [each for each in threading.enumerate() if each.daemon]
    for each in others:
        each.join()
    print("signed in", imported() and 0 < frozen < gc.get_freeze_count())
print(reverse("api:group", args=["x", "y/z"]))
"""


@pytest.mark.parametrize(
    ("what", "third"), [("asked", "clusters True"), ("seen", "signed in True")]
)
def test_rest_is_imported_when_it_is_asked_for_or_about_to_be(
    what: str, third: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LATE_AND_SOON, what],
        cwd=ROOT,
        env={**os.environ, "ROCKETSCOPE_VAR_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "/clusters/x/groups/ False",
        "1 False",
        third,
        "/api/v1/clusters/x/groups/y%252Fz",
    ]


def nothing() -> None:
    """Have a frame, and leave it."""


def pages_taken(depth: int) -> int:
    """Return how many pages of memory a thousand calls take, that deep in calls."""
    if depth:
        return pages_taken(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(1000):
        nothing()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_no_loop_of_a_page_waits_for_memory_at_each_call() -> None:
    assert with_room(lambda *given, **named: (given, named), 1, a=2) == ((1,), {"a": 2})
    # Without room there are depths at which each call takes a page.
    assert max(with_room(pages_taken, depth) for depth in range(300)) < 500
    with pytest.raises(ZeroDivisionError):
        with_room(lambda: 1 / 0)
