"""Groups with one fault each, and all that is to be said of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from rmqcore.model import ConsumeType
from rmqcore.model.snapshot import GroupKind, HeldQueue

from .plays import NOW, Actor, Play, queues


@dataclass(frozen=True)
class Fault:
    """A scene, and the findings (key → level) it must end with: these and no others."""

    play: Callable[[], Play]
    owed: dict[str, str]

    @property
    def name(self) -> str:
        return self.play.__name__


def _pair(count: int = 4, **changes: object) -> Play:
    play = Play(count)
    play.join("h1@a", "h2@b", **changes)
    return play.divide()


# Who is in the group


def shared_client_id() -> Play:
    """Both processes take the first half, as the broker relays one's word for both."""
    play = Play()
    (actor,) = play.join("h1@same")
    actor.holds = list(play.keys[:2])
    play.actors.append(replace(actor))
    return play.pass_time(10, sent=50, consumed={0: 50, 1: 50})


def shared_client_id_broadcasting() -> Play:
    play = Play(kind=GroupKind.BROADCASTING)
    (actor,) = play.join("h1@DEFAULT")
    actor.holds = list(play.keys)
    play.actors.append(replace(actor))
    return play.pass_time(10)


def different_tags() -> Play:
    play = Play()
    play.filtered_by = {"orders": "blue"}
    play.join("h1@a", reads={"orders": "red"})
    play.join("h2@b", reads={"orders": "blue"})
    return play.divide().pass_time(5)


def different_tags_broadcasting() -> Play:
    play = Play(kind=GroupKind.BROADCASTING)
    play.join("h1@a", reads={"orders": "red"})
    play.join("h2@b", reads={"orders": "blue"})
    for actor in play.actors:
        actor.holds = list(play.keys)
    return play.pass_time(5)


def different_topics() -> Play:
    play = Play([*queues(4), *queues(4, "invoices")])
    (reader,) = play.join("h1@a", reads={"invoices": "*"})
    (other,) = play.join("h2@b", reads={"orders": "*"})
    reader.holds = queues(2, "invoices")
    other.holds = queues(4)[2:]
    return play.pass_time(30, every=5, sent=10, consumed={0: 10, 1: 10})


def different_strategies() -> Play:
    play = _pair()
    first, second = play.actors
    second.strategy = "AVG_BY_CIRCLE"
    first.holds, second.holds = play.keys[:2], [play.keys[1], play.keys[3]]
    return play.pass_time(10)


def strategies_change_without_harm() -> Play:
    play = _pair(2)
    play.actors[1].strategy = "AVG_BY_CIRCLE"
    return play.pass_time(10)


def more_members_than_queues() -> Play:
    play = Play(2)
    play.join("h1@a", "h2@b", "h3@c")
    return play.divide().pass_time(10)


def idle_but_for_the_retry_topic() -> Play:
    play = Play(1)
    play.join("h1@a", "h2@b")
    play.divide()
    play.actors[1].holds = [("%RETRY%g", "a", 0)]
    return play.pass_time(10)


def left_out_by_the_strategy() -> Play:
    play = Play(8)
    play.join("h1@a", "h2@b", "h3@c", strategy="CONSISTENT_HASH")
    play.actors[0].holds = play.keys[:5]
    play.actors[1].holds = play.keys[5:]
    return play.pass_time(10)


def members_come_and_go() -> Play:
    play = _pair()
    play.pass_time(10)
    for number in range(9):
        play.join(f"h3@{number}")
        play.divide().pass_time(30, every=5, sent=10)
        play.leave(f"h3@{number}")
        play.divide().pass_time(30, every=5, sent=10)
    return play


def queues_change_hands() -> Play:
    play = _pair()
    first, second = play.actors
    first.holds, second.holds = play.keys[:2], play.keys[2:]
    play.pass_time(10)
    for _ in range(3):
        first.holds, second.holds = play.keys[2:], play.keys[:2]
        play.pass_time(20, every=5)
        first.holds, second.holds = play.keys[:2], play.keys[2:]
        play.pass_time(20, every=5)
    return play


def a_topic_given_up() -> Play:
    """Commits rest below the minimum, lag grows: that is no fault of the group."""
    play = Play([*queues(4), *queues(4, "invoices")])
    play.join("h1@a", "h2@b", reads={"orders": "*"})
    play.divide()
    for actor in play.actors:
        actor.holds = [key for key in actor.holds or () if key[0] == "orders"]
    play.done[:4], play.low[:4] = [100] * 4, [600] * 4
    return play.pass_time(
        200, every=5, sent=50, consumed=dict.fromkeys(range(4, 8), 50)
    )


