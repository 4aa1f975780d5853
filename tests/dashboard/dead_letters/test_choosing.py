"""Choosing dead letters by their boxes in a browser: one, all, and by keyboard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client

from tests.support.browser import find_chromium
from tests.support.drawing import Drawing, Drawn, drawing

from .conftest import HERE

pytestmark = [
    pytest.mark.usefixtures("east", "member"),
    pytest.mark.browser,
    pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed"),
]

EACH = "tbody .letter-choice input"
ALL = "Choose all that are shown"
STATE = """() => {
  const all = document.querySelector("[data-choose-all]");
  const { indeterminate, checked } = all;
  return indeterminate ? "some" : checked ? "all" : "none";
}"""
COMES = """const [row] = document.querySelectorAll("[data-rows] tbody tr");
const copy = row.cloneNode(true);
copy.querySelector("input").checked = false;
row.before(copy);"""
LEAVES = """document.querySelector("[data-rows] tbody tr").classList.add("gone")"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Drawing]:
    with drawing() as made:
        yield made


@pytest.fixture
def page(browser: Drawing, operator: Client) -> Drawn:
    return browser.draw(operator, HERE)


def shows(page: Drawn, state: str, chosen: int) -> None:
    """Wait until the box for all shows a state, and count the chosen rows."""
    wanted = f"({STATE})() === '{state}'"
    page.run(lambda it: it.wait_for_function(wanted))
    assert page.run(lambda it: it.locator(f"{EACH}:checked").count()) == chosen


def test_the_box_of_the_head_follows_the_rows_and_leads_them(page: Drawn) -> None:
    shows(page, "none", 0)
    page.run(lambda it: it.locator(EACH).first.check())
    shows(page, "some", 1)
    page.run(lambda it: it.get_by_role("checkbox", name=ALL).click())
    shows(page, "all", 3)
    page.run(lambda it: it.locator(EACH).last.uncheck())
    shows(page, "some", 2)
    page.run(lambda it: it.locator(EACH).last.check())
    shows(page, "all", 3)
    page.run(lambda it: it.get_by_role("checkbox", name=ALL).click())
    shows(page, "none", 0)


def test_it_is_worked_by_keyboard_and_what_is_chosen_is_asked_for(page: Drawn) -> None:
    page.run(lambda it: it.get_by_role("checkbox", name=ALL).focus())
    page.run(lambda it: it.keyboard.press("Space"))
    shows(page, "all", 3)
    chosen = "[...new FormData(document.forms.choice)].map(([name]) => name)"
    asked = page.run(lambda it: it.evaluate(chosen))
    assert asked.count("letter") == 3


def test_rows_that_come_and_leave_are_counted(page: Drawn) -> None:
    page.run(lambda it: it.get_by_role("checkbox", name=ALL).check())
    page.run(lambda it: it.evaluate(f"() => {{ {COMES} }}"))
    shows(page, "some", 3)
    page.run(lambda it: it.evaluate(f"() => {{ {LEAVES} }}"))
    shows(page, "all", 3)


def test_on_a_phone_the_box_is_seen_with_its_words(page: Drawn) -> None:
    page.run(lambda it: it.set_viewport_size({"width": 390, "height": 844}))
    box = page.run(lambda it: it.get_by_role("checkbox", name=ALL).bounding_box())
    assert box is not None
    assert box["x"] >= 0
    assert page.text("thead .letter-choice") == ALL
    wide = "document.documentElement.scrollWidth"
    assert page.run(lambda it: it.evaluate(wide)) <= 390
    page.run(lambda it: it.get_by_text(ALL).click())
    shows(page, "all", 3)


def test_a_viewer_chooses_nothing(browser: Drawing, viewer: Client) -> None:
    page = browser.draw(viewer, HERE)
    assert page.attributes("[data-choose-all]", "type") == []
