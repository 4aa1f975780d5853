"""A running stack keeps nothing that docs/operations.md does not name."""

from __future__ import annotations

import pytest
import redis

from benchmarks.soak.growth import growths, sizes
from tests.support.launched import LaunchedStack

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(1800)]


def test_tables_files_and_keys_of_a_running_stack_have_their_rows(
    stack: LaunchedStack,
) -> None:
    stack.sign_in_link()
    with redis.Redis.from_url(stack.redis_url()) as server:
        found = sizes(stack.var_dir, server)
    rows = growths(found, found, 1.0, groups=10)
    assert {each.name: each.fault for each in rows if each.fault} == {}
    # That nothing was found would also be without a fault.
    assert {"dashboard_user", "logs/", "embedded/", "rs:beat"} <= found.keys()
    assert any(name.startswith("_kombu") for name in found)
