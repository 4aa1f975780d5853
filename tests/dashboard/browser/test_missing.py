"""A broker missing or silent, seen in the browser: old values never join fresh ones."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from django.templatetags.static import static
from playwright.async_api import Locator, Page, expect

from dashboard.collector.changes import changes_between, update_message
from tests.dashboard.documents import (
    BROKERS,
    group_state,
    large_group,
    member,
    now_ms,
    queue,
)
from tests.dashboard.missing import (
    SINCE_MS,
    answering,
    broker_missing,
    many_troubles,
    old_queue,
    overview_missing,
    shared_ids,
    troubled,
    without_broker,
)

from .conftest import Open, Publish

GROUP = "/clusters/hangzhou/groups/order-settlement/"
STAGE = "[data-map-stage]"
TEXT = """selector => [...document.querySelectorAll(selector)].map(
  each => each.textContent.replace(/\\s+/g, " ").trim())"""
SUMS = """async ([module, state]) => {
  const { buildModel, rowSum, lastLagOf } = await import(module);
  const model = buildModel(state);
  return model.rows.map(row => [
    rowSum(row, "lag"), rowSum(row, "rate_out"), lastLagOf(row.columns)]);
}"""


async def pressed(page: Page, form: str) -> None:
    button = page.locator("[data-map-views] [aria-pressed=true]")
    await expect(button).to_have_attribute("value", form)


async def view(page: Page, form: str) -> Locator:
    await page.click(f'[data-map-views] [value="{form}"]')
    return page.locator(STAGE)


async def test_old_cells_are_striped_in_the_row_of_their_last_owner(
    open_page: Open, write: Callable[..., None]
) -> None:
    write(broker_missing(now_ms()))
    page = await open_page(GROUP)
    stage = page.locator(STAGE)
    await expect(stage.locator("g.cell.is-old")).to_have_count(8)
    await expect(stage.locator("g.cell:not(.is-old)")).to_have_count(8)
    first = stage.locator('g[data-row="0"] [data-key="orders|hz1@broker-a|0"]')
    await expect(first.locator(".number")).to_have_text("5.5k")
    await expect(first.locator(".old-stripes")).to_have_count(1)
    await expect(stage).to_contain_text("hz1@broker-a missing")
    await expect(stage).not_to_contain_text("every queue has one")
    await expect(stage).to_contain_text("every queue has an owner, or had one at")
    legend = stage.locator(".legend")
    await expect(legend).to_contain_text("last value, ")
    await expect(legend).to_contain_text("fresh, then stale (not in the ≥ sum)")
    label = await stage.locator(".map-frame").get_attribute("aria-label")
    assert label is not None
    assert (
        "16 queues over 3 members; 0 without owner; 8 of them show the value" in label
    )


async def test_what_a_screen_reader_hears_of_an_old_cell(
    open_page: Open, write: Callable[..., None]
) -> None:
    write(broker_missing(now_ms()))
    page = await open_page(GROUP)
    await page.focus(".map-frame")
    said = page.locator("[data-map-say]")
    await page.keyboard.press("ArrowRight")
    await expect(said).to_contain_text(
        "hz1@broker-a / 1 · 10.20.4.18 · Lag 5,602 · as of "
    )
    card = page.locator(".card")
    await expect(card).to_contain_text("as of ")
    await expect(card).to_contain_text("10.20.4.18 last reported")
    await expect(card).to_contain_text("Committed85,400")
    await page.keyboard.press("End")
    await expect(said).to_contain_text("hz2@broker-b / 7")
    await expect(said).not_to_contain_text("as of")


async def test_the_bars_are_as_long_as_both_parts_and_say_the_fresh_one(
    open_page: Open, write: Callable[..., None]
) -> None:
    write(broker_missing(now_ms()))
    page = await open_page(GROUP)
    rows = page.locator(f"{STAGE} g[data-row]")
    await expect(rows.locator(".old-lag")).to_have_count(3)
    values = await page.evaluate(TEXT, f"{STAGE} g[data-row] .bar-value")
    assert values == ["≥ 6.3", "≥ 16k", "≥ 4.2", "≥ 11k", "≥ 6.3", "≥ 16k"]


def last_only(at: int) -> Any:
    """Return a group one of whose members held nothing but old queues."""
    members = [member(0), member(1)]
    first, second = (each["client_id"] for each in members)
    queues = [
        old_queue(BROKERS[0], 0, at - SINCE_MS, owners=[first], lag=700),
        old_queue(BROKERS[0], 1, at - SINCE_MS, owners=[second], lag=None),
        queue(BROKERS[1], 0, owners=[second], lag=40, rate_out=3.0),
    ]
    brokers = [troubled(BROKERS[0], "silent", at - SINCE_MS), answering(BROKERS[1])]
    return group_state(members, queues, taken_at=at, brokers=brokers, complete=False)


async def test_sums_never_add_old_values_to_fresh_ones(
    open_page: Open, write: Callable[..., None]
) -> None:
    page = await open_page("/settings/")
    module = static("js/map/model.js")
    some = await page.evaluate(SUMS, [module, broker_missing(now_ms())])
    assert [[lag, old] for lag, _rate, old in some] == [
        [{"value": 16_715, "partial": True}, 16_661],
        [{"value": 11_216, "partial": True}, 16_804],
        [{"value": 16_724, "partial": True}, 11_047],
    ]
    # A member that holds nothing fresh has no sum: not 0, and not the old one.
    made = last_only(now_ms())
    made["members"][0].update(lag=0, rate_out=0.0)
    first, second = await page.evaluate(SUMS, [module, made])
    nothing = {"value": None, "partial": True}
    assert first == [nothing, nothing, 700]
    assert second == [
        {"value": 40, "partial": True},
        {"value": 3, "partial": True},
        None,
    ]


async def test_a_member_with_old_queues_alone_has_a_dash_for_a_sum(
    open_page: Open, write: Callable[..., None]
) -> None:
    write(last_only(now_ms()))
    page = await open_page(GROUP)
    values = await page.evaluate(TEXT, f"{STAGE} g[data-row] .bar-value")
    assert values == ["—", "—", "≥ 3.0", "≥ 40"]
    stage = await view(page, "packed")
    heads = await page.evaluate(TEXT, f"{STAGE} .packed-head")
    assert heads[0].endswith("1 queueLag —")
    assert heads[1].endswith("2 queuesLag ≥ 40")
    await expect(stage.locator(".packed-cell.is-old")).to_have_count(2)
    await view(page, "table")
    rows = await page.evaluate(TEXT, f"{STAGE} .twin tbody tr")
    assert ": hz1@broker-a 0" in rows[0]
    assert "hz2@broker-b 0as of " in rows[1]
    assert "700 as of " in rows[0]


@pytest.mark.parametrize(
    ("size", "form"),
    [((96, 12), "grid"), ((480, 60), "strips"), ((1000, 200), "blocks")],
)
async def test_every_scale_marks_what_is_old(
    open_page: Open,
    write: Callable[..., None],
    size: tuple[int, int],
    form: str,
) -> None:
    at = now_ms()
    state = large_group(*size, at, group="order-settlement")
    name = state["queues"][size[0] // 5]["broker"]
    write(without_broker(state, name, at))
    page = await open_page(GROUP)
    await pressed(page, form)
    stage = page.locator(STAGE)
    marks = stage.locator("g.cell .old-stripes")
    expected = (
        3
        if form == "blocks"
        else sum(each["broker"] == name for each in state["queues"])
    )
    await expect(marks).to_have_count(expected)
    await expect(stage.locator(".legend")).to_contain_text("last value, ")
    if form == "blocks":
        await stage.locator("g.block:has(.old-stripes)").first.click()
        await expect(marks).not_to_have_count(0)


async def test_two_connections_of_one_client_id_are_two_rows_that_hold_the_same(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    state = shared_ids(now_ms())
    write(state)
    page = await open_page(GROUP)
    rows = page.locator(f"{STAGE} g[data-row]")
    await expect(rows).to_have_count(3)
    for row, which in ((rows.nth(0), "(1/2)"), (rows.nth(1), "(2/2)")):
        await expect(row.locator("g.cell")).to_have_count(3)
        await expect(row).to_contain_text(which)
    later = copy.deepcopy(state)
    later["seq"] += 1
    later["queues"][0]["lag"] = 101
    await publish(update_message(later, changes_between(state, later)))
    await expect(rows.nth(0)).to_contain_text("101")
    await expect(rows).to_have_count(3)
    for form in ("packed", "table"):
        stage = await view(page, form)
        await expect(stage).to_contain_text("(2/2)")


async def test_members_that_are_missing_say_since_when(
    open_page: Open, write: Callable[..., None]
) -> None:
    write(many_troubles(now_ms()))
    page = await open_page(GROUP)
    for form in ("grid", "packed", "table"):
        stage = await view(page, form)
        await expect(stage).to_contain_text("missing since ")


async def test_a_broker_that_goes_and_comes_back_while_one_looks(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    at = now_ms()
    members = [member(0)]
    owner = members[0]["client_id"]
    names = [queue(broker, 0, owners=[owner]) for broker in BROKERS]
    brokers = [answering(name, queues=1) for name in BROKERS]
    whole = group_state(members, names, taken_at=at, brokers=brokers, complete=True)
    write(whole)
    page = await open_page(GROUP)
    banner, pill = page.locator("[data-standing]"), page.locator("[data-pill-word]")
    await expect(pill).to_contain_text("live")
    await expect(banner).to_be_hidden()
    await expect(page.locator("[data-whatif]")).to_have_attribute(
        "href", f"{GROUP}whatif/"
    )

    half = copy.deepcopy(whole)
    half["seq"] += 1
    half["queues"][0] = old_queue(BROKERS[0], 0, at, owners=[owner], lag=100)
    half["brokers"][0] = troubled(BROKERS[0], "missing", at, queues=1, last_lag=100)
    half.update(complete=False, held={"as_of": at, "until": at + 120_000})
    half["totals"].update(
        lag=100, lag_partial=True, oldest_partial=True, rate_partial=True, skew=None
    )
    await publish(update_message(half, changes_between(whole, half)))
    await expect(banner).to_contain_text("has been missing from the name servers since")
    await expect(pill).to_have_text("live · 1 of 2 brokers")
    status = page.locator('[data-tile="status"]')
    await expect(status).to_have_class("stat striped")
    await expect(status).to_contain_text("as of")
    await expect(page.locator('[data-tile="lag"] dd:not(.sub)')).to_have_text("≥ 100")
    await expect(page.locator("[data-queues] tr.striped")).to_have_count(1)
    await expect(page.locator("[data-findings]")).to_contain_text(
        "None has been checked"
    )
    await expect(page.locator("[data-facts]")).to_contain_text("hz1@broker-a missing")
    await expect(page.locator("[data-facts]")).to_contain_text("held")
    await expect(page.locator("[data-whatif]")).not_to_have_attribute("href", "")
    await expect(page.locator("[data-whatif-why]")).to_be_visible()

    back = {**copy.deepcopy(whole), "seq": whole["seq"] + 2, "held": None}
    await publish(update_message(back, changes_between(half, back)))  # type: ignore[arg-type]
    await expect(banner).to_be_hidden()
    await expect(status).to_have_class("stat")
    await expect(page.locator("tr.striped, g.cell.is-old")).to_have_count(0)
    await expect(page.locator("[data-findings]")).to_be_hidden()
    await expect(page.locator("[data-whatif]")).to_have_attribute(
        "href", f"{GROUP}whatif/"
    )


async def test_a_fault_of_ours_comes_and_goes(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    whole = broker_missing(now_ms())
    write(whole)
    page = await open_page(GROUP)
    box = page.locator("[data-fault]")
    await expect(page.locator("[data-standing]")).to_be_visible()
    # Whose socket is not open yet gets no update.
    await expect(page.locator("[data-pill-word]")).to_contain_text("live")
    await expect(box).to_be_hidden()
    broken = {**copy.deepcopy(whole), "seq": whole["seq"] + 1, "fault": "KeyError: {a}"}
    await publish(update_message(broken, changes_between(whole, broken)))  # type: ignore[arg-type]
    await expect(box).to_contain_text(
        "A fault of RocketScope, not of the group: KeyError: {a}."
    )
    mended = {**copy.deepcopy(whole), "seq": whole["seq"] + 2, "fault": None}
    await publish(update_message(mended, changes_between(broken, mended)))  # type: ignore[arg-type]
    await expect(box).to_be_hidden()


async def test_what_we_know_names_brokers_and_name_servers(
    open_page: Open, write: Callable[..., None]
) -> None:
    write(broker_missing(now_ms()), overview_missing(now_ms()))
    page = await open_page(GROUP)
    facts = page.locator("[data-facts]")
    await expect(facts).to_contain_text("hz1@broker-a missing")
    await expect(facts).to_contain_text("unlisted since ")
    await expect(facts).to_contain_text("did not answer request 43 within 3.0 s")
    await expect(facts).to_contain_text("10.20.6.8:10911 · 0.9 s ago")
    await expect(facts).to_contain_text("2 of 2 answered")
    await expect(facts).to_contain_text("hz1@broker-a is unlisted by 1 of 2")
    await expect(facts).to_contain_text("members drop the queues of hz1@broker-a by ")
    await expect(facts).to_contain_text("of 8 queues as of ")
    await expect(page.locator("[data-facts-fresh]")).to_have_text(
        "8 of 16 queues fresh"
    )
    await page.get_by_role("link", name="Gone for good…").click()
    await expect(page).to_have_url(
        f"{page.url.split('/clusters/')[0]}/clusters/hangzhou/brokers/hz1%40broker-a"
        "/gone/?group=order-settlement"
    )


@pytest.mark.parametrize("lang", ["en", "zh-CN"])
async def test_a_phone_shows_all_of_it_without_sideways_scrolling(
    open_page: Open, write: Callable[..., None], lang: str
) -> None:
    write(broker_missing(now_ms()))
    page = await open_page(GROUP, width=390, lang=lang)
    await expect(page.locator(f"{STAGE} .packed-cell.is-old")).to_have_count(8)
    await page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
    row = page.locator("[data-queues] tr.striped").first
    cells = row.locator("td:visible")
    await expect(cells).to_have_count(4)
