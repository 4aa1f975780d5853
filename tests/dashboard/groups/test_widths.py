"""The table of queues under the map fits, whatever numbers it has."""

from __future__ import annotations

import pytest

from tests.dashboard.conftest import Write
from tests.dashboard.documents import hosted_group, now_ms

from .conftest import Read

WIDER = """() => {
  const box = document.querySelector("[data-queues]").parentElement;
  return box.scrollWidth - box.clientWidth;
}"""


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_no_column_of_the_queues_is_cut(
    read: Read, write: Write, language: str
) -> None:
    at = now_ms()
    group = hosted_group(at)
    for queue in group["queues"]:
        queue.update(lag=1_128_440, lag_ms=4_300_000, moved_at=at - 653_000)
        queue.update(rate_in=12_345.0, rate_out=12_040.0)
    write(group)
    page = read(language=language)
    for width in (1280, 1425, 1920, 390):
        size = {"width": width, "height": 900}
        page.run(lambda it, size=size: it.set_viewport_size(size))
        assert page.run(lambda it: it.evaluate(WIDER)) == 0, width
