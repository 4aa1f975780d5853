"""Apache's admin tool on our cluster prints what it prints on Apache's.

One script runs on both; docs/mqadmin.md lists its commands and the differences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.support.apache import ApacheCluster
from tests.support.java_driver import AdminTool, JavaDriver
from tests.support.our_clients import OurCluster

from .conftest import Apaches
from .mqadmin_script import AFTER, BEFORE, DURING, Names, Step
from .versions import VERSIONS

pytestmark = pytest.mark.interop

SCRIPT: Final = (*BEFORE, *DURING, *AFTER)
MESSAGES: Final = 12
PAGE: Final = Path(__file__).parents[2] / "docs" / "mqadmin.md"

Outputs = list[object]


@dataclass
class Side:
    """One cluster with the tool and Java clients on it."""

    nameserver: str
    names: Names
    tool: AdminTool
    clients: JavaDriver

    def run(self) -> Outputs:
        """Run the script; return what the rules make of it, step by step."""
        topic, group = self.names.topic, self.names.group
        outputs = self._steps(BEFORE)
        self.clients.produce(topic, MESSAGES, tag="red", key="k", orderly="true")
        self.clients.start_consumer(group, group=group, topic=topic)
        self.clients.wait_until(lambda: len(self.clients.messages(group)) >= MESSAGES)
        outputs += self._steps(DURING)
        self.clients.stop_consumer(group)
        return outputs + self._steps(AFTER)

    def _steps(self, steps: tuple[Step, ...]) -> Outputs:
        return [self._step(step) for step in steps]

    def _step(self, step: Step) -> object:
        text = self.tool.run(*step.words(self.names), "-n", self.nameserver)
        if step.remember is not None:
            self.names.found.update(step.remember(text))
        return step.judged(text, self.names)


@pytest.fixture(scope="module", params=VERSIONS)
def outputs(
    request: pytest.FixtureRequest,
    apaches: Apaches,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Outputs, Outputs]]:
    """What the script gave on Apache's cluster, and on ours."""
    version: str = request.param
    apache = apaches.cluster(version)
    folder = tmp_path_factory.mktemp("mqadmin")
    with (
        OurCluster(folder / "embedded", brokers=2) as embedded,
        AdminTool(folder / "tool-a", version=version) as first,
        AdminTool(folder / "tool-b", version=version) as second,
        JavaDriver(apache.nameserver, folder / "clients-a", version=version) as theirs,
        JavaDriver(embedded.nameserver, folder / "clients-b", version=version) as ours,
        ThreadPoolExecutor(2) as threads,
    ):
        older = version.startswith("4.")
        sides = (
            _side(apache.name, apache, first, theirs, older=older),
            _side("LocalCluster", embedded, second, ours, older=older),
        )
        runs = [threads.submit(side.run) for side in sides]
        yield runs[0].result(), runs[1].result()


def _side(
    name: str,
    cluster: ApacheCluster | OurCluster,
    tool: AdminTool,
    clients: JavaDriver,
    *,
    older: bool,
) -> Side:
    # The driver names its producer group by the cluster it is on.
    producer = "driver-producer-" + re.sub(r"[.:]", "-", cluster.nameserver)
    broker = cluster.brokers["broker-a"]
    names = Names(name, broker, "mqadmin-topic", "mqadmin-group", producer, older)
    return Side(cluster.nameserver, names, tool, clients)


@pytest.mark.parametrize(
    "number", range(len(SCRIPT)), ids=[step.command for step in SCRIPT]
)
def test_the_tool_says_the_same(outputs: tuple[Outputs, Outputs], number: int) -> None:
    theirs, ours = outputs
    assert ours[number] == theirs[number]
    assert theirs[number]


def test_the_page_lists_the_commands() -> None:
    listed = re.findall(r"^\| `(\w+)`(?: \*)? \|", PAGE.read_text(), re.MULTILINE)
    assert listed == sorted({step.name for step in SCRIPT})
    assert len(listed) >= 30
