"""docs/protocol.md lists what the tables hold, and names only what exists."""

import re
from pathlib import Path

from rmqcore.protocol import bodies
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.headers import (
    REQUEST_HEADERS,
    RESPONSE_HEADERS,
    UNSPOKEN_CODES,
    Header,
)

PAGE = (Path(__file__).parents[3] / "docs" / "protocol.md").read_text()
ROWS = re.findall(
    r"^\| (\d+) \| (\w+) \| (\S+) \| (.+) \| (\S+) \| (.+) \|$", PAGE, re.MULTILINE
)


def label(cls: type[Header] | None, ending: str) -> str:
    return cls.__name__.removesuffix(ending) if cls else "–"


def test_every_spoken_code_has_its_row() -> None:
    spoken = [code for code in RequestCode if code not in UNSPOKEN_CODES]
    assert [(int(row[0]), row[1]) for row in ROWS] == [
        (c.value, c.name) for c in spoken
    ]


def test_the_rows_name_the_headers_of_the_tables() -> None:
    for code, _, request, _, response, _ in ROWS:
        assert request == label(REQUEST_HEADERS.get(int(code)), "RequestHeader")
        assert response == label(RESPONSE_HEADERS.get(int(code)), "ResponseHeader")


def test_bodies_named_in_the_rows_exist_and_all_are_named() -> None:
    named = {name for row in ROWS for name in re.findall(r"`(\w+)`", row[3] + row[5])}
    existing = {
        name.removeprefix("decode_")
        for name in bodies.__all__
        if name.startswith("decode_")
    }
    assert named - {"encode_batch"} == existing
