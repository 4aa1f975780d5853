"""Many of our consumers in one process, told over standard input like Java's driver.

    python -m benchmarks.member_host NAMESERVER

Reads `start name=… group=… topic=…` and `stop name=…`, one a line, carries them out
beside each other, and prints one JSON object a line: `started`, `stopped`, and a
`change` for each queue that a member takes or gives up, with the time of the monotonic
clock, which all processes of a machine share.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from rmqcore.client import (
    ConsumeContext,
    ConsumeResult,
    InstanceRegistry,
    ProcessQueue,
    PushConsumer,
    PushSettings,
)
from rmqcore.client.consumer.push_member import PushMember
from rmqcore.model import MessageExt, MessageQueue


def say(event: str, **fields: object) -> None:
    """Print one event."""
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


class Told(dict[MessageQueue, ProcessQueue]):
    """The queues that a member holds, telling each change as it happens."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def __setitem__(self, queue: MessageQueue, process: ProcessQueue) -> None:
        super().__setitem__(queue, process)
        self._tell(queue, held=1)

    def pop(self, queue: MessageQueue, *default: Any) -> Any:
        """Forget a queue."""
        if queue in self:
            self._tell(queue, held=0)
        return super().pop(queue, *default)

    def _tell(self, queue: MessageQueue, *, held: int) -> None:
        say(
            "change",
            name=self._name,
            topic=queue.topic,
            broker=queue.broker_name,
            queue_id=queue.queue_id,
            held=held,
            nanos=time.monotonic_ns(),
        )


async def count(
    messages: Sequence[MessageExt], context: ConsumeContext
) -> ConsumeResult:
    """Consume without a trace."""
    return ConsumeResult.SUCCESS


class Host:
    """The members of this process, each a client of its own."""

    def __init__(self, nameserver: str) -> None:
        self._nameserver = nameserver
        self._members: dict[str, PushConsumer] = {}
        self._under_way: set[asyncio.Task[None]] = set()

    def obey(self, line: str) -> None:
        """Carry out a command beside others."""
        verb, *words = line.split()
        options = dict(word.split("=", 1) for word in words)
        options.pop("background", None)
        task = asyncio.get_running_loop().create_task(self._run(verb, options))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _run(self, verb: str, options: dict[str, str]) -> None:
        try:
            if verb == "start":
                await self._start(**options)
            else:
                await self._stop(options["name"])
        except Exception as error:
            say("error", command=f"{verb} {options}", message=repr(error))

    async def _start(self, name: str, group: str, topic: str, **_: str) -> None:
        consumer = PushConsumer(
            self._nameserver,
            group=group,
            listener=count,
            instance_name=name,
            settings=PushSettings(threads=1),
            consume_from_where="CONSUME_FROM_FIRST_OFFSET",
            registry=InstanceRegistry(),
        )
        consumer.subscribe(topic)
        self._members[name] = consumer
        await consumer.start()
        # Nothing is held before the loop's next turn.
        member = consumer.instance.members[group]
        assert isinstance(member, PushMember)
        member.context.held = Told(name)
        say("started", name=name, client_id=consumer.client_id)

    async def _stop(self, name: str) -> None:
        consumer = self._members.pop(name)
        await consumer.shutdown()
        say("stopped", name=name, client_id=consumer.client_id)


async def serve(nameserver: str) -> None:
    """Obey until standard input ends."""
    host = Host(nameserver)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    say("ready")
    while line := (await reader.readline()).decode().strip():
        host.obey(line)


def main() -> None:
    """Serve until told to end; members that still run end as in a crash."""
    asyncio.run(serve(sys.argv[1]))


if __name__ == "__main__":
    main()
