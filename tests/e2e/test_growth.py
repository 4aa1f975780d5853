"""A running stack keeps nothing that docs/operations.md does not name."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import redis

from benchmarks.soak.growth import Size, growths, sizes
from tests.support.launched import LaunchedStack
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(1800)]


def test_tables_files_and_keys_of_a_running_stack_have_their_rows(
    stack: LaunchedStack,
) -> None:
    stack.sign_in_link()
    with redis.Redis.from_url(stack.redis_url()) as server:
        # That nothing was found would also be without a fault.
        wait_until(lambda: is_running(sizes(stack.var_dir, server)))
        found = sizes(stack.var_dir, server)
    rows = growths(found, found, 1.0, groups=10)
    assert {each.name: each.fault for each in rows if each.fault} == {}


def is_running(found: Mapping[str, Size]) -> bool:
    """Tell whether all processes have kept something; some start after the page."""
    names = {"dashboard_user", "logs/", "embedded/", "rs:beat"}
    return names <= found.keys() and any(each.startswith("_kombu") for each in found)
