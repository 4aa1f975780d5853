"""What a browser with an empty cache has loaded when a page is there.

The bodies of the page and of all that it names, as they came over the wire: scripts,
modules that they import, style sheets, symbols, fonts. Not counted is what scripts
fetch or import later, once the page is there, and the heads of the answers.
"""

from __future__ import annotations

from typing import Final

MOST_BYTES: Final = 100_000

LOADED: Final = """
() => {
  const [page] = performance.getEntriesByType("navigation");
  const named = performance.getEntriesByType("resource").filter(
    (each) => each.initiatorType !== "fetch" && each.startTime < page.loadEventStart,
  );
  return [page, ...named].map((each) => [
    new URL(each.name).pathname, each.encodedBodySize, each.transferSize,
  ]);
}
"""
"""A script: the path, the bytes of the body and those of the whole answer, for each."""
