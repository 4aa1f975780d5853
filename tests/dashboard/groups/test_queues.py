"""The table of queues: order, lines, the queues of a finding, the drawer of one."""

from __future__ import annotations

from playwright.sync_api import Page

from dashboard.live.documents import GroupState
from tests.dashboard.conftest import Write
from tests.dashboard.documents import BROKERS, lock_finding, waiting_for_locks

from .conftest import PAGE, Read

ROWS = "[data-queues] tbody tr"
WAITING = [f"orders|{BROKERS[1]}|{number}" for number in range(4, 8)]
HOT = f"orders|{BROKERS[0]}|6"
OPEN = HOT.replace("|", "%7C")


def with_lines(state: GroupState) -> GroupState:
    """Return the document with 15 minutes of each queue's lag."""
    at = [state["taken_at"] - 30_000 * ago for ago in range(29, 0, -1)]
    keys = [f"{q['topic']}|{q['broker']}|{q['queue_id']}" for q in state["queues"]]
    return {**state, "trend": {"at": at, "lag": {k: [*range(29)] for k in keys}}}


def test_a_column_sorts_and_the_address_says_so(read: Read, write: Write) -> None:
    write(waiting_for_locks())
    page = read("queues/?sort=queue")
    keys = page.attributes(ROWS, "data-key")
    assert keys[0] == f"orders|{BROKERS[0]}|0"
    assert keys[-1] == f"orders|{BROKERS[1]}|7"
    page.run(lambda it: it.click('[data-sort="lag"]'))
    assert page.attributes(ROWS, "data-key")[0] == HOT
    assert page.attributes("th[aria-sort]", "aria-sort") == ["descending"]
    assert page.run(lambda it: it.url).endswith("queues/?sort=-lag")
    page.run(lambda it: it.click('[data-sort="state"]'))
    assert page.attributes(ROWS, "data-key")[0] == WAITING[0]
    assert page.run(lambda it: it.url).endswith("queues/")


def test_each_queue_has_a_line_of_its_lag(read: Read, write: Write) -> None:
    write(with_lines(waiting_for_locks()))
    page = read("queues/")
    assert len(page.attributes(f"{ROWS} .spark", "class")) == 16
    assert "lag in the last 15 minutes: 0 to 7.9k" in page.content.decode()


def test_a_finding_shows_its_queues_in_map_and_table(read: Read, write: Write) -> None:
    write(waiting_for_locks(findings=[lock_finding(WAITING)]))
    page = read()
    page.run(lambda it: it.click("button[data-show]"))
    assert sorted(map(str, page.attributes(ROWS, "data-key"))) == WAITING
    assert page.run(lambda it: it.locator(".map .is-found").count()) == 4
    assert page.run(lambda it: it.url).endswith("?finding=lock_expired")
    said = page.text("[data-shown-queues]")
    assert said == "4 queues of “Queues wait for a lock to expire” Show all"
    page.run(lambda it: it.click("[data-shown-queues] button"))
    assert len(page.texts(ROWS)) == 16
    assert page.run(lambda it: it.locator(".is-found").count()) == 0


def test_a_finding_that_is_gone_shows_all_queues_again(
    read: Read, write: Write
) -> None:
    write(waiting_for_locks())
    page = read("?finding=lock_expired")
    assert "is not found any more" in page.text("[data-shown-queues]")
    assert len(page.texts(ROWS)) == 16


def test_a_finding_without_queues_is_not_called_gone(read: Read, write: Write) -> None:
    write(waiting_for_locks(findings=[lock_finding([])]))
    page = read("?finding=lock_expired")
    said = page.text("[data-shown-queues]")
    assert said.endswith("names no queues; all queues are shown Show all")
    assert len(page.texts(ROWS)) == 16


