"""What a person does on pages that change something: fill in, look, give a reason."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect

REASON = "checked by a test"
ATTEMPTS = 5


def change(
    page: Page,
    address: str,
    given: Mapping[str, str] | None = None,
    *,
    confirm: str = "",
    secret: str = "",
) -> None:
    """Fill in a form by the names of its fields, look at the preview, and apply it."""
    page.goto(address)
    if given:
        _fill(page, given)
        page.get_by_role("button", name="Preview", exact=True).click()
    apply(page, confirm=confirm, secret=secret)


def apply(page: Page, *, confirm: str = "", secret: str = "") -> None:
    """Give a reason and what else is asked for, apply a preview; all must be done."""
    form = offered(page, ".apply-form")
    form.locator("[name=reason]").fill(REASON)
    if confirm:
        form.locator("[name=confirm]").fill(confirm)
    if secret:
        form.locator("[name=secret]").fill(secret)
    form.get_by_role("button").click()
    expect(page.get_by_role("heading", name="Effect, read back")).to_be_visible()
    expect(page.locator(".plan .crit, .plan .warn")).to_have_count(0)


def offered(page: Page, form: str) -> Locator:
    """Return the form below a preview; on a busy machine the page is asked again.

    Pages ask a cluster for eight seconds, and then say that it did not answer.
    """
    for _ in range(ATTEMPTS):
        if page.locator(form).count():
            break
        page.reload()
    return page.locator(form)


def undo(page: Page) -> None:
    """Undo the change whose effect the page shows."""
    page.get_by_role("link", name="Preview undoing it").click()
    apply(page)


def move(page: Page, cluster: str, group: str, query: str) -> None:
    """Preview a move of a group's offsets and make it."""
    page.goto(f"/clusters/{cluster}/groups/{quote(group)}/offsets/?{query}")
    apply_move(page, group)


def apply_move(page: Page, group: str) -> None:
    """Make the move that the page previews; every queue must stand as asked."""
    form = offered(page, ".offsets-do")
    form.locator("[name=reason]").fill(REASON)
    form.locator("[name=confirm]").fill(group)
    form.locator("button").click()
    expect(page.get_by_role("heading", name="What stands now")).to_be_visible()
    expect(page.locator("[data-outcome] .icon-crit")).to_have_count(0)


def _fill(page: Page, given: Mapping[str, str]) -> None:
    form = page.locator(".wish-form")
    for name, value in given.items():
        field = form.locator(f'[name="{name}"]')
        kinds = set(field.evaluate_all("(all) => all.map((each) => each.type)"))
        if kinds == {"checkbox"}:
            for each in value.split(","):
                form.locator(f'[name="{name}"][value="{each}"]').check()
        elif kinds == {"select-one"}:
            field.select_option(value)
        else:
            field.fill(value)
