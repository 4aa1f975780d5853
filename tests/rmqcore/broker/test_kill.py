"""A broker killed under load: what it has acknowledged must be there afterwards.

Here three deaths; `ROCKETSCOPE_TEST_KILLS=200` makes it a campaign.
"""

import asyncio
import json
import os
import random
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from rmqcore.broker import Broker, BrokerSettings
from rmqcore.errors import TransportError
from rmqcore.protocol.bodies import decode_consumer_offsets
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.message import decode_records
from tests.support.process import Process

from .peer import Peer, batch

KILLS = int(os.environ.get("ROCKETSCOPE_TEST_KILLS", "3"))
SEED = random.randrange(1 << 32)
QUEUES = 4
ACKNOWLEDGED = 50
"""A death comes some time after so many messages more, however busy the machine is."""


class Victim:
    """A broker process over one store, started again after each death."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lives = 0
        self._process: Process | None = None
        self.address = ""

    def start(self) -> None:
        """Start, and return when it is ready.

        Nobody listens at the name server's address: a broker serves all the same.
        """
        self._lives += 1
        options = ("--listen", "127.0.0.1:0", "--nameserver", "127.0.0.1:1")
        store = ("--store", str(self._directory / "store"))
        self._process = Process(
            [sys.executable, "-m", "rmqcore", "broker", *options, *store],
            log=self._directory / f"log-{self._lives}",
            piped=True,
        )
        line = self._process.stdout.readline()
        assert line, self._process.tail()
        self.address = json.loads(line)["address"]

    def kill(self) -> None:
        if self._process is not None:
            self._process.signal(signal.SIGKILL)
            self._process.kill()


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Victim]:
    made = Victim(tmp_path)
    yield made
    made.kill()


class Ledger:
    """What the broker has acknowledged over all of its lives."""

    def __init__(self) -> None:
        self.messages: dict[tuple[int, int], bytes] = {}
        self.committed = 0

    def note(self, queue_id: int, first: int, bodies: list[bytes]) -> None:
        for number, body in enumerate(bodies):
            place = (queue_id, first + number)
            assert place not in self.messages, f"offset {place} given twice"
            self.messages[place] = body


async def send_singles(peer: Peer, ledger: Ledger, chance: random.Random) -> None:
    while True:
        queue_id = chance.randrange(QUEUES)
        body = chance.randbytes(chance.randrange(1, 3000))
        response = await peer.send("T", body, queue_id, KEYS="k")
        assert response.code == 0, response.remark
        ledger.note(queue_id, int(response.ext_fields["queueOffset"]), [body])


async def send_batches(peer: Peer, ledger: Ledger, chance: random.Random) -> None:
    while True:
        queue_id = chance.randrange(QUEUES)
        keys = [chance.randbytes(8).hex() for _ in range(chance.randrange(1, 40))]
        response = await peer.send(
            "T", batch(*keys), queue_id, code=Code.SEND_BATCH_MESSAGE
        )
        assert response.code == 0, response.remark
        first = int(response.ext_fields["queueOffset"])
        ledger.note(queue_id, first, [key.encode() for key in keys])


async def commit(peer: Peer, ledger: Ledger, chance: random.Random) -> None:
    while True:
        fields = {
            "consumerGroup": "g",
            "topic": "T",
            "queueId": 0,
            "commitOffset": ledger.committed + 1,
        }
        response = await peer.ok(Code.UPDATE_CONSUMER_OFFSET, fields)
        ledger.committed += 1
        assert response.code == 0
        await asyncio.sleep(0.001)


Worker = Callable[[Peer, Ledger, random.Random], Awaitable[None]]
WORKERS: tuple[Worker, ...] = (send_singles,) * 6 + (send_batches,) * 2 + (commit,)


async def load_until_death(
    victim: Victim, ledger: Ledger, chance: random.Random
) -> None:
    peer = await Peer.connected(victim.address)
    response = await peer.send("T", b"x", 0, fields={"d": QUEUES})
    ledger.note(0, int(response.ext_fields["queueOffset"]), [b"x"])
    await peer.pull()

    async def work(worker: Worker) -> None:
        try:
            await worker(peer, ledger, chance)
        except TransportError:
            pass

    enough = len(ledger.messages) + ACKNOWLEDGED
    working = [asyncio.create_task(work(worker)) for worker in WORKERS]
    while len(ledger.messages) < enough:
        assert not all(task.done() for task in working), "the broker ended by itself"
        await asyncio.sleep(0.005)
    await asyncio.sleep(chance.uniform(0.05, 0.4))
    victim.kill()
    await asyncio.gather(*working)
    await peer.close()


async def everything(peer: Peer) -> dict[tuple[int, int], bytes]:
    found = {}
    for queue_id in range(QUEUES):
        offset = 0
        while True:
            response = await peer.pull("T", queue_id, offset)
            if response.code != 0:
                break
            for message in decode_records(response.body, "broker-a", check_crc=True):
                found[queue_id, message.queue_offset] = message.body
            offset = int(response.ext_fields["nextBeginOffset"])
    return found


async def test_nothing_acknowledged_is_lost(tmp_path: Path, victim: Victim) -> None:
    chance = random.Random(SEED)
    ledger = Ledger()
    persisted = 0
    for _ in range(KILLS):
        victim.start()
        await load_until_death(victim, ledger, chance)
        path = tmp_path / "store/config/consumerOffset.json"
        if path.exists():
            offsets = decode_consumer_offsets(path.read_bytes()).offsets
            on_disk = offsets.get("T@g", {}).get(0, 0)
            # The last commit may have been written and its answer not heard any more.
            assert persisted <= on_disk <= ledger.committed + 1
            persisted = on_disk
        ledger.committed = persisted
    victim.start()
    peer = await Peer.connected(victim.address)
    found = await everything(peer)
    missing = {at for at, body in ledger.messages.items() if found.get(at) != body}
    assert missing == set(), f"seed {SEED}"
    assert len(ledger.messages) >= KILLS * ACKNOWLEDGED
    response = await peer.ask(
        Code.QUERY_CONSUMER_OFFSET,
        {"consumerGroup": "g", "topic": "T", "queueId": 0},
    )
    assert int(response.ext_fields["offset"]) >= persisted
    await peer.close()


async def test_a_store_that_was_killed_opens_in_this_process(
    tmp_path: Path, victim: Victim
) -> None:
    ledger = Ledger()
    victim.start()
    await load_until_death(victim, ledger, random.Random(7))
    broker = Broker(BrokerSettings(tmp_path / "store"))
    await broker.start()
    peer = await Peer.connected(broker.address)
    found = await everything(peer)
    assert {at: found.get(at) for at in ledger.messages} == ledger.messages
    await peer.close()
    await broker.stop()
