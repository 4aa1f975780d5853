"""The broker: state and handlers behind a listening socket, and its timers.

Start: the store is recovered, the tables are read, the socket is bound, the name
servers are told; a broker whose name servers are away still starts, and tells them
later. Stop: the name servers are told, connections end, everything is written. `kill`
skips all that, as the death of the process would.

Timers, each a loop of its own over the clock: registration 30 s, delayed messages
0.1 s, held pulls 5 s, silent clients 10 s, tables to disk 5 s, log flush 0.5 s,
checkpoint 5 s, statistics 10 s, retention 60 s.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from rmqcore.errors import ChannelClosedError, StateError, StoreError
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import (
    NotifyConsumerIdsChangedRequestHeader,
    encode_header,
)
from rmqcore.protocol.ids import pack_host
from rmqcore.settled_clock import SettledClock
from rmqcore.store import MessageStore
from rmqcore.transport import (
    Channel,
    ChannelPool,
    Clock,
    Server,
    SystemClock,
    TlsMode,
    format_address,
    parse_address,
)

from .consumers import ChangeNotice
from .delays import DelayOffsets
from .delivery import deliver_due
from .flushing import LogFlusher
from .gate import Gate
from .groups import SubscriptionGroupTable
from .holds import PullHolds
from .offsets import ConsumerOffsetTable
from .persistence import TableFiles
from .processors import HANDLERS
from .processors.pulling import answer_held
from .records import own_properties
from .registration import Registration
from .settings import BrokerSettings
from .state import Answer, BrokerState
from .statistics import SAMPLE_INTERVAL_S, Statistics
from .topic_queues import TopicQueues
from .topics import TopicTable, system_topics

logger = logging.getLogger(__name__)

_DELIVERY_S: Final = 0.1
_HOLD_SCAN_S: Final = 5.0
_CLIENT_SCAN_S: Final = 10.0
_RETENTION_S: Final = 60.0


class Broker:
    """One master broker. Not reusable after `stop` or `kill`."""

    def __init__(self, settings: BrokerSettings, *, clock: Clock | None = None) -> None:
        self.settings = settings
        self._clock = clock or SystemClock()
        self._settled = SettledClock(self._clock)
        self._server = Server(
            self.handle,
            host=settings.host,
            port=settings.port,
            tls=None if settings.tls is None else settings.tls.server_context(),
            tls_mode=TlsMode.PERMISSIVE if settings.tls is None else settings.tls.mode,
            on_close=self._channel_closed,
        )
        self._pool = ChannelPool(
            tls=None if settings.tls is None else settings.tls.client_context()
        )
        self._gate = Gate(settings.users) if settings.users else None
        self._executor = ThreadPoolExecutor(1, f"store-{settings.name}")
        self._timers: list[asyncio.Task[None]] = []
        self._state: BrokerState | None = None

    @property
    def address(self) -> str:
        """The address that the broker registers; `StateError` before `start`."""
        return self.state.address

    @property
    def state(self) -> BrokerState:
        """The broker's tables; raises `StateError` before `start`."""
        if self._state is None:
            raise StateError(f"broker {self.settings.name} is not started")
        return self._state

    # Life cycle

    async def start(self) -> None:
        """Recover, bind, register.

        Raises `StoreError` when the store cannot be opened, `ConnectError` when the
        address cannot be bound.
        """
        state = self._state = self._open()
        try:
            await self._server.start()
        except BaseException:
            state.store.abandon()
            self._executor.shutdown()
            raise
        state.address = self._registration.address = self._advertised_address()
        state.store_host = pack_host(state.address)
        state.store_host_hex = state.store_host.hex().upper()
        state.store.on_arrival = state.holds.arrived
        await self._registration.register()
        self._start_timers(state)

    async def stop(self) -> None:
        """Leave the name servers, end every connection, write everything."""
        await self._stop_timers()
        await self._registration.unregister()
        await self._pool.close()
        await self._server.stop()
        # The thread must finish writing before the same files are written here.
        self._executor.shutdown()
        writes = [self._files.save_configuration]
        writes += [pending.write for pending in self._files.changed_progress()]
        for write in [*writes, self.state.store.close]:
            try:
                write()
            except (StoreError, OSError) as error:
                # On a full disk, the smaller of them may still find room.
                logger.error("broker=%s not written: %s", self.settings.name, error)  # noqa: TRY400
        self.state.store.abandon()

    async def kill(self) -> None:
        """End as if the process had died: nobody is told, nothing is written."""
        await self._stop_timers()
        await self._pool.close()
        await self._server.stop()
        self._executor.shutdown()
        self.state.store.abandon()

    # Requests

    def handle(
        self, channel: Channel, command: RemotingCommand
    ) -> Answer | Awaitable[Answer]:
        """Answer one request."""
        if self._gate is not None:
            fault = self._gate.fault(command)
            if fault is not None:
                logger.info("peer=%s refused: %s", channel.remote_address, fault)
                return command.response(ResponseCode.NO_PERMISSION, fault)
        handler = HANDLERS.get(command.code)
        if handler is None:
            return command.response(
                ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
                f" request type {command.code} not supported",
            )
        return handler(self.state, channel, command)

    # Private, in order of first use

    def _open(self) -> BrokerState:
        settings, now_ms = self.settings, self._clock.time_ms()
        topics = TopicTable(
            system_topics(
                settings.cluster,
                settings.name,
                default_queue_nums=settings.default_queue_nums,
                auto_create=settings.auto_create_topic,
            ),
            now_ms,
        )
        groups = SubscriptionGroupTable(
            auto_create=settings.auto_create_group, now_ms=now_ms
        )
        offsets, delays = ConsumerOffsetTable(), DelayOffsets()
        directory = settings.store_directory
        self._files = TableFiles(directory, topics, groups, offsets, delays)
        self._files.load()
        store = MessageStore(
            directory,
            segment_bytes=settings.segment_bytes,
            delay_levels_ms=settings.delay_levels_ms,
        )
        self._flusher = LogFlusher(store, self._executor)
        self._registration = Registration(settings, topics, self._pool)
        return BrokerState(
            settings,
            self._clock,
            store,
            topics,
            groups,
            offsets,
            delays,
            holds=PullHolds(self._wake_soon),
            statistics=Statistics(now_ms),
            notify=self._notify,
            save_configuration=self._files.save_configuration,
            topics_changed=self._topics_changed,
            register_now=self._registration.register,
            readable_queues=TopicQueues(settings, topics, self._pool).readable,
            wait_flushed=self._flusher.wait_for,
            own_properties=own_properties(settings),
            started_ms=now_ms,
        )

    def _advertised_address(self) -> str:
        host, port = parse_address(self._server.address)
        return format_address(self.settings.advertised_host or host, port)

    def _start_timers(self, state: BrokerState) -> None:
        settings = self.settings
        timers: list[tuple[float, Callable[[], Awaitable[object] | None]]] = [
            (settings.register_interval_s, self._registration.register),
            (_DELIVERY_S, self._deliver),
            (_HOLD_SCAN_S, self._scan_holds),
            (_CLIENT_SCAN_S, self._expire_clients),
            (settings.persist_interval_s, self._persist),
            (settings.flush_interval_s, self._flusher.flush),
            (settings.checkpoint_interval_s, self._checkpoint),
            (SAMPLE_INTERVAL_S, self._sample),
            (_RETENTION_S, self._expire_files),
        ]
        self._timers = [
            asyncio.create_task(self._every(seconds, work)) for seconds, work in timers
        ]
        self._timers.append(asyncio.create_task(self._registration.run()))

    async def _every(
        self, seconds: float, work: Callable[[], Awaitable[object] | None]
    ) -> None:
        told = ""
        while True:
            await self._clock.sleep(seconds)
            try:
                result = work()
                if result is not None:
                    await result
            except (StoreError, OSError) as error:
                # The disk may have room again next time; clients are told meanwhile.
                if str(error) != told:
                    told = str(error)
                    logger.error("broker=%s %s", self.settings.name, told)  # noqa: TRY400
            else:
                told = ""

    async def _stop_timers(self) -> None:
        for timer in self._timers:
            timer.cancel()
        await asyncio.gather(*self._timers, return_exceptions=True)
        self._timers = []

    def _topics_changed(self) -> None:
        self._files.save_configuration()
        self._registration.soon()

    def _wake_soon(self) -> None:
        # Not at once: a batch wakes a pull with its first message, and the pull should
        # find all of them.
        asyncio.get_running_loop().call_soon(self._answer_woken)

    def _answer_woken(self) -> None:
        for held in self.state.holds.take_woken():
            answer_held(self.state, held)

    def _notify(self, notice: ChangeNotice[Channel] | None) -> None:
        if notice is None or not self.state.settings.notify_member_changes:
            return
        header = NotifyConsumerIdsChangedRequestHeader(consumer_group=notice.group)
        ext_fields = encode_header(header)
        for channel in notice.channels:
            command = RemotingCommand.request(
                RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, ext_fields, oneway=True
            )
            with contextlib.suppress(ChannelClosedError):
                channel.send_oneway(command)

    def _channel_closed(self, channel: Channel) -> None:
        state = self.state
        state.holds.closed(channel)
        state.producers.close(channel)
        for notice in state.consumers.close(channel):
            config = state.groups.get(notice.group)
            if config is None or config.notify_consumer_ids_changed_enable:
                self._notify(notice)

    def _deliver(self) -> None:
        deliver_due(self.state, self._clock.time_ms())

    def _scan_holds(self) -> None:
        state = self.state
        state.holds.scan(state.store.max_offset, self._clock.time_ms())

    async def _expire_clients(self) -> None:
        now_ms = self._clock.time_ms()
        state = self.state
        silent = {*state.consumers.expired(now_ms), *state.producers.expired(now_ms)}
        for channel in silent:
            logger.warning("client=%s silent for too long", channel.remote_address)
            await channel.close()

    async def _persist(self) -> None:
        loop = asyncio.get_running_loop()
        self._files.save_configuration()
        try:
            for pending in self._files.changed_progress():
                await loop.run_in_executor(self._executor, pending.write)
        except BaseException:
            # Even when cancelled: what was not written must count as changed.
            self._files.retry_progress()
            raise

    async def _checkpoint(self) -> None:
        store = self.state.store
        work = store.begin_checkpoint()
        if work is None:
            return
        done = False
        try:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._executor, work.run)
            done = True
        finally:
            store.end_checkpoint(work, done=done)

    def _sample(self) -> None:
        self.state.statistics.sample(self._clock.time_ms())

    async def _expire_files(self) -> None:
        settings = self.state.settings
        # Until the time can be trusted, nothing is old; the log's size still counts.
        now_ms = self._settled.now_ms() or 0
        removed = self.state.store.expire(
            now_ms, settings.keep_ms, settings.max_log_bytes
        )
        if removed:
            logger.info("broker=%s expired log files: %s", settings.name, removed)
            await self._checkpoint()