# Who owns what


def a_queue_without_owner() -> Play:
    play = _pair()
    play.actors[1].holds = play.keys[2:3]
    return play.pass_time(10, sent=10, consumed={0: 10, 1: 10, 2: 10})


def a_queue_owned_twice() -> Play:
    play = _pair()
    play.actors[0].holds = play.keys[:3]
    return play.pass_time(10, sent=10)


def waiting_for_locks() -> Play:
    play = _pair(orderly=True)
    play.pass_time(10, sent=10)
    play.leave("h2@b")
    return play.pass_time(30, sent=10, consumed={0: 10, 1: 10})


def waiting_for_locks_too_long() -> Play:
    play = waiting_for_locks()
    return play.pass_time(70, sent=10, consumed={0: 10, 1: 10})


def held_without_lock() -> Play:
    play = _pair(orderly=True)
    play.actors[1].held = {key: HeldQueue(locked=False) for key in play.keys}
    return play.pass_time(20)


# How it fares


def messages_removed_unread() -> Play:
    play = _pair()
    play.done, play.low = [400] * 4, [900] * 4
    return play.pass_time(10)


def messages_of_nobody_removed() -> Play:
    play = Play()
    play.done, play.low = [400] * 4, [900] * 4
    return play.pass_time(10)


def one_message_hangs() -> Play:
    play = Play(1, end=2_100)
    (actor,) = play.join("h1@a")
    play.divide()
    play.done, play.pulled = [10], [2_042]
    actor.held[play.keys[0]] = HeldQueue(committed=10, cached=1, first=10, last=10)
    return play.pass_time(150, every=5)


def one_message_hangs_and_brokers_do_not_tell_what_was_pulled() -> Play:
    play = one_message_hangs()
    play.pulled = [None]
    (actor,) = play.actors
    actor.held[play.keys[0]] = HeldQueue(committed=10, cached=3, first=10, last=1_500)
    return play.pass_time(60, every=5)


def all_members_left() -> Play:
    play = _pair()
    play.pass_time(10, sent=50)
    play.leave("h1@a", "h2@b")
    return play.pass_time(90, every=5, sent=50, consumed=0)


def a_member_does_not_pull() -> Play:
    play = _pair()
    play.pass_time(1)
    play.actors[1].pulls = False
    return play.pass_time(150, every=5, sent=10, consumed={0: 10, 1: 10})


def offsets_were_reset() -> Play:
    play = _pair()
    play.pass_time(60, every=5)
    play.done = [100] * 4
    return play.pass_time(60, every=5, consumed=2)


def the_listener_hangs() -> Play:
    play = _pair()
    return play.pass_time(180, every=5, sent=10, consumed=0)


def the_listener_hangs_with_messages_in_hand() -> Play:
    """Nothing later is done: that is a hanging listener, not one blocking message."""
    play = Play(1, end=5_000)
    (actor,) = play.join("h1@a")
    play.divide()
    play.done, play.pulled = [1_000], [2_000]
    actor.held[play.keys[0]] = HeldQueue(
        committed=1_000, cached=1_000, first=1_000, last=1_999
    )
    return play.pass_time(180, every=5)


def too_slow() -> Play:
    play = _pair()
    play.done = [600] * 4
    return play.pass_time(200, every=5, sent=100, consumed=90)


def too_slow_by_pop() -> Play:
    play = Play(kind=GroupKind.SHARED_POP, consume_type=ConsumeType.POP)
    play.join("h1@a", "h2@b")
    play.done = [600] * 4
    return play.pass_time(200, every=5, sent=100, consumed=90)


def one_queue_is_sent_more() -> Play:
    play = _pair(8)
    play.done[2] = 0
    return play.pass_time(
        100,
        every=5,
        sent=dict.fromkeys(range(8), 10) | {2: 300},
        consumed=dict.fromkeys(range(8), 10) | {2: 300},
    )


def only_one_queue_lags() -> Play:
    play = _pair(8)
    play.high = [20_000] * 8
    play.done = [20_000] * 8
    play.done[5] = 12_000
    return play.pass_time(100, every=5, sent=50)


def messages_fail() -> Play:
    play = _pair()
    for _ in range(10):
        play.sent_back += 30
        play.pass_time(10, every=5, sent=20)
    return play


