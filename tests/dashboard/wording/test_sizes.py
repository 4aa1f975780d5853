from __future__ import annotations

import pytest

from dashboard.wording.sizes import percent, size


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "0 B"),
        (512, "512 B"),
        (1023, "1,023 B"),
        (1024, "1.0 KiB"),
        (1.5 * 1024**2, "1.5 MiB"),
        (1024**2 - 1, "1.0 MiB"),
        (250 * 1024**3, "250 GiB"),
        (5000 * 1024**5, "5,000 PiB"),
    ],
)
def test_bytes_are_written_in_the_largest_unit(value: float, written: str) -> None:
    assert size(value) == written


@pytest.mark.parametrize(
    ("ratio", "written"), [(0, "0 %"), (0.004, "0.4 %"), (0.42, "42 %"), (1, "100 %")]
)
def test_a_small_part_is_not_nothing(ratio: float, written: str) -> None:
    assert percent(ratio) == written
