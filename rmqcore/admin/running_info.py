"""Asks members what they are doing (307), without tying a broker up.

The broker relays the question to the client and holds one of its admin threads until
the client answers, for up to ten seconds. So at most four questions are open per
broker, each waits only a short time, and a client that did not answer is left alone
for a while. A member listed by several brokers is asked through one of them; if it did
not answer, it is asked through another one next, since one connection to it may be
dead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rmqcore.errors import RmqError
from rmqcore.model.columns import Reason
from rmqcore.protocol.bodies import (
    ConsumerConnection,
    ConsumerRunningInfo,
    decode_consumer_running_info,
)
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport.clock import Clock
from rmqcore.transport.pool import ChannelPool
from rmqcore.transport.responses import raise_for_code

from .breaker import Breakers
from .failures import reason_for
from .members import MemberReport
from .sweep import BrokerAnswers, Question

Member = tuple[str, str]
"""Group and client id."""

PER_BROKER: Final = 4


class RunningInfos:
    """Asks for running infos and remembers the clients that did not answer."""

    def __init__(self, pool: ChannelPool, clock: Clock, timeout: float) -> None:
        self._pool = pool
        self._clock = clock
        self._timeout = timeout
        self._breakers: Breakers[Member] = Breakers()
        self._silent_through: dict[Member, str] = {}

    async def ask(
        self, question: Question, answers: Sequence[BrokerAnswers]
    ) -> dict[Member, MemberReport]:
        """Return a report for each member that the question asks about."""
        through = members_by_broker(question, answers, self._silent_through)
        asked = frozenset(member for members in through.values() for member in members)
        self._breakers.forget_all_but(asked)
        for member in self._silent_through.keys() - asked:
            del self._silent_through[member]
        reports: dict[Member, MemberReport] = {}
        await asyncio.gather(
            *(
                self._ask_through(address, members, reports)
                for address, members in through.items()
            )
        )
        return reports

    async def _ask_through(
        self,
        address: str,
        members: Iterable[Member],
        reports: dict[Member, MemberReport],
    ) -> None:
        places = asyncio.Semaphore(PER_BROKER)

        async def ask_one(member: Member) -> None:
            async with places:
                reports[member] = await self._report(address, member)

        await asyncio.gather(*(ask_one(member) for member in members))

    async def _report(self, address: str, member: Member) -> MemberReport:
        asked_at_ms = self._clock.time_ms()
        why = self._breakers.blocked(member, self._clock.monotonic())
        if why is not None:
            return MemberReport(_reason(why), asked_at_ms, None)
        try:
            info = await self._ask_client(address, member)
        except RmqError as error:
            self._breakers.failed(member, self._clock.monotonic(), error)
            self._silent_through[member] = address
            return MemberReport(_reason(error), asked_at_ms, None)
        self._breakers.succeeded(member)
        return MemberReport(info, asked_at_ms, self._clock.time_ms())

    async def _ask_client(self, address: str, member: Member) -> ConsumerRunningInfo:
        group, client_id = member
        request = RemotingCommand.request(
            RequestCode.GET_CONSUMER_RUNNING_INFO,
            {"consumerGroup": group, "clientId": client_id, "jstackEnable": "false"},
        )
        answer = await self._pool.request(address, request, self._timeout)
        raise_for_code(answer, request_code=request.code, address=address)
        return decode_consumer_running_info(answer.body)


def members_by_broker(
    question: Question,
    answers: Sequence[BrokerAnswers],
    silent_through: Mapping[Member, str],
) -> Mapping[str, Sequence[Member]]:
    """Return the members to ask through each broker's address, evenly spread.

    The broker through which a member last failed to answer is used only where no other
    lists the member.
    """
    listed: dict[Member, list[str]] = {}
    for answer in answers:
        if answer.address is None or answer.error is not None:
            continue
        for group, members in answer.members.items():
            if not isinstance(members, ConsumerConnection) or not _asks(
                question, group
            ):
                continue
            for client in members.connections:
                places = listed.setdefault((group, client.client_id), [])
                if answer.address not in places:
                    places.append(answer.address)
    through: dict[str, list[Member]] = {}
    for member, places in listed.items():
        avoided = silent_through.get(member)
        fewest = min(
            places,
            key=lambda address: (address == avoided, len(through.get(address, ()))),
        )
        through.setdefault(fewest, []).append(member)
    return through


def _asks(question: Question, group: str) -> bool:
    asked = question.running_info
    return asked if isinstance(asked, bool) else group in asked


def _reason(error: Exception) -> Reason:
    reason = reason_for(error)
    # The broker answers with an error when the client does not answer it.
    return Reason.NO_ANSWER if reason is Reason.REFUSED else reason