def messages_given_up() -> Play:
    play = _pair()
    play.pass_time(10)
    play.dead_letters = 3
    return play.pass_time(10)


# Broadcasting


def _broadcasting() -> Play:
    play = Play(kind=GroupKind.BROADCASTING)
    (actor,) = play.join("h1@a")
    _place(play, actor, 500)
    play.pass_time(10)
    play.leave("h1@a")
    return play.pass_time(10)


def _place(play: Play, actor: Actor, committed: int | None) -> None:
    actor.holds = list(play.keys)
    actor.held = {key: HeldQueue(committed=committed) for key in play.keys}


def file_lost() -> Play:
    play = _broadcasting()
    (back,) = play.join("h1@a", started_ms=NOW + 20_000)
    play.pass_time(2)
    _place(play, back, None)
    return play.pass_time(10)


def file_older() -> Play:
    play = _broadcasting()
    (back,) = play.join("h1@a", started_ms=NOW + 20_000)
    _place(play, back, 480)
    return play.pass_time(10)


def file_on_another_host() -> Play:
    play = _broadcasting()
    (back,) = play.join("h9@a", started_ms=NOW + 20_000)
    play.pass_time(2)
    _place(play, back, None)
    return play.pass_time(10)


def broadcasting() -> Play:
    play = Play(kind=GroupKind.BROADCASTING)
    play.done = [0] * 4
    for actor in play.join("h1@a", "h2@b"):
        _place(play, actor, 1_000)
    return play.pass_time(10)


_PLAIN: Final = {"broadcasting": "info"}

FAULTY: Final = (
    Fault(shared_client_id, {"shared_client_id": "crit"}),
    Fault(shared_client_id_broadcasting, {"shared_client_id": "crit", **_PLAIN}),
    Fault(different_tags, {"inconsistent_subscriptions": "crit"}),
    Fault(
        different_tags_broadcasting, {"inconsistent_subscriptions": "crit", **_PLAIN}
    ),
    Fault(different_topics, {"different_topics": "crit"}),
    Fault(different_strategies, {"mixed_strategies": "crit"}),
    Fault(strategies_change_without_harm, {"mixed_strategies": "warn"}),
    Fault(more_members_than_queues, {"idle_members": "info"}),
    Fault(idle_but_for_the_retry_topic, {"idle_members": "info"}),
    Fault(left_out_by_the_strategy, {"idle_members": "info"}),
    Fault(a_topic_given_up, {"given_up_topics": "info"}),
    Fault(members_come_and_go, {"flapping": "warn"}),
    Fault(queues_change_hands, {"flapping": "warn"}),
    Fault(a_queue_without_owner, {"unowned_queues": "crit"}),
    Fault(a_queue_owned_twice, {"owned_twice": "crit"}),
    Fault(waiting_for_locks, {"lock_expired": "warn"}),
    Fault(waiting_for_locks_too_long, {"unowned_queues": "crit"}),
    Fault(held_without_lock, {"lock_lost": "crit"}),
    Fault(messages_removed_unread, {"lost_messages": "crit"}),
    Fault(messages_of_nobody_removed, {"lost_messages": "info"}),
    Fault(one_message_hangs, {"stuck_commit": "warn"}),
    Fault(
        one_message_hangs_and_brokers_do_not_tell_what_was_pulled,
        {"stuck_commit": "warn"},
    ),
    Fault(all_members_left, {"gone": "crit"}),
    Fault(a_member_does_not_pull, {"stopped": "crit"}),
    Fault(offsets_were_reset, {"rewound": "warn"}),
    Fault(the_listener_hangs, {"stalled": "crit"}),
    Fault(the_listener_hangs_with_messages_in_hand, {"stalled": "crit"}),
    Fault(too_slow, {"losing_ground": "warn"}),
    Fault(too_slow_by_pop, {"losing_ground": "warn"}),
    Fault(one_queue_is_sent_more, {"hot_queue": "warn"}),
    Fault(only_one_queue_lags, {"hot_queue": "warn"}),
    Fault(messages_fail, {"retries": "warn"}),
    Fault(messages_given_up, {"dead_letters": "warn"}),
    Fault(file_lost, {"offsets_file_lost": "warn", **_PLAIN}),
    Fault(file_older, {"offsets_file_lost": "warn", **_PLAIN}),
    Fault(file_on_another_host, {"offsets_file_lost": "warn", **_PLAIN}),
    Fault(broadcasting, _PLAIN),
)
