"""axe-core in a real browser: which rules of accessibility a page breaks.

axe-core comes from the lock of `tests/js`, like the tools that check the scripts.
"""

from __future__ import annotations

import shutil
from typing import Any, Final

from playwright.async_api import Page

from tests.scripts import MODULES, install

STANDARDS: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")

OF_COLOUR: Final = ("color-contrast", "link-in-text-block")
"""The rules that another theme can break."""

_RUN: Final = """async ([type, values]) => {
  const { violations } = await axe.run(document, {
    runOnly: { type, values },
    resultTypes: ["violations"],
  });
  return violations.flatMap(({ id, nodes }) => nodes.map(node =>
    `${id}: ${node.target.join(" ")} ${node.html.slice(0, 160)} | `
    + node.any.concat(node.all, node.none).map(each => each.message).join("; ")));
}"""


def missing_tool() -> str | None:
    """Say which program is missing to install axe-core, None if none is."""
    return next(
        (f"{n} is missing" for n in ("node", "npm") if not shutil.which(n)), None
    )


def axe_script() -> str:
    """Return axe-core's text; install it first if that has not been done."""
    failed = install()
    assert not failed, f"npm ended with code {failed}"
    return (MODULES / "axe-core" / "axe.min.js").read_text("utf-8")


async def violations(page: Page, rules: tuple[str, ...] = ()) -> list[str]:
    """Return a line for each element that breaks a rule, of all unless some are named.

    The page has loaded `axe_script`.
    """
    asked = ["rule", list(rules)] if rules else ["tag", list(STANDARDS)]
    found: list[Any] = await page.evaluate(_RUN, asked)
    return [str(line) for line in found]
