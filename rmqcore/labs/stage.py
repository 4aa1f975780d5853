"""The setting of a lab: a cluster's address, topics, groups, members, evidence.

A stage knows the cluster only by its name server, so that a lab plays on a cluster of
its own just as on a shared one. Its topics are on one broker and its names end in the
run's number: runs do not see each other. It records events as they happen and tells the
observer.

It waits for conditions, never for time to pass, except that it pauses at each division
for as long as those who watch have asked for. A condition that does not hold within
`PATIENCE_S` of the machine's time, longer where the cluster's own timers are, is a
`LabError` that says what was waited for; a broker may take as long for an answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from inspect import isawaitable
from pathlib import Path
from typing import Any, Final

from rmqcore.admin import Admin
from rmqcore.client import InstanceRegistry, Producer, by_hash
from rmqcore.errors import LabError
from rmqcore.model import Message, MessageQueue
from rmqcore.offsets import LocalFileOffsetStore
from rmqcore.timers import Timer
from rmqcore.transport import Clock

from .leftovers import delete_leftovers, run_prefix
from .member import Member, Role
from .results import (
    Claim,
    Delivery,
    Division,
    Evidence,
    OffsetsFile,
    Progress,
    QueueProgress,
)
from .steps import EVERYWHERE, Observer, Step

PATIENCE_S: Final = 30.0
LOOK_EVERY_S: Final = 0.02


class Stage:
    """One run of one lab. Belongs to one event loop; close it at the end."""

    def __init__(
        self,
        lab: str,
        texts: Mapping[str, str],
        nameservers: str,
        *,
        clock: Clock,
        pace: float,
        directory: Path,
        observer: Observer,
        linger_s: float = 0.0,
        label: str = "",
    ) -> None:
        self.lab = lab
        self.clock = clock
        self.offsets_dir = directory / "offsets"
        self.admin = Admin(nameservers, timeout=PATIENCE_S)
        self._texts = {**EVERYWHERE, **texts}
        self._nameservers = nameservers
        self._pace = pace
        self._observer = observer
        self._linger_s = linger_s
        self._started_ms = clock.time_ms()
        self._run = f"{run_prefix(lab, label)}{self._started_ms:x}"
        self._producer: Producer | None = None
        self._members: list[Member] = []
        self._topics: dict[str, int] = {}
        self._broker = ""
        self._steps = 0
        self._produced = 0
        self._deliveries: list[Delivery] = []
        self._divisions: list[Division] = []
        self._progress: list[Progress] = []
        self._files: list[OffsetsFile] = []
        self._claims: list[Claim] = []

    # Telling

    def tell(self, key: str, **params: object) -> None:
        """Tell the observer a step, by the key of its sentence."""
        self._steps += 1
        text = self._texts[key].format_map(params)
        name = key if key in EVERYWHERE else f"{self.lab}.{key}"
        now_ms = self.clock.time_ms()
        self._observer(Step(self.lab, self._steps, name, text, params, now_ms))

    def claim(self, key: str, seen: object, **params: object) -> None:
        """Record whether this run bears a sentence out."""
        text = self._texts[key].format_map(params)
        self._claims.append(Claim(f"{self.lab}.{key}", bool(seen), text, params))

    def evidence(self) -> Evidence:
        """Return what has happened so far."""
        return Evidence(
            self.lab,
            self._produced,
            self.clock.time_ms() - self._started_ms,
            tuple(self._deliveries),
            tuple(self._divisions),
            tuple(self._progress),
            tuple(self._files),
            tuple(self._claims),
        )

    # Setting up

    async def topic(self, queues: int, suffix: str = "") -> str:
        """Create a topic of the run, on one broker."""
        name = f"{self.group()}{suffix}"
        broker = (await self.admin.brokers())[0]
        self._broker = broker.broker_name
        await self.admin.create_topic(name, queues, broker_name=self._broker)
        self._topics[name] = queues
        self.tell("topic", topic=name, queues=queues, broker=self._broker)
        return name

    def group(self, suffix: str = "") -> str:
        """Return the name of a group of the run."""
        return f"{self._run}{suffix}"

    def queues(self, topic: str) -> list[MessageQueue]:
        """Return a topic's queues in order."""
        count = self._topics[topic]
        return [MessageQueue(topic, self._broker, number) for number in range(count)]

    async def broker_address(self) -> str:
        """Return the address of the broker of the lab's topics."""
        (broker,) = await self.admin.brokers(broker_name=self._broker)
        return str(broker.any_address)

    # Members

    async def join(self, role: Role) -> Member:
        """Make a member join its group."""
        member = Member(role, self._nameservers, self.clock, self._deliveries.append)
        await member.consumer.start()
        self._members.append(member)
        self.tell(
            "joined",
            member=role.name,
            group=role.group,
            client_id=member.client_id,
        )
        return member

    async def leave(self, member: Member) -> None:
        """Make a member leave in good order."""
        self._members.remove(member)
        await member.consumer.shutdown()
        self.tell("left", member=member.name)

    async def die(self, member: Member) -> None:
        """End a member as if its process had died."""
        self._members.remove(member)
        await member.consumer.abandon()
        self.tell("died", member=member.name)

    async def rest(self, topic: str, members: Iterable[Member], after: str) -> Division:
        """Wait until the group is at rest; record and return its division.

        At rest means: the broker lists exactly these members, and a rebalance of each
        of them changes nothing.
        """
        wanted = list(members)
        await self.until(lambda: self._at_rest(wanted), f"a group at rest ({after})")
        division = self.divide(topic, wanted, after)
        if self._linger_s:
            await asyncio.sleep(self._linger_s)
        return division

    def divide(self, topic: str, members: Iterable[Member], after: str) -> Division:
        """Record and return who holds which queues of a topic now."""
        wanted = list(members)
        parts = tuple(member.part(topic) for member in wanted)
        division = Division(topic, after, parts, tuple(self.queues(topic)))
        self._divisions.append(division)
        told: dict[str, object] = {
            "topic": topic,
            "after": after,
            "division": str(division),
            "parts": division.by_member,
            "idle": division.idle,
        }
        if any(member.broadcasts for member in wanted):
            self.tell("broadcast", **told)
            return division
        self.tell(
            "division",
            **told,
            unowned=[queue.queue_id for queue in division.unowned],
            shared=[queue.queue_id for queue in division.shared],
        )
        return division

    def tell_consumed(self, members: Iterable[Member]) -> None:
        """Report how many messages each member has been given so far."""
        counts = {member.name: len(member.given) for member in members}
        shares = ", ".join(f"{name} {count}" for name, count in counts.items())
        total = sum(counts.values())
        self.tell("consumed", shares=shares, counts=counts, total=total)

    # Messages and offsets

    async def send(
        self,
        topic: str,
        bodies: Collection[str],
        *,
        tag: str = "",
        key_of: Callable[[str], str] | None = None,
    ) -> None:
        """Send a message for each body, to the queues in turn from 0 on.

        With `key_of`, a message has a key, and its queue follows from the key, so that
        messages of one key keep their order.
        """
        producer = await self._sending()
        queues = self.queues(topic)
        for number, body in enumerate(bodies):
            if key_of is None:
                message = Message.of(topic, body.encode(), tags=tag)
                await producer.send(message, queue=queues[number % len(queues)])
            else:
                key = key_of(body)
                message = Message.of(topic, body.encode(), tags=tag, keys=[key])
                await producer.send(message, select=by_hash(key))
        self._produced += len(bodies)
        self.tell("sent", topic=topic, count=len(bodies))

    async def send_batch(self, queue: MessageQueue, bodies: Collection[str]) -> None:
        """Send messages to one queue in one request, without a step for each."""
        producer = await self._sending()
        batch = [Message(queue.topic, body.encode()) for body in bodies]
        await producer.send_batch(batch, queue=queue)
        self._produced += len(bodies)

    async def persist(self, members: Iterable[Member]) -> None:
        """Make members persist their offsets now instead of within five seconds."""
        for member in members:
            await member.run_timer(Timer.PERSIST_OFFSETS)

    async def progress(self, group: str, topic: str, after: str) -> Progress:
        """Record and return the offsets that a group has committed at the broker."""
        progress = await self._offsets(group, topic, after)
        self._progress.append(progress)
        self.tell(
            "offsets",
            group=group,
            topic=topic,
            after=after,
            committed=progress.committed,
            end=progress.end,
        )
        return progress

    async def persisted(
        self,
        group: str,
        topic: str,
        members: Collection[Member],
        count: int,
        after: str,
    ) -> Progress:
        """Wait until that many messages of a topic are committed; record the offsets.

        Commits are not answered: the broker may still be working on one when it is
        asked for its offsets.
        """

        async def done() -> bool:
            await self.persist(members)
            return (await self._offsets(group, topic, "")).committed >= count

        await self.until(done, f"{count} messages of {topic} committed")
        return await self.progress(group, topic, after)

    async def all_committed(
        self,
        group: str,
        topic: str,
        members: Collection[Member],
        *,
        takes_s: float = 0.0,
    ) -> Progress:
        """Wait until members have committed all of a topic; record the offsets."""

        async def done() -> bool:
            await self.persist(members)
            offsets = await self._offsets(group, topic, "")
            return offsets.committed == offsets.end

        await self.until(done, f"all of {topic} committed", takes_s=takes_s)
        return await self.progress(group, topic, "consumed")

    async def offsets_file(self, member: Member, after: str) -> OffsetsFile:
        """Record and return what a broadcasting member would find in its file."""
        return await self.offsets_file_of(member.client_id, member.role.group, after)

    async def offsets_file_of(
        self, client_id: str, group: str, after: str
    ) -> OffsetsFile:
        """Record and return what a client of that id would find in its file."""
        store = LocalFileOffsetStore(self.offsets_dir, client_id, group)
        await store.load()
        loaded = store.loaded
        file = OffsetsFile(
            client_id, group, after, loaded.found_in.value, loaded.offsets
        )
        self._files.append(file)
        return file

    # Time

    async def until(
        self,
        condition: Callable[[], bool | Awaitable[bool]],
        what: str,
        *,
        takes_s: float = 0.0,
    ) -> None:
        """Wait until a condition holds; `takes_s` of the lab's clock are expected.

        Raises `LabError` when it does not hold in time.
        """
        patience_s = PATIENCE_S + 2 * takes_s / self._pace
        try:
            async with asyncio.timeout(patience_s):
                # The condition depends on the broker, which sends no event for it.
                while not await _holds(condition):  # noqa: ASYNC110
                    await asyncio.sleep(LOOK_EVERY_S)
        except TimeoutError:
            raise LabError(
                f"lab {self.lab}: waited {patience_s:.0f} s without success for {what}"
            ) from None

    # End

    async def close(self, *, clean_up: bool) -> None:
        """Make all members leave; `clean_up` deletes the lab's topics as well."""
        try:
            for member in self._members:
                await member.consumer.shutdown()
            if self._producer is not None:
                await self._producer.shutdown()
            if clean_up:
                await delete_leftovers(self.admin, self._run)
        finally:
            await self.admin.close()

    # Private

    async def _at_rest(self, members: list[Member]) -> bool:
        before = [member.consumer.queues for member in members]
        for group in {member.role.group for member in members}:
            listed = await self.admin.client_ids(group, await self.broker_address())
            expected = [m.client_id for m in members if m.role.group == group]
            if sorted(listed) != sorted(expected):
                return False
        complete = [await member.consumer.rebalance() for member in members]
        after = [member.consumer.queues for member in members]
        return all(complete) and before == after

    async def _sending(self) -> Producer:
        if self._producer is None:
            self._producer = Producer(
                self._nameservers,
                group=self.group("_producers"),
                send_timeout_s=PATIENCE_S,
                client_ip="host-0",
                registry=InstanceRegistry(),
            )
            await self._producer.start()
        return self._producer

    async def _offsets(self, group: str, topic: str, after: str) -> Progress:
        committed = await self.admin.committed_offsets(group, topic)
        ends = await self.admin.topic_stats(topic)
        queues = tuple(
            QueueProgress(queue, committed.get(queue), offsets.max_offset)
            for queue, offsets in ends.items()
        )
        return Progress(group, topic, after, queues)


async def _holds(condition: Callable[[], Any]) -> bool:
    found = condition()
    return bool(await found if isawaitable(found) else found)
