"""Every page, light and dark, wide and on a phone: axe-core finds nothing at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone
from playwright.async_api import Browser, BrowserContext, Error, Page, TimeoutError

from dashboard.accounts import directory
from dashboard.accounts.half_signed_in import COOKIE, ask_for_code
from dashboard.accounts.outside import Directory, GroupRight, Provider
from dashboard.models import SecondFactor, User
from tests.attacks.routes import PAGES, Route, pages, path_of
from tests.dashboard.documents import lock_finding, now_ms, waiting_for_locks
from tests.support import axe
from tests.support.browser import PATIENCE_MS

from .stocked import GROUP, PLACE, Stocked

AT_ONCE: Final = 2
SETTLED_MS: Final = 20_000
"""How long a page may take until it asks for nothing more."""

WIDE: Final = {"width": 1440, "height": 900}
PHONE: Final = {"width": 390, "height": 844}
NO_PAGES: Final = {"healthz", "readyz", "metrics", "catalogue"}
"""What machines ask for."""

DOORS: Final = {"sign_in", "sign_in_link"}
"""What is only for people who are not signed in."""

NOT_ASKED: Final = {
    "alert_rule_matching": "it has a sentence for the form of a rule",
    "provider_start": "it leads to the provider, and there is none here",
    "provider_return": "the provider leads to it",
    "sign_in_code": "it needs a password that was accepted; see below",
    "report_figure": "it has a chart's data",
    "report_file": "it gives a file, once one was made",
    "report_status": "it has a run's state",
    "message_tail_step": "it has a tail's next rows",
}
QUERIES: Final = {
    "messages": ("", "by=newest&topic=orders", "by=key&topic=orders&key=none"),
    "message": (PLACE,),
    "message_resend": (f"{PLACE}&group={GROUP}",),
    "message_tail": ("topic=orders",),
    "message_send": ("topic=orders",),
    "topic_new": ("", "name=paged&readQueueNums=4&writeQueueNums=4&perm=6"),
    "topic_change": ("", "perm=4"),
    "group_new": ("", "name=paged&retryMaxTimes=3"),
    "group_offsets": ("", "to=earliest&topic=orders"),
    "group_whatif": ("", "v=1&s=AVG_BY_CIRCLE&a=one-more"),
    "group_switch": ("v=1&s=AVG_BY_CIRCLE",),
}
"""What is asked of pages that show more when something is asked."""


REFUSALS: Final = {
    "/sign-in/": 200,
    "/sign-in/code/": 400,
    "/sign-in/provider/": 502,
    "/sign-in/provider/return/": 403,
}
"""Pages on the way in, and what they answer to a stranger while no provider does."""
DIRECTORY: Final = ("Example directory", "ou=people", "ou=groups")


@dataclass(frozen=True, slots=True)
class Address:
    """One page, and what it is called when it is at fault."""

    name: str
    path: str


@pytest.fixture
def axe_script() -> str:
    missing = axe.missing_tool()
    if missing:
        pytest.skip(f"{missing}; axe-core is installed with it")
    return axe.axe_script()


@dataclass(frozen=True, slots=True)
class Looking:
    """A browser, where our pages are, and how one is let in."""

    browser: Browser
    origin: str
    session: str
    script: str

    @asynccontextmanager
    async def context(self) -> AsyncIterator[BrowserContext]:
        """Give a context whose pages have axe-core, and close it, whatever happens.

        A page that stays open keeps its socket, and the server waits for that.
        """
        context = await self.browser.new_context(reduced_motion="reduce")
        async with context:
            context.set_default_timeout(PATIENCE_MS)
            await context.add_init_script(self.script)
            yield context


@pytest.fixture
def looking(browser: Browser, address: str, session: str, axe_script: str) -> Looking:
    return Looking(browser, address, session, axe_script)


# A hundred addresses: where others work as well, that is more than two minutes.
@pytest.mark.timeout(1800)
async def test_no_page_breaks_a_rule_of_accessibility(
    there: Stocked, write: Any, looking: Looking
) -> None:
    write(troubled())
    wanted = await sync_to_async(addresses)(there)
    inside = [each for each in wanted if each.name not in DOORS]
    found = await faults(looking, inside, signed_in=True)
    doors = [each for each in wanted if each.name in DOORS]
    found |= await faults(looking, doors, signed_in=False)
    lines = [f"{name}: {line}" for name, each in sorted(found.items()) for line in each]
    assert not lines, "\n".join(lines)


@pytest.mark.timeout(1800)
async def test_no_page_of_signing_in_breaks_one(
    there: Stocked, looking: Looking, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise directory.DirectoryAwayError("nobody there")

    monkeypatch.setattr(directory, "identify", away)
    settings.ROCKETSCOPE_OIDC = Provider("http://127.0.0.1:9", "a", "b", "Example ID")
    settings.ROCKETSCOPE_LDAP = Directory(("ldap://127.0.0.1:9",), *DIRECTORY)
    settings.ROCKETSCOPE_SIGN_IN_GROUPS = (GroupRight("staff", "viewer"),)
    half = await sync_to_async(half_signed_in)()
    async with looking.context() as context:
        page = await context.new_page()
        found: dict[str, list[str]] = {}
        for path, status in REFUSALS.items():
            found[path] = await faults_of(page, looking.origin + path, status)
        await page.goto(f"{looking.origin}/sign-in/")
        for name in ("username", "password"):
            await page.fill(f'input[name="{name}"]', "nobody")
        await page.keyboard.press("Enter")
        await page.get_by_role("alert").wait_for()
        found["a wrong password"] = await faults_shown(page)
        await context.add_cookies([{**half, "url": f"{looking.origin}/sign-in/code/"}])
        found["a code"] = await faults_of(page, f"{looking.origin}/sign-in/code/")
        assert await page.locator('input[name="code"]').is_visible()
        await page.fill('input[name="code"]', "1")
        await page.keyboard.press("Enter")
        await page.locator(".field-error").wait_for()
        found["a wrong code"] = await faults_shown(page)
    lines = [f"{name}: {line}" for name, each in found.items() for line in each]
    assert not lines, "\n".join(lines)


def half_signed_in() -> Any:
    """Return the cookie of somebody whose password was right, and who has an app."""
    vera = User.objects.create_user("half", password="correct horse battery")
    SecondFactor.objects.create(
        user=vera, secret="unused", set_up_at=timezone.now(), last_step=0
    )
    cookie = ask_for_code(vera, "").cookies[COOKIE]
    return {"name": COOKIE, "value": cookie.value}


def test_what_is_not_looked_at_is_a_page_of_the_table() -> None:
    assert set(NOT_ASKED) | set(QUERIES) | NO_PAGES <= set(PAGES)


def troubled() -> Any:
    """Return the group with a finding, so that its page has all it can have."""
    at = now_ms()
    keys = [f"orders|hz2@broker-b|{number}" for number in range(4, 8)]
    return waiting_for_locks(at, managed=True, findings=[lock_finding(keys, at)])


def addresses(there: Stocked) -> list[Address]:
    """Return every page that the table of addresses has, as often as it is asked."""
    return [
        Address(route.name, path_named(route, there) + query)
        for route in pages()
        if "GET" in PAGES[route.name] and route.name not in NO_PAGES | set(NOT_ASKED)
        for query in queries_of(route, there)
    ]


def path_named(route: Route, there: Stocked) -> str:
    named = {"client_id": there.client_id, "broker": "broker-a"}
    changes = {
        "topic_changed": "topic",
        "group_configured": "group",
        "broker_configured": "broker",
        "broker_access_changed": "user",
    }
    if route.name in changes:
        named["pk"] = str(there.changes[changes[route.name]])
    return path_of(route) if "token" in route.places else route.path(**named)


def queries_of(route: Route, there: Stocked) -> tuple[str, ...]:
    if route.name == "client_stacks":
        return (f"?token={there.stacks}",)
    return tuple(each and f"?{each}" for each in QUERIES.get(route.name, ("",)))


async def faults(
    looking: Looking, wanted: list[Address], *, signed_in: bool
) -> dict[str, list[str]]:
    """Look at pages, some at once; return what is wrong with each that is wrong."""
    found: dict[str, list[str]] = {}
    waiting = wanted[::-1]

    async def look() -> None:
        # Pages of one context may share a process, and then wait for each other.
        async with looking.context() as context:
            if signed_in:
                cookie = {"name": "rocketscope_session", "value": looking.session}
                await context.add_cookies([{**cookie, "url": looking.origin}])
            page = await context.new_page()
            while waiting:
                each = waiting.pop()
                try:
                    lines = await faults_of(page, looking.origin + each.path)
                except Error as error:
                    lines = [error.message]
                if lines:
                    found[f"{each.name} {each.path}"] = lines

    async with asyncio.TaskGroup() as looks:
        for _ in range(AT_ONCE):
            looks.create_task(look())
    return found


async def faults_of(page: Page, address: str, status: int = 200) -> list[str]:
    """Return what is wrong with a page in each theme and width."""
    await page.set_viewport_size(WIDE)
    await page.emulate_media(color_scheme="light")
    try:
        answer = await page.goto(address, wait_until="load")
    except Error as error:
        if "Download is starting" in error.message:
            return []
        raise
    assert answer is not None
    if not answer.headers.get("content-type", "").startswith("text/html"):
        return []
    if answer.status != status or "/sign-in/?" in page.url:
        return [f"answered {answer.status} at {page.url}"]
    return await faults_shown(page)


async def faults_shown(page: Page) -> list[str]:
    """Return what is wrong with what a page shows, in each theme and width."""
    # A live tail asks each second: where answers take half of that, it is never quiet.
    with suppress(TimeoutError):
        await page.wait_for_load_state("networkidle", timeout=SETTLED_MS)
    found = [f"light: {each}" for each in await axe.violations(page)]
    await page.emulate_media(color_scheme="dark")
    found += [f"dark: {each}" for each in await axe.violations(page, axe.OF_COLOUR)]
    await page.set_viewport_size(PHONE)
    return found + [f"dark phone: {each}" for each in await axe.violations(page)]