def test_a_finding_leads_to_what_if_lab_and_documentation(
    read: Read, write: Write
) -> None:
    follows = {**lock_finding(WAITING), "key": "unowned_queues", "text": "text"}
    write(
        waiting_for_locks(
            findings=[lock_finding(WAITING), {**follows, "cause": "lock_expired"}]
        )
    )
    page = read("findings/")
    first = page.attributes(".finding:first-child .leads a", "href")
    assert first[0] == f"{PAGE}?finding=lock_expired"
    assert first[1] == f"{PAGE}whatif/"
    assert first[2] == "/labs/#lab-F7"
    assert str(first[3]).startswith("https://rocketmq.apache.org/docs/")
    effect = page.text(".finding:last-child")
    assert "Follows from: Queues wait for a lock to expire" in effect


def test_the_drawer_of_a_queue_has_an_address_and_escape_closes_it(
    read: Read, write: Write
) -> None:
    write(with_lines(waiting_for_locks()))
    page = read(f"queues/?queue={OPEN}")
    drawer = page.text("[data-drawer]")
    assert drawer.startswith(f"{BROKERS[0]} / 6 Close Esc Falling behind orders")
    for fact in ("Lag 128,440", "Committed 1,200", "Maximum 129,640", "In hand 1,000"):
        assert fact in drawer
    links = [str(each) for each in page.attributes(".drawer-links a", "href")]
    assert links[0].endswith("by=newest&topic=orders&broker=hz1%40broker-a&queue=6")
    assert links[1].endswith("queue=6&offset=1200")
    assert "offsets/?to=earliest&topic=orders&queue=hz1%40broker-a%2F6" in links[2]
    page.run(lambda it: it.keyboard.press("Escape"))
    assert page.text("[data-drawer]") == ""
    assert page.run(lambda it: it.url).endswith("queues/")
    assert page.run(lambda it: it.evaluate("document.activeElement.textContent")) == (
        f"{BROKERS[0]} / 6"
    )


def test_the_drawer_says_since_when_its_queue_is_held(read: Read, write: Write) -> None:
    write(waiting_for_locks())
    page = read("queues/")
    answers = [{"status": 503}, {"json": {"events": [], "since": None}}]

    def answer(it: Page) -> None:
        it.route("**/moves?*", lambda asked: asked.fulfill(**answers.pop(0)))
        it.click(f'{ROWS}[data-key="{HOT}"] [data-open]')
        it.wait_for_selector("text=RocketScope did not answer")

    page.run(answer)
    assert "Loading" not in page.text("[data-drawer]")

    def again(it: Page) -> None:
        it.keyboard.press("Escape")
        it.click(f'{ROWS}[data-key="{HOT}"] [data-open]')
        it.wait_for_selector("text=No change of owner is recorded.")

    page.run(again)
    (why,) = page.attributes('[data-drawer] [data-key="owner_since"] [title]', "title")
    assert str(why).startswith("Nobody saw it begin")


def test_keys_lead_from_a_row_into_the_drawer_and_back_in_history(
    read: Read, write: Write
) -> None:
    write(waiting_for_locks())
    page = read("queues/")
    page.run(lambda it: it.focus(f"{ROWS}:first-child [data-open]"))
    page.run(lambda it: it.keyboard.press("Enter"))
    assert page.text("[data-drawer-title]") == f"{BROKERS[1]} / 4"
    assert page.attributes(f"{ROWS} [aria-expanded=true]", "type") == ["button"]
    page.run(lambda it: it.evaluate("history.back()"))
    page.run(lambda it: it.wait_for_selector("[data-drawer]", state="hidden"))


def test_enter_on_a_cell_of_the_map_moves_the_focus_to_its_row(
    read: Read, write: Write
) -> None:
    write(waiting_for_locks())
    page = read()
    page.run(lambda it: it.focus(".map-frame"))
    for key in ("Home", "Enter"):
        page.run(lambda it, key=key: it.keyboard.press(key))
    assert page.run(lambda it: it.evaluate("document.activeElement.textContent")) == (
        f"{BROKERS[0]} / 0"
    )


def test_the_tabs_count_queues_and_members(read: Read, write: Write) -> None:
    write(waiting_for_locks())
    for tab in ("", "whatif/"):
        assert read(tab).texts(".tab-count") == ["16", "3"]
