from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import pytest

from dashboard.fleet.listeners import (
    listener_names,
    load_listeners,
    make_listener,
    register,
)
from rmqcore.client import ConsumeContext, ConsumeResult
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageExt, MessageQueue


def message(offset: int) -> MessageExt:
    return MessageExt(
        topic="orders",
        broker_name="a",
        queue_id=3,
        queue_offset=offset,
        commit_log_offset=0,
        body=b"12345",
        properties={"KEYS": "k1 k2"},
        flag=0,
        sys_flag=0,
        born_timestamp=0,
        born_host="h:1",
        store_timestamp=0,
        store_host="h:2",
        reconsume_times=0,
        prepared_transaction_offset=0,
        body_crc=0,
        store_size=0,
        offset_msg_id="x",
    )


async def call(name: str, options: dict[str, Any], count: int = 1) -> object:
    listener = make_listener(name, options)
    messages = [message(offset) for offset in range(count)]
    context = ConsumeContext(MessageQueue("orders", "a", 3))
    return await listener(messages, context)  # type: ignore[misc]


def test_the_built_in_ones_are_known() -> None:
    assert {"count", "fail", "log", "work"} <= set(listener_names())


async def test_count_consumes() -> None:
    assert await call("count", {}) is ConsumeResult.SUCCESS


async def test_log_tells_each_message(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert await call("log", {}, count=2) is ConsumeResult.SUCCESS
    lines = [r.getMessage() for r in caplog.records if "queue=3" in r.getMessage()]
    assert lines == [
        f"topic=orders broker=a queue=3 offset={offset} keys=k1 k2 bytes=5"
        for offset in range(2)
    ]


async def test_work_takes_its_time_per_message() -> None:
    began = time.monotonic()
    assert await call("work", {"ms": 10}, count=3) is ConsumeResult.SUCCESS
    assert time.monotonic() - began >= 0.03


@pytest.mark.parametrize(
    ("rate", "result"), [(0, ConsumeResult.SUCCESS), (1, ConsumeResult.RECONSUME_LATER)]
)
async def test_fail_fails_at_its_rate(rate: float, result: ConsumeResult) -> None:
    assert await call("fail", {"rate": rate}) is result


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("sing", {}, "unknown listener 'sing'; the known ones are"),
        ("work", {"ms": -1}, "work: ms is -1, allowed 0 to 600000"),
        ("work", {"ms": "5"}, "work: ms is '5'"),
        ("work", {"ms": True}, "work: ms is True"),
        ("fail", {"rate": 1.5}, "fail: rate is 1.5, allowed 0 to 1"),
        ("work", {"seconds": 1}, "work takes no option 'seconds'; it takes ms"),
        ("count", {"ms": 1}, "count takes no option 'ms'; it takes none"),
    ],
)
def test_bad_names_and_options_are_told(
    name: str, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        make_listener(name, options)
    assert said in str(caught.value)


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ArgumentError, match="'count' is registered already"):
        register("count")(lambda _options: None)  # type: ignore[arg-type, return-value]


OWN = """
from dashboard.fleet.listeners import make_listener, register

@register("bill-{name}")
def make(options):
    return make_listener("count", options)
"""


def test_listeners_of_ones_own_are_loaded_by_a_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    (tmp_path / "own_listeners_a.py").write_text(OWN.format(name="a"))
    monkeypatch.syspath_prepend(str(tmp_path))
    settings.ROCKETSCOPE_LISTENERS = ["own_listeners_a"]
    assert callable(make_listener("bill-a", {}))
    assert "bill-a" in listener_names()
    load_listeners(["own_listeners_a"])


def test_a_module_that_cannot_be_loaded_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_listeners_b.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ArgumentError, match=r"'own_listeners_b'.*ZeroDivisionError"):
        load_listeners(["own_listeners_b"])
    with pytest.raises(ArgumentError, match=r"ROCKETSCOPE_LISTENERS.*'nowhere_at_all'"):
        load_listeners(["nowhere_at_all"])
