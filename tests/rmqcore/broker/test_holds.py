import pytest

from rmqcore.broker.holds import HeldPull, PullHolds
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import PullMessageRequestHeader


class Wakings:
    """Counts how often the table asked to be looked after."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


@pytest.fixture
def wakings() -> Wakings:
    return Wakings()


@pytest.fixture
def holds(wakings: Wakings) -> PullHolds[str]:
    return PullHolds(wakings)


def pull(
    channel: str = "a",
    queue_id: int = 0,
    *,
    offset: int = 5,
    codes: frozenset[int] | None = None,
    deadline_ms: int = 15_000,
) -> HeldPull[str]:
    header = PullMessageRequestHeader(
        consumer_group="g",
        topic="T",
        queue_id=queue_id,
        queue_offset=offset,
        max_msg_nums=32,
        sys_flag=2,
        commit_offset=0,
        suspend_timeout_millis=15_000,
        sub_version=0,
    )
    command = RemotingCommand.request(11)
    return HeldPull(channel, command, header, codes, offset, deadline_ms)


def test_an_arrival_wakes_the_pulls_of_its_queue(
    holds: PullHolds[str], wakings: Wakings
) -> None:
    first, second, other = pull("a"), pull("b"), pull("c", 1)
    for held in (first, second, other):
        holds.hold(held)
    holds.arrived("T", 0, 5, [0])
    assert (holds.take_woken(), len(holds)) == ([first, second], 1)
    assert holds.take_woken() == []
    assert wakings.count == 1


def test_a_pull_is_not_woken_for_another_tag(holds: PullHolds[str]) -> None:
    held = pull(codes=frozenset({1, 2}))
    holds.hold(held)
    holds.arrived("T", 0, 5, [3])
    assert holds.take_woken() == []
    holds.arrived("T", 0, 6, [2])
    assert holds.take_woken() == [held]


def test_a_message_before_the_offset_wakes_nobody(holds: PullHolds[str]) -> None:
    holds.hold(pull(offset=9))
    holds.arrived("T", 0, 8, [0])
    holds.arrived("U", 0, 9, [0])
    assert (holds.take_woken(), len(holds)) == ([], 1)


def test_waking_is_asked_for_once_a_round(
    holds: PullHolds[str], wakings: Wakings
) -> None:
    holds.hold(pull("a", 0))
    holds.hold(pull("b", 1))
    holds.arrived("T", 0, 5, [0])
    holds.arrived("T", 1, 5, [0])
    assert wakings.count == 1
    assert len(holds.take_woken()) == 2
    holds.hold(pull("a", 0))
    holds.arrived("T", 0, 6, [0])
    assert wakings.count == 2


def test_the_scan_wakes_what_is_late_or_passed(holds: PullHolds[str]) -> None:
    late = pull("a", 0, deadline_ms=100)
    passed = pull("b", 0, offset=4, codes=frozenset({1}), deadline_ms=999)
    waiting = pull("c", 0, deadline_ms=101)
    elsewhere = pull("d", 1, offset=0)
    for held in (late, passed, waiting, elsewhere):
        holds.hold(held)
    holds.scan(lambda topic, queue_id: 5 if queue_id == 0 else 0, 100)
    assert holds.take_woken() == [late, passed]
    assert len(holds) == 2


def test_a_lost_channel_is_not_answered(holds: PullHolds[str]) -> None:
    kept = pull("b")
    for held in (pull("a"), kept, pull("a", 1)):
        holds.hold(held)
    holds.closed("a")
    holds.arrived("T", 0, 5, [0])
    holds.arrived("T", 1, 5, [0])
    assert holds.take_woken() == [kept]
