from __future__ import annotations

import re

import pytest

from dashboard.live.names import (
    allocation_channel,
    allocation_key,
    collectors_key,
    fence_key,
    gone_key,
    group_key,
    lease_key,
    live_group_name,
    live_overview_name,
    overview_key,
    watch_key,
)

LAYER_NAME = re.compile(r"[A-Za-z0-9._-]{1,99}")


@pytest.mark.parametrize("group", ["g", "%RETRY%g", "组" * 85, "g\ud800", "x" * 255])
def test_layer_names_suit_the_channel_layer(group: str) -> None:
    assert LAYER_NAME.fullmatch(live_group_name("east", group))


def test_layer_names_tell_groups_and_clusters_apart() -> None:
    names = {
        live_group_name("a", "bc"),
        live_group_name("ab", "c"),
        live_group_name("a", "b"),
        live_overview_name("a"),
        live_overview_name("ab"),
    }
    assert len(names) == 5


def test_cache_keys_are_prefixed_and_distinct() -> None:
    makers = (
        overview_key,
        watch_key,
        lease_key,
        fence_key,
        gone_key,
        allocation_key,
        allocation_channel,
    )
    keys = {make("east") for make in makers} | {group_key("east", "g")}
    keys.add(collectors_key())
    assert len(keys) == len(makers) + 2
    assert all(key.startswith("rs:") for key in keys)
