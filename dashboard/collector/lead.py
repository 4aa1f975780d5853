"""Everything that lives as long as one lead over a cluster.

A lead begins when the lease is taken and ends when another collector has it, so all of
it is one object that is dropped as a whole. It continues from what the previous leader
left (`load_earlier`), and leaves the same to the next (`publish_memory`). Looks are
applied in order of time and published under one lock, so that updates of a group leave
in the order of their numbers. A write that finds the lease gone raises `LeadLostError`:
the data to be written is lost, the lead only if another collector has taken it.

A group that cannot be judged because of a fault in this program does not affect the
others: it keeps its last document, which says so, and is tried again at the next look.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson
import redis.asyncio

from dashboard.live.broker_documents import ClientsDocument
from dashboard.live.decoding import read_object
from dashboard.live.documents import GroupState, Lateness, Overview, OverviewRow
from dashboard.live.holdings import Holding, field_of, read_holding
from dashboard.live.name_documents import NameKind
from dashboard.live.names import (
    allocation_key,
    clients_key,
    group_key,
    memory_key,
    moments_key,
    names_key,
    overview_key,
    topics_key,
)
from dashboard.live.numbering import HANDED_ON, Numbering, Stamp
from dashboard.live.publishing import GroupUpdate, Publisher
from dashboard.live.topic_documents import Topics
from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import ClusterSnapshot, GroupSnapshot

from .ages import Question
from .alert_watch import AlertWatch
from .changes import changes_between, update_message
from .client_rows import ClientRows
from .epochs import EpochBook, GoneBooks, WantedStrategy
from .faults import Faults
from .frames import encode_frame, place_of
from .group_document import Sight, group_document
from .group_watch import GroupWatch, Look, Seen
from .holdings import VOUCHED_MS, with_holdings
from .inheritance import (
    UNBROKEN_MS,
    Inheritance,
    encode_memory,
    load_inheritance,
)
from .keeping import Keeper
from .names_document import NameBook
from .overview_document import (
    faded_row,
    overview_document,
    overview_row,
    rested_row,
    still_row,
    unjudged_row,
)
from .presence import Presence, Standing
from .records import GroupHandover
from .samples import SampleColumns
from .sleepers import Asleep, Sleepers, dead_letters, no_dead_letters
from .topics_document import TopicBook
from .trend import LagTrend

logger = logging.getLogger(__name__)

DOCUMENTS_FOR_ALL: Final = 500
"""With more groups than this, only watched, scraped and hosted ones have a document."""


GROUPS_AT_ONCE: Final = 100

CONFIRMED_WITHIN_MS: Final = 600_000
"""Within this time an event is written: some are late, as they wait to be confirmed."""


class LeadLostError(Exception):
    """A write found the lease gone: it ran out, or another collector has it."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A snapshot, how the cluster stands at it, and whether members were asked.

    `dead_letters` tells how many messages ever came to the dead-letter topics, by
    group, and `no_dead_letters` what holds of groups without such a topic.
    """

    snapshot: ClusterSnapshot
    standing: Standing
    asked: bool
    dead_letters: Mapping[str, int | None]
    no_dead_letters: int | None


class Lead:
    """What the leader knows about its cluster's groups, and how it publishes that."""

    def __init__(
        self,
        cluster: str,
        *,
        client: redis.asyncio.Redis,
        publisher: Publisher,
        numbering: Numbering,
        books: dict[str, EpochBook],
        keeper: Keeper,
        now_ms: Callable[[], int],
        wake_sender: Callable[[], None],
    ) -> None:
        self.cluster = cluster
        self.groups: dict[str, GroupWatch] = {}
        self.wanted_strategies: Mapping[str, WantedStrategy] = {}
        """How hosted groups are to divide."""
        self.scraped: frozenset[str] = frozenset()
        """Groups whose documents are wanted with each sweep, on a large cluster too."""
        self.swept = False
        """Whether all groups were seen at least once."""
        self._client = client
        self._publisher = publisher
        self._numbering = numbering
        self._books = GoneBooks(books)
        self._keeper = keeper
        self._now_ms = now_ms
        self._rows: dict[str, OverviewRow] = {}
        self.unlisted: set[str] = set()
        """The groups that got their first members since the list was made."""
        self._sleepers = Sleepers()
        self._trends: dict[str, LagTrend] = {}
        self._clients = ClientRows()
        self._unmet: set[str] = set()
        """Groups that the previous leader listed and that were not met in this lead."""
        self._holdings: dict[str, dict[str, Holding]] = {}
        self._presence = Presence()
        self._topics = TopicBook(cluster)
        self._names = NameBook(cluster)
        self.faults = Faults(cluster)
        """The groups that could not be judged."""
        self.alerts = AlertWatch(cluster, keeper, now_ms, wake_sender)
        self._publishing = asyncio.Lock()
        self._inheritance: Inheritance | None = None
        self._overview: Overview | None = None

    @property
    def run(self) -> str:
        """The run that updates are numbered in."""
        return self._numbering.run

    @property
    def list_is_behind(self) -> bool:
        """Whether a look at single groups knows more than the list.

        A group has its first members, or a process that the list shows as away has
        answered everything. The list is made by sweeps of all groups.
        """
        if self._overview is None:
            return False
        if self.unlisted:
            return True
        listed = self._overview
        servers = listed.get("nameservers", [])
        away = {b["name"] for b in listed["brokers"] if not b["answered"]}
        deaf = {each["address"] for each in servers if not each["answered"]}
        now = self._presence.now
        return any(each.whole and each.name in away for each in now.brokers) or any(
            each["answered"] and each["address"] in deaf for each in now.nameservers
        )

    async def load_holdings(self) -> None:
        """Read what fleet members said before this lead began; remove what is old."""
        key = allocation_key(self.cluster)
        asked = self._client.hgetall(key)
        stored = await cast("Awaitable[dict[bytes, bytes]]", asked)
        for field, text in stored.items():
            holding = read_holding(text)
            if holding and self._now_ms() - holding.vouched_ms <= VOUCHED_MS:
                self.take_holding(holding)
            else:
                await cast("Awaitable[int]", self._client.hdel(key, field.decode()))

    async def load_earlier(self) -> None:
        """Continue from whatever an earlier leader published and left, if anything."""
        await self.alerts.load_earlier(self._client)
        stored = read_object(await self._client.get(overview_key(self.cluster)))
        if stored is None:
            return
        last = cast("Overview", stored)
        topics = read_object(await self._client.get(topics_key(self.cluster)))
        if topics is not None:
            self._topics.restore(cast("Topics", topics))
        self._presence.restore(last)
        self._overview = last
        for row in last["groups"]:
            # A list of an older version has no trend.
            points = row.get("lag_trend", [])
            restored = LagTrend.restored(points, last["taken_at"])
            self._trends[row["group"]] = restored
            self._unmet.add(row["group"])
        clients = read_object(await self._client.get(clients_key(self.cluster)))
        self._clients.restore(cast("ClientsDocument | None", clients))
        left = await load_inheritance(self._client, self.cluster, self._now_ms())
        self._inheritance = left
        if left is not None:
            since_ms = left.at_ms - CONFIRMED_WITHIN_MS
            left.written = await self._keeper.load_last_owners(since_ms)
        if left is not None and left.run == last["run"]:
            self._numbering = Numbering(left.run, left.floor + HANDED_ON)
            self._numbering.resume(self.cluster, "", Stamp(last["run"], last["seq"]))

    def take_holding(self, holding: Holding) -> bool:
        """Remember a fleet member's report; tell whether it says something new."""
        members = self._holdings.setdefault(holding.group, {})
        before = members.get(holding.client_id)
        members[holding.client_id] = holding
        return (
            before is None
            or before.queues != holding.queues
            or before.busy_since_ms != holding.busy_since_ms
        )

    async def apply(
        self,
        snapshot: ClusterSnapshot,
        names: Collection[str],
        *,
        asked: bool,
        watched: Collection[str],
    ) -> list[str]:
        """Look at some groups of a snapshot and publish what is new.

        Returns the groups whose epoch turned. `asked` says that members were asked; if
        they were not, `names` are all groups.
        """
        standing = self._presence.take(snapshot)
        changed: list[str] = []
        if asked:
            self._sleepers.wake(names)
            listed = list(names)
        else:
            self._look_at_sleepers(snapshot, standing, watched)
            listed = [name for name in names if name not in self._sleepers]
        sweep = Sweep(
            snapshot,
            standing,
            asked,
            dead_letters(snapshot),
            no_dead_letters(snapshot),
        )
        for start in range(0, len(listed), GROUPS_AT_ONCE):
            part = listed[start : start + GROUPS_AT_ONCE]
            changed += await self._apply_part(sweep, part, watched)
            # Thousands of groups take seconds: let watched ones go in between.
            await asyncio.sleep(0)
        return changed

    async def _apply_part(
        self,
        sweep: Sweep,
        names: Sequence[str],
        watched: Collection[str],
    ) -> list[str]:
        async with self._publishing:
            new = [name for name in names if name not in self.groups]
            await self._meet(sweep.snapshot, new)
            updates: list[GroupUpdate] = []
            changed: list[str] = []
            for name in names:
                try:
                    update = self._look_at(sweep, name, watched, changed)
                    self.faults.forget(name)
                except Exception as error:
                    update = self._failed(sweep.snapshot, name, error, name in watched)
                if update is not None:
                    updates.append(update)
            _checked(await self._publisher.groups(updates))
            return changed

    def _look_at_sleepers(
        self, snapshot: ClusterSnapshot, standing: Standing, watched: Collection[str]
    ) -> None:
        """Look at the groups in which nothing moves; what shows anything else wakes."""
        wanted = {*watched, *self.wanted_strategies, *self.scraped, *self._holdings}
        if len(self.groups) <= DOCUMENTS_FOR_ALL:
            wanted.update(self._sleepers)
        self._sleepers.look(snapshot, standing, wanted)
        at_ms = snapshot.taken_at_ms
        if self.alerts.is_idle and not self._sleepers.turned:
            return
        failed: list[str] = []
        for name, each in self._sleepers.items():
            try:
                self._look_at_sleeper(name, each, at_ms)
            except Exception:
                # It wakes, and its own look follows, which shows a fault that it meets.
                logger.exception("group=%s could not be looked at asleep", name)
                failed.append(name)
        self._sleepers.wake(failed)

    def _look_at_sleeper(self, name: str, asleep: Asleep, at_ms: int) -> None:
        sight = self.groups[name].sight
        assert sight is not None  # noqa: S101 - it was seen before it slept
        last, trend = self._rows[name], self._trends[name]
        row = self._rows[name] = still_row(last, trend, at_ms)
        self.alerts.look(sight, row, asleep.dead_letters, at_ms)

    def _look_at(
        self,
        sweep: Sweep,
        name: str,
        watched: Collection[str],
        changed: list[str],
    ) -> GroupUpdate | None:
        """Look at one group; return what to publish, if there is a new sight of it."""
        dead_letters = sweep.dead_letters.get(name, sweep.no_dead_letters)
        shown = self._has_document(name, watched)
        last = self._rows.get(name)
        anew = last is None or last["fault"] is not None
        group = sweep.snapshot.groups[name]
        seen = self._see(sweep, group, dead_letters, shown or anew)
        if seen.turn is not None:
            changed.append(name)
        if seen.sight is None:
            return None
        trend = self._trends.get(name)
        if trend is None:
            trend = self._trends[name] = LagTrend()
        at_ms = sweep.snapshot.taken_at_ms
        if not seen.rests or last is None or anew:
            row = overview_row(seen.sight, trend)
        elif seen.fades:
            row = faded_row(last, seen.sight, trend)
        else:
            row = rested_row(last, seen.sight, trend)
        self.alerts.look(seen.sight, row, dead_letters, at_ms)
        update = None
        if shown:
            update = self._update(seen.sight, name in watched)
        if row["members"] and not (last and last["members"]):
            self.unlisted.add(name)
        self._rows[name] = row
        if not seen.rests:
            self._clients.take(seen.sight)
        elif seen.still and not shown:
            watch = self.groups[name]
            self._sleepers.add(name, Asleep(watch, group, dead_letters), watch.brokers)
        return update

    def _failed(
        self, snapshot: ClusterSnapshot, name: str, error: Exception, watched: bool
    ) -> GroupUpdate | None:
        """Note that a group could not be judged; return the document that says so."""
        fault = self.faults.note(name, error)
        row = self._rows.get(name)
        if row is None:
            row = unjudged_row(snapshot.groups[name])
        self._rows[name] = {**row, "fault": fault}
        shown = self.groups[name].shown
        if shown is None:
            return None
        stamp = self._numbering.next(self.cluster, name)
        document: GroupState = {
            **shown,
            "run": stamp.run,
            "seq": stamp.seq,
            "fault": fault,
        }
        return self._published(document, watched)

    async def drop_all_but(self, snapshot: ClusterSnapshot) -> None:
        """Forget the groups that a sweep of all no longer shows, and end their epochs.

        A group that was met after the sweep had begun is not gone.
        """
        gone = [
            name
            for name, watch in self.groups.items()
            if name not in snapshot.groups and watch.taken_at_ms < snapshot.taken_at_ms
        ]
        # If a group comes back, its epoch numbers continue.
        self._sleepers.wake(gone)
        self._books.add({name: self.groups.pop(name).book for name in gone})
        self._clients.keep(self.groups)
        for name in gone:
            self._rows.pop(name, None)
            self._trends.pop(name, None)
            self.faults.forget(name)
            self._numbering.forget(self.cluster, name)
        gone += self._gone_before(snapshot)
        self._end_epochs(snapshot)
        await self._drop_old_holdings()
        _checked(await self._publisher.remove_groups(self.cluster, gone))

    async def _drop_old_holdings(self) -> None:
        """Forget what members reported who no longer vouch for it, as killed ones."""
        now_ms = self._now_ms()
        fields: list[str] = []
        for group, members in list(self._holdings.items()):
            for client_id, holding in list(members.items()):
                if now_ms - holding.vouched_ms > VOUCHED_MS:
                    fields.append(field_of(group, client_id))
                    del members[client_id]
            if not members:
                del self._holdings[group]
        if fields:
            key = allocation_key(self.cluster)
            await cast("Awaitable[int]", self._client.hdel(key, *fields))

    def _gone_before(self, snapshot: ClusterSnapshot) -> list[str]:
        """Return the groups that went while nobody led, once all brokers are heard."""
        if not all(broker.whole for broker in snapshot.brokers):
            return []
        gone = [name for name in self._unmet if name not in self.groups]
        self._unmet.clear()
        for name in gone:
            self._trends.pop(name, None)
        return gone

    def _end_epochs(self, snapshot: ClusterSnapshot) -> None:
        """End the epochs of groups that are gone, even of those gone before this lead.

        A sweep that met no broker at all shows that the name server has forgotten the
        brokers, not that there are no groups.
        """
        if not any(broker.answered for broker in snapshot.brokers):
            return
        silent = {broker.name for broker in snapshot.brokers if not broker.whole}
        for name, book in self._books.items():
            ended = book.end(silent, snapshot.taken_at_ms)
            if ended is not None:
                self._keeper.add_end(name, ended)

    async def publish_overview(
        self, snapshot: ClusterSnapshot, late: Lateness | None = None
    ) -> None:
        """Publish the list of all groups as they were last seen; `late` if it was."""
        async with self._publishing:
            document = overview_document(
                self.cluster,
                snapshot,
                self._rows.values(),
                self._numbering.next(self.cluster),
                self._now_ms(),
                standing=self._presence.now,
            )
            fault = self._keeper.lake_fault
            if fault is not None:
                document["lake"] = fault
            refused = self._keeper.database_fault
            if refused is not None:
                document["database"] = refused
            if late is not None:
                document["late"] = late
            self._overview = document
            self.unlisted.clear()
            # First, so that a page that the list wakes finds them.
            text = self._clients.document(self.cluster, self._now_ms())
            if text is not None:
                await self.store({clients_key(self.cluster): text})
                self._clients.written(self._now_ms())
            await self._store_names(document)
            _checked(await self._publisher.overview(document))

    async def _store_names(self, overview: Overview) -> None:
        """Store the names that can be searched for, where they have changed."""
        names: dict[NameKind, Collection[str]] = {
            "group": self._rows,
            "topic": self._topics.names,
            "client": self._clients.client_ids(),
            "broker": {broker["name"] for broker in overview["brokers"]},
        }
        text = self._names.document(names, self._now_ms())
        if text is not None:
            await self.store({names_key(self.cluster): text})

    async def publish_topics(self, snapshot: ClusterSnapshot) -> None:
        """Store the document of all topics, for the pages that the overview wakes."""
        topics = self._topics.take(snapshot, self.groups, self._rows)
        stored = {topics_key(self.cluster): orjson.dumps(topics)}
        _checked(await self._publisher.store(stored))

    async def settle_alerts(self) -> None:
        """End a sweep of all for the rules of alerts."""
        names = self.groups.keys() | self._unmet
        await self.alerts.settle(self._presence.now.brokers, names, self.store)

    async def store(self, documents: Mapping[str, bytes]) -> None:
        """Store encoded documents under their keys."""
        _checked(await self._publisher.store(documents))

    async def publish_failure(self, error: str) -> None:
        """Tell readers why nothing new comes; the last known rows stay."""
        async with self._publishing:
            stamp = self._numbering.next(self.cluster)
            nothing = ClusterSnapshot(self._now_ms(), (), {}, {})
            last = self._overview or overview_document(
                self.cluster, nothing, (), stamp, 0, standing=self._presence.now
            )
            failed: Overview = {
                **last,
                "run": stamp.run,
                "seq": stamp.seq,
                "error": error,
            }
            _checked(await self._publisher.overview(failed))

    async def publish_memory(self, snapshot: ClusterSnapshot) -> None:
        """Leave what is known after a sweep of all groups to the next leader."""
        swept_ms = snapshot.taken_at_ms
        memories: dict[str, Any] = {}
        for at, (name, watch) in enumerate(list(self.groups.items())):
            asleep = self._sleepers.get(name)
            if asleep is not None and asleep.left is not None:
                memories[name] = asleep.left
                continue
            try:
                memories[name] = watch.left(swept_ms)
            except Exception as error:
                self.faults.note(name, error)
            else:
                if asleep is not None:
                    asleep.left = memories[name]
            if at % GROUPS_AT_ONCE == 0:
                await asyncio.sleep(0)
        now_ms, run, floor = self._now_ms(), self.run, self._numbering.highest
        # Whoever continues from this memory takes events before it for written.
        await self._keeper.keep_turns(now_ms)
        memory, frame = await asyncio.gather(
            asyncio.to_thread(encode_memory, run, floor, now_ms, swept_ms, memories),
            asyncio.to_thread(encode_frame, snapshot),
        )
        place = place_of(swept_ms)
        stored = {memory_key(self.cluster): memory}
        stored[moments_key(self.cluster, place)] = frame
        await self.store(stored)
        if self._inheritance and now_ms - self._inheritance.at_ms > UNBROKEN_MS:
            self._inheritance = None

    def ages_due(self) -> list[Question]:
        """Return the questions for ages of first unconsumed messages that are due."""
        now_ms = self._now_ms()
        return [
            Question(name, topic, broker, row["lag"] or 0, asked_ms)
            for name, watch in self.groups.items()
            if (row := self._rows.get(name)) is not None
            and row["lag"]
            and watch.sight is not None
            for (topic, broker), asked_ms in watch.ages.due(
                watch.sight.group.queues, now_ms
            ).items()
        ]

    def take_ages(
        self,
        asked: Collection[Question],
        told: Mapping[str, Mapping[QueueKey, int]],
        asked_at_ms: int,
    ) -> None:
        """Take the ages that brokers told; the next looks at the groups show them."""
        for each in asked:
            watch = self.groups.get(each.group)
            if watch is not None:
                watch.ages.asked([(each.topic, each.broker)], asked_at_ms)
        for name, ages in told.items():
            watch = self.groups.get(name)
            if watch is None or watch.sight is None:
                continue
            sight = watch.sight
            # A look in the meantime has asked too, and saw other commits.
            if watch.seen_at_ms <= asked_at_ms:
                watch.ages.tell(sight.group.queues, ages, asked_at_ms)

    def take_samples(self, snapshot: ClusterSnapshot) -> SampleColumns:
        """Return the samples that are due after a sweep of all groups.

        Each comes from one sight of its group: the sweep's, or that of a newer look in
        between. A group about which the sweep concluded nothing has none.
        """
        samples = SampleColumns()
        quiet = self._sleepers.quiet(snapshot.taken_at_ms)
        for name in snapshot.groups:
            if name in quiet:
                continue
            watch = self.groups[name]
            sight = watch.sight
            if sight is None or watch.seen_at_ms < snapshot.taken_at_ms:
                continue
            try:
                self._add_samples(samples, watch, sight)
            except Exception as error:
                self.faults.note(name, error)
            asleep = self._sleepers.get(name)
            if asleep is not None:
                asleep.quiet_ms = watch.sampler.quiet_ms
        return samples

    @staticmethod
    def _add_samples(samples: SampleColumns, watch: GroupWatch, sight: Sight) -> None:
        table = sight.group.queues
        number = sight.epoch["number"] if sight.epoch else None
        samples.add(
            sight.group.name,
            table,
            watch.sampler.take(table, watch.seen_at_ms, number),
            epoch=number,
            ownership=sight.ownership,
            span_epoch=watch.sampler.span_epoch,
        )

    async def _meet(self, snapshot: ClusterSnapshot, new: Sequence[str]) -> None:
        """Continue groups not met before in this lead, or begin their memory."""
        if not new:
            return
        texts = await self._client.mget([group_key(self.cluster, n) for n in new])
        for name, text in zip(new, texts, strict=True):
            earlier = cast("GroupState | None", read_object(text))
            book = self._books.take(name)
            keys = snapshot.groups[name].queues.keys
            watch = self._watch(name, book, keys, earlier)
            if earlier and self._numbering.resume(self.cluster, name, _stamp(earlier)):
                watch.shown = earlier
            self.groups[name] = watch

    def _watch(
        self,
        name: str,
        book: EpochBook,
        keys: tuple[QueueKey, ...],
        earlier: GroupState | None,
    ) -> GroupWatch:
        """Return a group's memory, with what an earlier leader left of it.

        If that cannot be read, this group loses its past; other groups are not
        affected.
        """
        if self._inheritance is not None:
            inherited = self._inheritance.take(name, keys, self._now_ms())
            try:
                return GroupWatch(book, earlier, inherited)
            except Exception:
                logger.exception(
                    "cluster=%s group=%s is begun anew: what the last leader left "
                    "cannot be read",
                    *(self.cluster, name),
                )
        return GroupWatch(book, earlier)

    def _see(
        self,
        sweep: Sweep,
        group: GroupSnapshot,
        dead_letters: int | None,
        shown: bool,
    ) -> Seen:
        watch = self.groups[group.name]
        holdings = self._holdings.get(group.name, {})
        if sweep.asked:
            group = with_holdings(group, holdings, self._now_ms())
        look = Look(
            self.cluster,
            group,
            sweep.standing,
            sweep.snapshot.taken_at_ms,
            sweep.asked,
            hosted={name: each.busy_since_ms for name, each in holdings.items()},
            wish=self.wanted_strategies.get(group.name),
            dead_letters=dead_letters,
            shown=shown,
        )
        try:
            seen = watch.see(look)
        finally:
            # Conclusions drawn before a fault are kept all the same.
            for turn in watch.take_turns():
                self._keeper.add_turn(group.name, turn)
        if seen.rests:
            return seen
        learned = watch.book.take_learned()
        if learned is not None:
            self._keeper.add_learned(group.name, learned)
        epoch = watch.book.current
        number = epoch.number if epoch else None
        self._keeper.add_handovers(
            [GroupHandover(group.name, number, each) for each in seen.handovers]
        )
        return seen

    def _has_document(self, name: str, watched: Collection[str]) -> bool:
        few = len(self.groups) <= DOCUMENTS_FOR_ALL
        wanted = name in self.wanted_strategies or name in self.scraped
        return few or wanted or name in watched

    def _update(self, sight: Sight, watched: bool) -> GroupUpdate:
        name = sight.group.name
        document = group_document(sight, Stamp("", 0))
        stamp = self._numbering.next(self.cluster, name)
        document["run"], document["seq"] = stamp.run, stamp.seq
        return self._published(document, watched)

    def _published(self, document: GroupState, watched: bool) -> GroupUpdate:
        watch = self.groups[document["group"]]
        before, watch.shown = watch.shown, document
        if not watched:
            return GroupUpdate(document)
        # Without an earlier document the new run id alone makes readers ask for it.
        changes = changes_between(before, document) if before else {}
        return GroupUpdate(document, update_message(document, changes))


def _stamp(document: GroupState) -> Stamp:
    return Stamp(document["run"], document["seq"])


def _checked(still_leading: bool) -> None:
    if not still_leading:
        raise LeadLostError("another collector leads")
