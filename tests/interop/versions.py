"""The versions of Apache RocketMQ that tests of interoperation run on."""

from __future__ import annotations

from typing import Final

import pytest

from tests.support.jars import OLDEST_VERSION, rocketmq_version

VERSIONS: Final = tuple(dict.fromkeys((rocketmq_version(), OLDEST_VERSION)))

OLDER_TOO: Final = pytest.mark.parametrize("version", VERSIONS, indirect=True)
"""Lets a test run on the oldest version, too."""
