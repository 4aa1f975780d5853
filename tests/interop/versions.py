"""The versions of Apache RocketMQ that tests of interoperation run on."""

from __future__ import annotations

from typing import Final

import pytest

from tests.support.jars import rocketmq_version

OLDEST: Final = "4.9.7"
"""Of 4.9.8 the name server and the broker were never published as jars."""

VERSIONS: Final = tuple(dict.fromkeys((rocketmq_version(), OLDEST)))

OLDER_TOO: Final = pytest.mark.parametrize("version", VERSIONS, indirect=True)
"""Lets a test run on the oldest version, too."""
