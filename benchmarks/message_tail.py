"""What the page of a live tail gets and does while many messages come."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

from playwright.sync_api import Page

from rmqcore.loop_thread import LoopThread

from .usage import resident_bytes
from .whatif_page import renderer_seconds

MB: Final = 1_000_000
MOST_BYTES: Final = MB
MOST_ASKED: Final = 1.1
"""Questions a second."""

FEWEST_FRAMES: Final = 30.0
MOST_USED: Final = 0.25
"""Of one processor, by the page."""

MOST_GROWN: Final = 16 * MB
PATIENCE_S: Final = 120.0
EVERY_S: Final = 0.2

_WATCH: Final = """() => {
  window.watched = { frames: 0, longest: 0, busy: 0, rows: 0 };
  window.watched.began = performance.now();
  const rows = document.querySelector("[data-tail-rows]");
  const frame = () => {
    window.watched.frames += 1;
    window.watched.rows = Math.max(window.watched.rows, rows.children.length);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) {
      window.watched.busy += task.duration;
      window.watched.longest = Math.max(window.watched.longest, task.duration);
    }
  }).observe({ type: "longtask" });
}"""
_WATCHED: Final = """() => ({
  ...window.watched,
  seconds: (performance.now() - window.watched.began) / 1000,
  sizes: performance.getEntriesByType("resource")
    .filter((each) => each.name.includes("/tail/step/"))
    .map((each) => each.decodedBodySize),
  most: Number(document.querySelector("[data-tail]").dataset.most),
})"""
_COUNTED: Final = """() => {
  const text = document.querySelector("[data-tail-said]").textContent;
  const numbers = text.match(/\\d[\\d,]*/g) || [];
  const [shown, came, , skipped] = numbers.map((each) => +each.replaceAll(",", ""));
  return (came || 0) + (skipped || 0);
}"""


@dataclass(slots=True)
class Memory:
    """The memory of the web process, in bytes."""

    pid: int
    looks: list[int] = field(default_factory=list)

    def sample(self, ended: threading.Event) -> None:
        """Look at the memory five times a second."""
        while not ended.wait(EVERY_S):
            self.looks.append(resident_bytes(self.pid))

    @property
    def grown(self) -> int:
        """By how much the peak of the second half is above that of the first."""
        half = len(self.looks) // 2
        return max(self.looks[half:]) - max(self.looks[:half])


def follow(
    page: Page,
    url: str,
    web_pid: int,
    loop: LoopThread,
    send: Callable[[], Coroutine[Any, Any, int]],
) -> bool:
    """Open the tail, send, and print what it cost; tell whether all goals were met."""
    memory = Memory(web_pid)
    with page.expect_response(lambda each: "/tail/step/" in each.url):
        page.goto(url)
    ended = threading.Event()
    sampling = threading.Thread(target=memory.sample, args=(ended,), daemon=True)
    sampling.start()
    page.evaluate(_WATCH)
    browser = page.context.browser
    assert browser is not None, "a page of a context that was launched"
    session = browser.new_browser_cdp_session()
    used = renderer_seconds(session)
    sending = loop.submit(send())
    while not sending.done():
        page.wait_for_timeout(EVERY_S * 1000)
    sent = sending.result()
    found = page.evaluate(_WATCHED)
    found["used"] = renderer_seconds(session) - used
    ended.set()
    sampling.join()
    counted = _counted(page, sent)
    return _report(found, memory, sent, counted)


def _counted(page: Page, sent: int) -> int:
    """Return how many messages the page counts, once it has had time for all."""
    deadline = time.monotonic() + PATIENCE_S
    while (counted := int(page.evaluate(_COUNTED))) < sent:
        if time.monotonic() > deadline:
            break
        page.wait_for_timeout(EVERY_S * 1000)
    return counted


def _report(found: dict[str, Any], memory: Memory, sent: int, counted: int) -> bool:
    seconds = found["seconds"]
    asked, frames = len(found["sizes"]) / seconds, found["frames"] / seconds
    used = found["used"] / seconds
    most, biggest = int(found["most"]), max(found["sizes"])
    print(f"\n  tail of {sent / seconds:,.0f} messages/s for {seconds:.0f} s")
    lines = [
        ("counted", f"{counted:,} of {sent:,}", "all", counted == sent),
        ("rows", f"{int(found['rows'])}", f"≤ {most}", found["rows"] <= most),
        ("asked", f"{asked:.2f}/s", f"≤ {MOST_ASKED}/s", asked <= MOST_ASKED),
        (
            *("biggest answer", f"{biggest / 1000:,.0f} kB"),
            *(f"≤ {MOST_BYTES / 1000:,.0f} kB", biggest <= MOST_BYTES),
        ),
        (
            *("web process", f"{max(memory.looks) / MB:,.0f} MB"),
            *(f"grows ≤ {MOST_GROWN / MB:.0f} MB", memory.grown <= MOST_GROWN),
        ),
        (
            *("frames", f"{frames:.0f}/s"),
            *(f"≥ {FEWEST_FRAMES:.0f}/s", frames >= FEWEST_FRAMES),
        ),
        (
            *("page's processor", f"{used:.0%}"),
            *(f"≤ {MOST_USED:.0%}", used <= MOST_USED),
        ),
    ]
    for name, value, goal, is_met in lines:
        verdict = "met" if is_met else "MISSED"
        print(f"    {name:16}{value:>28}  goal {goal}: {verdict}")
    print(
        f"    tasks of 50 ms and more by the clock: {found['busy'] / 1000:.1f} s, the "
        f"longest {found['longest']:.0f} ms"
    )
    return all(is_met for *_rest, is_met in lines)
