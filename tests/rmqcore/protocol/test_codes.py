from enum import IntEnum

import pytest

from rmqcore.protocol.codes import (
    VERSION_ORDINAL,
    LanguageCode,
    RequestCode,
    ResponseCode,
)

from .captured import VECTORS, all_frames

OLDER_CODES = {"GET_BROKER_CLUSTER_ACL_CONFIG": 54}
"""Known to brokers of 4.x and of 5.x before 5.3."""

GENERAL_CODES = {
    "SUCCESS": 0,
    "SYSTEM_ERROR": 1,
    "SYSTEM_BUSY": 2,
    "REQUEST_CODE_NOT_SUPPORTED": 3,
    "TRANSACTION_FAILED": 4,
}


def listed(name: str) -> dict[str, int]:
    lines = (VECTORS / f"{name}.txt").read_text().splitlines()
    return {label: int(code) for code, label in map(str.split, lines)}


@pytest.mark.parametrize(
    ("enum", "expected"),
    [
        (RequestCode, listed("RequestCode") | OLDER_CODES),
        (ResponseCode, listed("ResponseCode") | GENERAL_CODES),
    ],
)
def test_codes_are_those_of_apache(
    enum: type[IntEnum], expected: dict[str, int]
) -> None:
    assert {code.name: code.value for code in enum} == expected


def test_languages_number_from_zero_without_gaps() -> None:
    assert [code.value for code in LanguageCode] == list(range(14))


def test_we_announce_the_version_of_the_captured_peers() -> None:
    versions = {frame.header["version"] for frame in all_frames()}
    assert VERSION_ORDINAL in versions
