"""What is kept of brokers that report, are silent, or follow a master."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import orjson
import pytest

from dashboard.collector.broker_watch import BrokerWatch
from dashboard.collector.lead import LeadLostError
from dashboard.gateway.broker_runtime import Told
from rmqcore.model.snapshot import KnownBroker
from rmqcore.protocol.bodies import HaStatus

KNOWN = KnownBroker("broker-a", "hz", {0: "10.0.0.1:10911", 1: "10.0.0.2:10911"}, {})


def report(end: int, **more: str) -> dict[str, str]:
    return {"brokerVersionDesc": "V5_3_1", "commitLogMaxOffset": str(end), **more}


class Brokers:
    """Brokers that tell what a test lets them tell."""

    def __init__(self) -> None:
        self.now_ms = 1_000_000
        self.tells: dict[str, Told] = {}
        self.asked_for_settings: list[list[str]] = []
        self.known: list[KnownBroker] = [KNOWN]

    def tell(self, number: int, end: int, **changes: object) -> None:
        address = KNOWN.addresses[number]
        self.tells[address] = Told(address, report(end), 1.5, **changes)  # type: ignore[arg-type]

    def silent(self, number: int) -> None:
        address = KNOWN.addresses[number]
        self.tells[address] = Told(address, reason="no_answer", error="timed out")

    async def runtimes(
        self,
        addresses: Sequence[str],
        with_settings: Collection[str],
        masters: Collection[str],
    ) -> Sequence[Told]:
        self.asked_for_settings.append(sorted(with_settings))
        assert list(masters) == [KNOWN.addresses[0]]
        return [self.tells[each] for each in addresses if each in self.tells]

    def known_brokers(self) -> Sequence[KnownBroker]:
        return self.known


@pytest.fixture
def brokers() -> Brokers:
    return Brokers()


@pytest.fixture
def watch(brokers: Brokers) -> BrokerWatch:
    return BrokerWatch("east", brokers, lambda: brokers.now_ms)


async def test_a_slave_says_how_far_it_is_behind(
    brokers: Brokers, watch: BrokerWatch
) -> None:
    brokers.tell(0, 5_000)
    brokers.tell(1, 4_200)
    document = await watch.look([KNOWN])
    assert document is not None
    master, slave = document["brokers"]
    assert (master["broker_id"], master["behind_bytes"]) == (0, None)
    assert (slave["broker_id"], slave["behind_bytes"]) == (1, 800)


async def test_a_silent_broker_keeps_its_figures_with_their_time(
    brokers: Brokers, watch: BrokerWatch
) -> None:
    brokers.tell(0, 5_000, replicas=HaStatus(True, 5_000, 0))
    brokers.silent(1)
    await watch.look([KNOWN])
    brokers.now_ms += 10_000
    brokers.silent(0)
    document = await watch.look([KNOWN])
    assert document is not None
    master, slave = document["brokers"]
    assert master["error"] == "timed out"
    assert (master["asked_at"], master["answered_at"]) == (1_010_000, 1_000_000)
    assert master["figures"] is not None
    assert master["figures"]["log_max"] == 5_000
    assert master["full_in_ms"] is None
    assert master["replicas"] == {"in_sync": 0, "followers": []}
    assert (slave["figures"], slave["behind_bytes"]) == (None, None)
    assert slave["reason"] == "no_answer"


async def test_settings_are_asked_for_now_and_then(
    brokers: Brokers, watch: BrokerWatch
) -> None:
    kept = {"brokerRole": "ASYNC_MASTER"}
    brokers.tell(0, 5_000, settings=kept)
    brokers.tell(1, 5_000, settings_error="denied")
    await watch.look([KNOWN])
    brokers.tell(0, 5_000)
    brokers.now_ms += 10_000
    document = await watch.look([KNOWN])
    brokers.now_ms += 600_000
    await watch.look([KNOWN])
    first, second = sorted(KNOWN.addresses.values())
    # One that has not told them is asked again.
    assert brokers.asked_for_settings == [[first, second], [second], [first, second]]
    assert document is not None
    assert document["brokers"][0]["settings"] == kept
    assert document["brokers"][1]["settings_error"] == "denied"


async def test_a_look_is_stored_and_a_lost_lead_ends_it_quietly(
    brokers: Brokers, watch: BrokerWatch, caplog: pytest.LogCaptureFixture
) -> None:
    stored: dict[str, bytes] = {}

    async def store(documents: Mapping[str, bytes]) -> None:
        stored.update(documents)

    async def refuse(documents: Mapping[str, bytes]) -> None:
        raise LeadLostError("another collector leads")

    brokers.known = []
    assert not watch.begin(store)
    brokers.known = [KNOWN]
    brokers.tell(0, 5_000)
    assert watch.begin(store)
    await watch.at_rest()
    assert orjson.loads(stored["rs:brokers:east"])["taken_at"] == 1_000_000
    assert watch.begin(refuse)
    await watch.at_rest()
    assert "not stored: another collector leads" in caplog.text
    assert "Traceback" not in caplog.text
    await watch.close()
