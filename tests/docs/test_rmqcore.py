"""The examples of docs/rmqcore.md run as they stand, against an embedded cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rmqcore.__main__ import COMMANDS
from tests.support.our_clients import OurCluster, produce

PAGE = Path(__file__).resolve().parents[2] / "docs" / "rmqcore.md"
TEXT = PAGE.read_text("utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
ADDRESS = "127.0.0.1:9876"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurCluster]:
    directory = tmp_path_factory.mktemp("examples")
    with OurCluster(directory) as running:
        tagged = {"topic": "orders", "count": 8, "tag": "new"}
        produce(directory, running.nameserver, **tagged)
        yield running


def heading_of(example: str) -> str:
    before = TEXT[: TEXT.index(example)]
    return re.findall(r"^##+ (.*)$", before, re.MULTILINE)[-1]


@pytest.mark.embedded
@pytest.mark.parametrize("example", EXAMPLES, ids=heading_of)
def test_an_example_runs(cluster: OurCluster, example: str) -> None:
    code = compile(example.replace(ADDRESS, cluster.nameserver), str(PAGE), "exec")
    exec(code, {"__name__": "example"})


def test_the_commands_shown_exist() -> None:
    shown = set(re.findall(r"python -m rmqcore (\w+)", TEXT))
    assert shown
    assert shown <= set(COMMANDS)
