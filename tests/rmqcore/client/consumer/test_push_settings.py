"""Settings of push consumers: RocketMQ's defaults, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from rmqcore.client import PullSettings, PushSettings, QueueLimits
from rmqcore.errors import ArgumentError


def test_the_defaults_are_those_of_java_clients() -> None:
    properties = PushSettings().properties(orderly=False)
    assert properties["consumeThreadMin"] == "20"
    assert properties["consumeMessageBatchMaxSize"] == "1"
    assert properties["consumeTimeout"] == "15"
    assert properties["maxReconsumeTimes"] == "-1"
    assert properties["pullBatchSize"] == "32"
    assert properties["pullThresholdForQueue"] == "1000"
    assert properties["pullThresholdSizeForQueue"] == "100"
    assert properties["consumeConcurrentlyMaxSpan"] == "2000"


@pytest.mark.parametrize(
    ("given", "orderly", "attempts"),
    [(-1, False, 16), (-1, True, 2**31 - 1), (3, False, 3), (0, True, 0)],
)
def test_attempts_depend_on_order(given: int, orderly: bool, attempts: int) -> None:
    assert PushSettings(max_reconsume_times=given).attempts(orderly) == attempts


def test_the_span_does_not_count_in_order() -> None:
    settings = PushSettings(pull=PullSettings(limits=QueueLimits(5, 6, 7)))
    assert settings.limits(orderly=False) == QueueLimits(5, 6, 7)
    assert settings.limits(orderly=True) == QueueLimits(5, 6, None)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"threads": 0}, "threads is 0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"batch_size": 1025}, "batch_size is 1025, allowed 1 to 1024"),
        ({"pull": PullSettings(batch_size=0)}, "pull batch_size is 0"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        PushSettings(**options)
