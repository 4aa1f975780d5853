"""Apache's processes wait for a name server that stands still, as on a busy machine.

Otherwise any test here may fail where the machine is slow: Java closes a connection on
which nothing came in time, a name server forgets the broker that it was from, and a
client then sends to the queues of the topic from which new ones are made, or to none.
"""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import pytest

from rmqcore.admin import Admin
from tests.support.apache import ApacheCluster
from tests.support.java_driver import JavaDriver

from .versions import OLDER_TOO

pytestmark = pytest.mark.interop

# A send was seen to give up after 6 s, and a name server had lost its brokers after 7.
STILL_SECONDS = 9.0
TOPIC = "standing-still"


@OLDER_TOO
async def test_the_first_send_waits_and_goes_where_its_topic_is(
    apache: ApacheCluster, admin: Admin, version: str, tmp_path: Path
) -> None:
    await admin.create_topic(TOPIC, 4, broker_name="broker-a")
    nameserver = apache.processes["nameserver"]
    with JavaDriver(apache.nameserver, tmp_path / "clients", version=version) as java:
        nameserver.signal(signal.SIGSTOP)
        goes_on = threading.Timer(STILL_SECONDS, nameserver.signal, [signal.SIGCONT])
        goes_on.start()
        try:
            sent = java.produce(TOPIC, 4, orderly="true")
        finally:
            goes_on.join()
    assert [broker for broker, _, _ in sent] == ["broker-a"] * 4
