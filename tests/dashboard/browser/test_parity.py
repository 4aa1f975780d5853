"""What the browser writes is what the server wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.templatetags.static import static
from playwright.async_api import expect

from tests.dashboard.documents import (
    BROKERS,
    group_state,
    large_group,
    member,
    messages_lost,
    now_ms,
    queue,
    shared_client_ids,
    waiting_for_locks,
)
from tests.dashboard.missing import (
    broker_missing,
    many_troubles,
    old_queue,
    troubled,
)

from .conftest import Open

FOLDER = Path(__file__).resolve().parents[1]
FIGURES = json.loads((FOLDER / "wording" / "figures.json").read_text())
STATUSES = json.loads((FOLDER / "groups" / "queue_status.json").read_text())
GROUP = "/clusters/hangzhou/groups/order-settlement/"

CELLS = """root => [...root.querySelectorAll("tbody tr")].map(row =>
  [...row.cells].map(cell => cell.textContent.replace(/\\s+/g, " ").trim()))"""
TILES = """root => [...root.querySelectorAll(".stat")].map(tile =>
  [...tile.children].map(part => part.textContent.replace(/\\s+/g, " ").trim()))"""
BANNERS = """root => [...root.querySelectorAll("[data-standing], [data-fault]")].map(
  box => [box.hidden, ...[...box.querySelectorAll("span:not([aria-hidden])")].map(
    part => part.textContent.replace(/\\s+/g, " ").trim()
      .replace(/\\([^()]*\\)\\.|（[^（）]*）。/g, ""))])"""
FINDINGS = """root => [...root.querySelectorAll(
  "[data-findings], [data-findings] > *")].map(part => [part.hidden, part.className,
    part.textContent.replace(/\\s+/g, " ").trim()])"""
HEADING = """root => [...root.querySelectorAll("[data-whatif], [data-whatif-why]")].map(
  part => [part.hidden, part.getAttribute("href"), part.textContent])"""
SERVER = f"""async selector => {{
  const text = await (await fetch(location.href)).text();
  const page = new DOMParser().parseFromString(text, "text/html");
  return ({CELLS})(page.querySelector(selector));
}}"""
BROWSER = f"selector => ({CELLS})(document.querySelector(selector))"


async def test_figures_are_written_as_listed(open_page: Open) -> None:
    page = await open_page("/settings/")
    written = await page.evaluate(
        """async ([module, examples]) => {
          const format = await import(module);
          return Object.entries(examples).flatMap(([name, cases]) =>
            cases.map(([value]) => [name, value, format[name](value)]));
        }""",
        [static("js/frame/format.js"), FIGURES],
    )
    assert written == [
        [name, *case] for name, cases in FIGURES.items() for case in cases
    ]


async def test_queues_get_the_words_listed(open_page: Open) -> None:
    page = await open_page("/settings/")
    examples = [
        {
            "state": {"kind": example.get("kind", "owned")},
            "queue": queue(BROKERS[0], 0, **{"owners": ["a"], **example["queue"]}),
        }
        for example in STATUSES
    ]
    found = await page.evaluate(
        """async ([module, examples]) => {
          const { queueStatus, drain } = await import(module);
          return examples.map(({ state, queue }) => {
            const { level, word } = queueStatus(state, queue);
            const { kind, ms, reason } = drain(queue);
            return { level, word, drain: ms ?? reason ?? kind };
          });
        }""",
        [static("js/groups/status.js"), examples],
    )
    wanted = [
        {key: example[key] for key in ("level", "word", "drain")}
        for example in STATUSES
    ]
    assert found == wanted


def faulty_group(at: int) -> Any:
    """Return a group with something of everything in its tables."""
    members = [
        member(0, strategy="OwnStrategy", managed=True),
        member(1, idle="no_queues", strategy=None, in_hand=None, address=None),
        member(2, idle="not_subscribed", subscriptions=[]),
    ]
    first, second, _third = (each["client_id"] for each in members)
    queues = [
        queue(BROKERS[0], 0, owners=[first], moved_at=at - 260_000_000),
        queue(BROKERS[0], 1, owners=[first, second]),
        queue(BROKERS[0], 2, owners=[], expected=second, lag=9_000),
        queue(BROKERS[0], 3, owners=["gone@1"], owner_source="inferred"),
        queue(
            BROKERS[1],
            0,
            lag=None,
            lag_ms=None,
            rate_in=None,
            rate_out=None,
            pulled=None,
            owners=[],
            owner_source=None,
            unknown={"lag": "expired", "lag_ms": "expired", "owners": "no_answer"},
        ),
    ]
    return group_state(members, queues, taken_at=at)


@pytest.mark.parametrize("lang", ["en", "zh-CN"])
@pytest.mark.parametrize(
    ("path", "table"), [("", "[data-queues]"), ("members/", "[data-members]")]
)
async def test_tables_read_the_same_from_both(
    open_page: Open, write: Callable[..., None], lang: str, path: str, table: str
) -> None:
    at = now_ms()
    write(faulty_group(at))
    page = await open_page(GROUP + path, lang=lang)
    await expect(page.locator("[data-pill]")).to_have_attribute("data-state", "live")
    server = await page.evaluate(SERVER, table)
    browser = await page.evaluate(BROWSER, table)
    assert browser == server
    assert len(browser) == (3 if path else 5)


def all_silent(at: int) -> Any:
    """Return a group of which nothing is known now, and of one queue never was."""
    since = at - LONG_AGO
    queues = [
        old_queue(BROKERS[0], 0, since, owners=["gone@1"], reason="no_answer"),
        old_queue(BROKERS[1], 0, since, reason="no_answer", last=None),
    ]
    brokers = [troubled(name, "silent", since, queues=1) for name in BROKERS]
    made = group_state(
        [member(0, missing_since=since, idle="no_queues")],
        queues,
        taken_at=at,
        brokers=brokers,
        complete=False,
        fault="KeyError: '{left}'",
    )
    unknown = dict.fromkeys(("lag", "oldest_ms", "rate_in", "rate_out", "skew"))
    made["totals"].update(
        **unknown, lag_partial=True, oldest_partial=True, rate_partial=True
    )  # type: ignore[typeddict-item]
    return made


def older_document(at: int) -> Any:
    """Return a document as versions before brokers had states wrote it."""
    made = waiting_for_locks(at)
    made["brokers"][1].update(answered=False, age_ms=LONG_AGO)
    return made


def held(at: int) -> Any:
    return broker_missing(at, since=at - LONG_AGO)


# So long ago that the span reads the same some seconds later.
LONG_AGO = 260_000_000
STANDINGS = [
    waiting_for_locks,
    held,
    many_troubles,
    all_silent,
    messages_lost,
    older_document,
]


@pytest.mark.parametrize("lang", ["en", "zh-CN"])
@pytest.mark.parametrize(
    "kind", ["owned", "broadcasting", "mixed", "shared_pop", "assigned_by_hand"]
)
async def test_members_with_one_client_id_read_the_same_from_both(
    open_page: Open, write: Callable[..., None], lang: str, kind: str
) -> None:
    write(shared_client_ids(now_ms(), kind=kind))
    page = await open_page(GROUP + "members/", lang=lang)
    await expect(page.locator("[data-pill]")).to_have_attribute("data-state", "live")
    server = await page.evaluate(SERVER, "[data-members]")
    browser = await page.evaluate(BROWSER, "[data-members]")
    assert browser == server
    assert len(browser) == 3


@pytest.mark.parametrize("lang", ["en", "zh-CN"])
@pytest.mark.parametrize("made", STANDINGS)
async def test_what_a_page_rests_on_reads_the_same_from_both(
    open_page: Open, write: Callable[..., None], made: Callable[[int], Any], lang: str
) -> None:
    write(made(now_ms()))
    page = await open_page(GROUP, lang=lang)
    await expect(page.locator("[data-pill]")).not_to_have_attribute(
        "data-state", "connecting"
    )
    for part in (TILES, BANNERS, FINDINGS, HEADING):
        # Both name times, so both are read at about the same one.
        server = await page.evaluate(SERVER.replace(CELLS, part), "main")
        browser = await page.evaluate(BROWSER.replace(CELLS, part), "main")
        assert browser == server
    # The last column counts seconds.
    server = [row[:-1] for row in await page.evaluate(SERVER, "[data-queues]")]
    browser = await page.evaluate(BROWSER, "[data-queues]")
    assert [row[:-1] for row in browser] == server


async def test_a_large_group_is_cut_at_the_same_row(
    open_page: Open, write: Callable[..., None]
) -> None:
    write(large_group(480, 60, now_ms(), group="order-settlement"))
    page = await open_page(GROUP)
    server = await page.evaluate(SERVER, "[data-queues]")
    assert len(server) == 100
    assert [row[1] for row in await page.evaluate(BROWSER, "[data-queues]")] == [
        row[1] for row in server
    ]
    await page.click("[data-all-queues]")
    await expect(page.locator("[data-queues] tbody tr")).to_have_count(480)
