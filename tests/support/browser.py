"""A real Chromium, as the machine has it; tests skip, with the reason, without one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Browser, sync_playwright

# A busy machine is no fault of the page.
PATIENCE_MS: Final = 60_000
# The first has the same engine without the windows around it, which no test looks at,
# and takes less than half of the processor time.
_NAMES: Final = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
)
# No sandbox: tests may run as root. What draws needs no process of its own, which would
# cost a fifteenth of the processor time. The rest keeps it from calling its maker.
ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str | None:
    """Return Chromium's path, None where the machine has none."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a headless Chromium with a profile of its own."""
    path = find_chromium()
    assert path is not None, "tests that ask for it are skipped without Chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=list(ARGUMENTS), timeout=PATIENCE_MS
        )
        try:
            yield browser
        finally:
            browser.close()
