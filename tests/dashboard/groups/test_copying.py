"""Buttons that copy, with and without a clipboard that a page may write to."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.dashboard.conftest import Write
from tests.dashboard.documents import overview, waiting_for_locks
from tests.support.drawing import Drawing

from .conftest import Read

NAME = "order-settlement"
REFUSED = "void (navigator.clipboard.writeText = () => Promise.reject(new Error('no')))"
NONE = "void Object.defineProperty(navigator, 'clipboard', { value: undefined })"


@pytest.mark.parametrize("clipboard", ["", REFUSED, NONE])
def test_a_name_is_copied_and_said(read: Read, write: Write, clipboard: str) -> None:
    write(waiting_for_locks())
    page = read()
    page.run(lambda it: it.evaluate(clipboard))
    page.run(lambda it: it.click(".page-head .copy"))
    page.run(lambda it: it.wait_for_selector(".page-head .copied"))
    assert page.text("[data-notes]") == f"Copied: {NAME}"
    assert page.attributes("[data-notes]", "role") == ["status"]
    page.run(lambda it: it.context.grant_permissions(["clipboard-read"]))
    assert page.run(lambda it: it.evaluate("navigator.clipboard?.readText()")) in {
        NAME,
        None,
    }


def test_a_text_that_cannot_be_copied_is_shown(read: Read, write: Write) -> None:
    write(waiting_for_locks())
    page = read()
    page.run(lambda it: it.evaluate(REFUSED))
    page.run(lambda it: it.evaluate("void (document.execCommand = () => false)"))
    page.run(lambda it: it.click(".page-head .copy"))
    page.run(lambda it: it.wait_for_selector(".note"))
    assert page.text("[data-notes]").endswith(NAME)
    assert page.attributes(".page-head .copied", "class") == []


def test_a_row_of_a_list_shows_its_button_to_pointers_and_keyboards(
    viewer: Client, browser: Drawing, write: Write
) -> None:
    write(overview())
    page = browser.draw(viewer, "/clusters/hangzhou/groups/")
    button = f'[data-copy="{NAME}"]'
    seen = f"getComputedStyle(document.querySelector('{button}')).opacity"

    def shown() -> str:
        return str(page.run(lambda it: it.evaluate(seen)))

    assert shown() == "0"
    page.run(lambda it: it.hover(f"td:has(> {button})"))
    assert shown() == "1"
    page.run(lambda it: it.mouse.move(0, 0))
    assert shown() == "0"
    page.run(lambda it: it.focus("#filter"))
    page.run(lambda it: it.focus(f"td:has(> {button}) a"))
    page.run(lambda it: it.keyboard.press("Tab"))
    assert shown() == "1"
    page.run(lambda it: it.keyboard.press("Enter"))
    page.run(lambda it: it.wait_for_selector("td > .copied"))
    assert page.text("[data-notes]") == f"Copied: {NAME}"
