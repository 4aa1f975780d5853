"""How soon the page of a large group is there, and how smoothly it moves.

    python -m benchmarks.group_page [--queues 1000] [--members 200] [--seconds 15]

Chromium opens the page from a web process of its own. "Drawn" is from the beginning of
the navigation until the map of queues and members and the socket are there, in a
browser that has the scripts already. Then a tenth of the queues changes each second,
and the page notes when it may draw: at 60 frames a second, every 16.7 ms. Without a
graphics card, drawing takes the processor's time, too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import threading
from pathlib import Path
from statistics import median
from typing import Final

import orjson
import redis
from playwright.sync_api import Page

from benchmarks.goals import Goal
from benchmarks.whatif_page import CLUSTER, GROUP, renderer_seconds, served, signed_in
from dashboard.live.names import group_key
from tests.dashboard.documents import large_group, now_ms
from tests.support.browser import chromium, find_chromium

CHANGED_SHARE: Final = 0.1
FRAME_MS: Final = 1000 / 60
DRAWN_BY: Final = Goal("group page, 1,000 queues × 200 members, drawn", 1000, "ms")
FRAMES: Final = Goal("frames a second while it moves", 59, "", at_least=True)
LONGEST: Final = Goal("the longest frame while it moves, 95 %", 2 * FRAME_MS, "ms")
DRAWN: Final = """
() => document.querySelector("[data-map-stage] svg.map")
  && document.querySelector("[data-queues] tr[data-key]")
  && document.querySelector("[data-pill]")?.dataset.state === "live"
"""
NOTE_FRAMES: Final = """
() => {
  cancelAnimationFrame(window.noting);
  window.framesMs = [];
  let last = performance.now();
  const note = (now) => {
    window.framesMs.push(now - last);
    last = now;
    window.noting = requestAnimationFrame(note);
  };
  window.noting = requestAnimationFrame(note);
}
"""


def opened(page: Page, url: str) -> float:
    """Open the page; return the milliseconds until it is drawn and live."""
    page.goto(url, wait_until="commit")
    page.wait_for_function(DRAWN, polling="raf", timeout=120_000)
    return float(page.evaluate("() => performance.now()"))


def frames_while(page: Page, seconds: float) -> list[float]:
    """Return how long each frame took, over a time, in milliseconds."""
    page.evaluate(NOTE_FRAMES)
    page.wait_for_timeout(seconds * 1000)
    found: list[float] = page.evaluate("() => window.framesMs")
    return found[1:]


def main() -> None:
    """Print the figures, each beside its goal."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--queues", type=int, default=1000)
    parser.add_argument("--members", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=15)
    given = parser.parse_args()
    if find_chromium() is None:
        raise SystemExit("Chromium is not installed")
    with tempfile.TemporaryDirectory() as name, served(Path(name)) as where:
        address, link, valkey, _web = where
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "dashboard.config.settings",
            "ROCKETSCOPE_VAR_DIR": str(Path(name) / "var"),
            "ROCKETSCOPE_REDIS_URL": valkey.url,
        }
        import django

        django.setup()
        from benchmarks.changing import change

        document = large_group(
            *(given.queues, given.members, now_ms()), cluster=CLUSTER, group=GROUP
        )
        with redis.Redis(port=valkey.port) as client:
            client.set(group_key(CLUSTER, GROUP), orjson.dumps(document))
        with chromium() as browser:
            page = signed_in(browser, link)
            url = f"{address}/clusters/{CLUSTER}/groups/{GROUP}/"
            cold = opened(page, url)
            drawn = [opened(page, url) for _ in range(given.repeat)]
            session = browser.new_browser_cdp_session()
            changed = round(given.queues * CHANGED_SHARE)
            still = frames_while(page, 2)
            work = change([document], changed, given.seconds + 1, valkey.url)
            publisher = threading.Thread(target=asyncio.run, args=(work,))
            publisher.start()
            used = renderer_seconds(session)
            frames = frames_while(page, given.seconds)
            used = renderer_seconds(session) - used
            publisher.join()
    frames.sort()
    late = frames[int(len(frames) * 0.95)]
    print(f"{given.queues:,} queues x {given.members:,} members, {given.repeat} runs")
    print(f"  drawn {median(drawn):.0f} ms; scripts not loaded before {cold:.0f} ms")
    print(
        f"  {len(frames) / given.seconds:.1f} frames a second ({len(still) / 2:.1f} at "
        f"rest); 95 % within {late:.1f} ms, the longest {frames[-1]:.0f} ms; "
        f"the page takes {used / given.seconds:.2f} of a core"
    )
    print(DRAWN_BY.line(median(drawn)))
    print(FRAMES.line(len(frames) / given.seconds))
    print(LONGEST.line(late))


if __name__ == "__main__":
    main()
