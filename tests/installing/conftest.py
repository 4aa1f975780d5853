"""One wheel for all tests of the package, and one environment it is installed in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.wheel import Installation, build, install


@pytest.fixture(scope="package")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="package")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return install(wheel, tmp_path_factory.mktemp("installed"))
