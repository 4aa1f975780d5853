"""What an operator does at night, in the browser, counted in clicks and typed fields.

docs/parity.md has the same counts in a table, beside those of another console.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from rmqcore.client import (
    ConsumeContext,
    ConsumeResult,
    Listener,
    PushConsumer,
    PushSettings,
)
from rmqcore.loop_thread import LoopThread
from rmqcore.model import MessageExt
from tests.support.browser import find_chromium
from tests.support.launched import ROOT
from tests.support.our_clients import OurCluster, OurCommand, OurConsumer, produce
from tests.support.product import Product, running_product

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.browser,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed"),
]

TOPIC, GROUP = "orders", "billing"
# One test moves this group. Moving the first would hide why it lags from another.
MOVED = "shipping"
RETURNED, FAILING = "returns", "refunds"
LETTERS = 3
MESSAGES = 40
BURST = 2_000
WORK_MS = 500


@pytest.fixture(scope="module")
def product(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    """A cluster where one key makes a queue hot, and a slow member that lags on it."""
    folder = tmp_path_factory.mktemp("tasks")
    with ExitStack() as running:
        topics = (f"{TOPIC}:8", f"{RETURNED}:1")
        cluster = running.enter_context(OurCluster(folder / "c", topics=topics))
        where = ("--nameserver", cluster.nameserver, "--topic", TOPIC)
        produce(
            folder / "p",
            cluster.nameserver,
            topic=TOPIC,
            count=MESSAGES,
            key_pattern="order-{n}",
        )
        # The lag is sent at once, and after it only what shows a rate.
        hot = ("--orderly", "--key-pattern", "hot")
        burst = ("produce", *where, *hot, "--count", str(BURST))
        with OurCommand(folder / "b", *burst) as command:
            command.wait_for(lambda line: line.get("sent") == BURST)
        steady = ("produce", *where, *hot, "--rate", "20", "--count", "0")
        running.enter_context(OurCommand(folder / "hot", *steady))
        slow = {"work_ms": str(WORK_MS), "threads": "2"}
        consumer = OurConsumer(
            folder / "m", cluster.nameserver, group=GROUP, topic=TOPIC, **slow
        )
        running.enter_context(consumer)
        running.enter_context(in_our_process(cluster.nameserver))
        produce(
            folder / "r", cluster.nameserver, topic=RETURNED, count=LETTERS, tag="red"
        )
        settings = {
            "ROCKETSCOPE_CLUSTERS": f"east={cluster.nameserver}",
            "ROCKETSCOPE_CLUSTER_EAST_WRITES": "on",
        }
        yield running.enter_context(running_product(folder, settings, browser, fleet=1))


@contextmanager
def in_our_process(nameserver: str) -> Iterator[None]:
    """Run a member that gives up what fails, and one of the group that is moved."""
    failed: set[str] = set()

    async def fail(
        messages: Sequence[MessageExt], _context: ConsumeContext
    ) -> ConsumeResult:
        new = {each.msg_id for each in messages} - failed
        failed.update(new)
        return ConsumeResult.RECONSUME_LATER if new else ConsumeResult.SUCCESS

    async def succeed(
        _messages: Sequence[MessageExt], _context: ConsumeContext
    ) -> ConsumeResult:
        return ConsumeResult.SUCCESS

    async def start(group: str, topic: str, listener: Listener) -> PushConsumer:
        consumer = PushConsumer(
            nameserver,
            group=group,
            listener=listener,
            settings=PushSettings(max_reconsume_times=0),
            consume_from_where="CONSUME_FROM_FIRST_OFFSET",
        )
        consumer.subscribe(topic)
        await consumer.start()
        return consumer

    loop = LoopThread("members")
    loop.start()
    members = [
        loop.call(start(FAILING, RETURNED, fail)),
        loop.call(start(MOVED, TOPIC, succeed)),
    ]
    try:
        yield
    finally:
        for member in members:
            loop.call(member.shutdown())
        loop.stop()


@dataclass(slots=True)
class Hand:
    """Does what a person does on a page, and counts it."""

    page: Page
    clicks: int = 0
    fields: int = 0

    def click(self, place: Locator) -> None:
        """Click something."""
        place.click()
        self.clicks += 1

    def link(self, name: str) -> None:
        """Click a link of that name."""
        self.click(self.page.get_by_role("link", name=name, exact=True).first)

    def type(self, place: Locator, text: str) -> None:
        """Fill in a field."""
        place.fill(text)
        self.fields += 1

    @property
    def counted(self) -> tuple[int, int]:
        """Clicks and fields so far."""
        return self.clicks, self.fields


@pytest.fixture(scope="module")
def page(product: Product) -> Iterator[Page]:
    with product.page() as opened:
        yield opened


@pytest.fixture
def hand(page: Page) -> Hand:
    """On the page on which everybody begins, once it knows the group."""
    page.goto("/")
    expect(page.get_by_role("link", name=GROUP, exact=True).first).to_be_visible()
    return Hand(page)


def documented(task: str) -> tuple[int, int]:
    """Return the clicks and fields that the table has for a task."""
    text = (ROOT / "docs" / "parity.md").read_text("utf-8")
    (clicks, fields) = re.findall(
        rf"^\| {task} \| (\d+) clicks?, (\d+) fields? \|", text, re.MULTILINE
    )[0]
    return int(clicks), int(fields)


def test_see_which_queue_of_a_topic_is_hot(hand: Hand) -> None:
    hand.link("Topics")
    hand.link(TOPIC)
    shares = hand.page.locator("td.share")
    expect(shares.filter(has_text=re.compile(r"^\s*(9\d|100)%"))).to_have_count(1)
    assert hand.counted == documented("See which queue of a topic is hot")


def test_find_why_a_group_lags(hand: Hand) -> None:
    hand.link(GROUP)
    finding = hand.page.locator('[data-finding="hot_queue"]')
    expect(finding).to_be_visible()
    assert "broker-a" in finding.inner_text()
    assert hand.counted == documented("Find why a group lags")


def test_find_a_message_and_see_who_has_consumed_it(hand: Hand) -> None:
    hand.link("Messages")
    form = hand.page.locator("form.search-fields")
    hand.type(form.locator("[name=topic]"), TOPIC)
    hand.type(form.locator("[name=key]"), "order-7")
    hand.click(form.get_by_role("button", name="Search"))
    hand.click(hand.page.locator("main tbody tr a").first)
    consumed = hand.page.locator("section", has=hand.page.locator("#consumed-title"))
    expect(consumed).to_contain_text(GROUP)
    task = "Find a message by its key, and see who has consumed it"
    assert hand.counted == documented(task)


def test_move_a_group_back_by_ten_minutes(hand: Hand) -> None:
    hand.link(MOVED)
    hand.link("Offsets")
    hand.link("10 minutes")
    form = hand.page.locator(".offsets-do")
    hand.type(form.locator("[name=reason]"), "CHG-7")
    hand.type(form.locator("[name=confirm]"), MOVED)
    hand.click(form.locator("button"))
    expect(
        hand.page.get_by_role("heading", name="What stands now", exact=True)
    ).to_be_visible()
    assert hand.counted == documented("Move a group back by ten minutes")


def test_resend_the_dead_letters_of_the_last_hour(hand: Hand) -> None:
    hand.link(FAILING)
    hand.link("Dead letters")
    hand.link("Last hour")
    hand.click(hand.page.get_by_role("button", name=f"Resend all {LETTERS} "))
    form = hand.page.locator(".letters-do")
    hand.type(form.locator("[name=reason]"), "CHG-8")
    hand.click(form.get_by_role("button", name=f"Resend {LETTERS} dead letters"))
    progress = hand.page.locator(".letters-progress")
    expect(progress).to_contain_text(f"{LETTERS} of {LETTERS} sent")
    assert hand.counted == documented("Resend the dead letters of the last hour")
