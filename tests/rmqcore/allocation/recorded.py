"""The recorded allocations of Apache's classes, as our arguments."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from rmqcore.model import MessageQueue

GOLDEN = Path(__file__).parents[2] / "golden"


def recorded_cases() -> list[dict[str, Any]]:
    with gzip.open(GOLDEN / "allocations.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def recorded_orders() -> list[dict[str, Any]]:
    text = (GOLDEN / "sort-order.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def read_queues(listed: list[dict[str, Any]] | None) -> list[MessageQueue] | None:
    if listed is None:
        return None
    return [MessageQueue(q["topic"], q["brokerName"], q["queueId"]) for q in listed]


def before_first_dash(text: str) -> str | None:
    room, dash, _ = text.partition("-")
    return room if dash else None


def read_options(case: dict[str, Any]) -> dict[str, Any]:
    args = dict(case["args"])
    options: dict[str, Any] = {}
    if "virtualNodeCnt" in args:
        options["virtual_nodes"] = args.pop("virtualNodeCnt")
    if "consumeridcs" in args:
        options["rooms"] = args.pop("consumeridcs")
    if "messageQueueList" in args:
        options["config"] = read_queues(args.pop("messageQueueList"))
    if "resolver" in args:
        assert args.pop("resolver") == "before-first-dash"
        options["inner"] = args.pop("inner")
        options["queue_room"] = lambda queue: before_first_dash(queue.broker_name)
        options["client_room"] = before_first_dash
    assert not args, f"argument not read: {args}"
    return options
