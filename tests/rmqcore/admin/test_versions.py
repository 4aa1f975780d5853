from __future__ import annotations

import pytest

from rmqcore.admin.versions import version_name


@pytest.mark.parametrize(
    ("ordinal", "name"),
    [
        (37, "V3 (37)"),
        (212, "V4_0_0_SNAPSHOT"),
        (213, "V4_0_0"),
        (393, "V4_9_0"),
        (401, "V4_9_4"),
        (407, "V4_9_7"),
        (409, "V4_9_8"),
        (413, "V5_0_0"),
        (433, "V5_1_0"),
        (473, "V5_3_0"),
        (479, "V5_3_3"),
        (478, "V5_3_3_SNAPSHOT"),
        (513, "V5_5_0"),
        (611, "V5_9_9"),
        (612, "HIGHER_VERSION"),
        (9999, "HIGHER_VERSION"),
    ],
)
def test_version_names(ordinal: int, name: str) -> None:
    assert version_name(ordinal) == name
