"""Broadcasting on a real cluster: everybody consumes all, progress in local files."""

from __future__ import annotations

from pathlib import Path

import pytest

from rmqcore.client import ConsumeResult, Producer
from rmqcore.cluster import LocalCluster
from rmqcore.errors import StoreError
from tests.rmqcore.client.joining import Clients, Heard, queue_ids, send
from tests.support.waiting import until


def broadcasting(folder: Path, **options: object) -> dict[str, object]:
    return {"message_model": "BROADCASTING", "offsets_dir": folder, **options}


async def test_every_member_consumes_every_message(
    clients: Clients, producer: Producer, tmp_path: Path
) -> None:
    one, two = Heard(), Heard()
    first = await clients.started(one, "c1", **broadcasting(tmp_path))
    second = await clients.started(two, "c2", **broadcasting(tmp_path))
    await send(producer, range(10))
    await until(lambda: len(one.bodies) == len(two.bodies) == 10)
    assert queue_ids(first) == queue_ids(second) == [0, 1, 2, 3]


async def test_progress_is_in_files_and_not_on_the_broker(
    clients: Clients, producer: Producer, cluster: LocalCluster, tmp_path: Path
) -> None:
    heard = Heard()
    consumer = await clients.started(heard, **broadcasting(tmp_path))
    await send(producer, range(4))
    await until(lambda: len(heard.bodies) == 4)
    await consumer.shutdown()
    assert (tmp_path / "ip@c1" / "G" / "offsets.json").exists()
    stored = cluster.brokers["broker-a"].state.offsets.committed_queues("G", "T")
    assert not any(stored.values())


async def test_a_member_goes_on_from_its_own_file(
    clients: Clients, producer: Producer, tmp_path: Path
) -> None:
    one, two = Heard(), Heard()
    first = await clients.started(one, **broadcasting(tmp_path))
    await send(producer, range(4))
    await until(lambda: len(one.bodies) == 4)
    await first.shutdown()
    await send(producer, range(4, 8))
    await clients.started(two, **broadcasting(tmp_path))
    await until(lambda: len(two.bodies) == 4)
    assert sorted(two.bodies) == ["4", "5", "6", "7"]


async def test_without_a_file_a_member_starts_at_the_tail(
    clients: Clients, producer: Producer, tmp_path: Path
) -> None:
    heard = Heard()
    await send(producer, range(4))
    await clients.started(
        heard, **broadcasting(tmp_path, consume_from_where="CONSUME_FROM_LAST_OFFSET")
    )
    await send(producer, ["new"])
    await until(lambda: heard.bodies)
    assert heard.bodies == ["new"]


async def test_two_with_one_client_id_share_a_file_and_miss_messages(
    clients: Clients, producer: Producer, tmp_path: Path
) -> None:
    one, two, three = Heard(), Heard(), Heard()
    first = await clients.started(one, "same", **broadcasting(tmp_path))
    second = await clients.started(two, "same", **broadcasting(tmp_path))
    await first.shutdown()
    await send(producer, range(4))
    await until(lambda: len(two.bodies) == 4)
    await second.shutdown()
    await clients.started(three, "same", **broadcasting(tmp_path))
    await send(producer, ["later"])
    await until(lambda: three.bodies)
    assert three.bodies == ["later"]


async def test_what_fails_is_dropped(
    clients: Clients, producer: Producer, tmp_path: Path
) -> None:
    heard = Heard(answer=ConsumeResult.RECONSUME_LATER)
    consumer = await clients.started(heard, **broadcasting(tmp_path))
    await send(producer, range(4))
    await until(lambda: len(heard.bodies) == 4)
    await consumer.shutdown()
    again = Heard()
    await clients.started(again, **broadcasting(tmp_path))
    await send(producer, ["next"])
    await until(lambda: again.bodies)
    assert again.bodies == ["next"]


async def test_order_needs_no_lock_when_broadcasting(
    clients: Clients, producer: Producer, tmp_path: Path
) -> None:
    one, two = Heard(), Heard()
    await clients.started(one, "c1", **broadcasting(tmp_path, orderly=True))
    await clients.started(two, "c2", **broadcasting(tmp_path, orderly=True))
    await send(producer, range(10))
    await until(lambda: len(one.bodies) == len(two.bodies) == 10)


async def test_broken_files_keep_a_member_from_starting(
    clients: Clients, tmp_path: Path
) -> None:
    consumer = clients.consumer(Heard(), **broadcasting(tmp_path))
    folder = tmp_path / "ip@c1" / "G"
    folder.mkdir(parents=True)
    for name in ("offsets.json", "offsets.json.bak"):
        (folder / name).write_text("{oops")
    with pytest.raises(StoreError):
        await consumer.start()
