"""Groups that fare well, each in a way that a careless rule would call a fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from rmqcore.model import ConsumeType
from rmqcore.model.snapshot import GroupKind, HeldQueue

from .plays import NOW, Actor, Play, queues


def at_rest() -> Play:
    play = Play()
    play.join("h1@a", "h2@b")
    return play.divide().pass_time(30)


def busy() -> Play:
    play = Play(8)
    play.join("h1@a", "h2@b", "h3@c")
    return play.divide().pass_time(200, sent=500)


def one_against_five_messages() -> Play:
    play = Play(2)
    play.join("h1@a", "h2@b")
    play.divide()
    play.done = [999, 995]
    return play.pass_time(200, every=5)


def one_queue_with_a_little_lag() -> Play:
    play = Play(8)
    play.join("h1@a")
    play.divide()
    play.done[3] = 920
    return play.pass_time(200, every=5)


def a_burst_worked_off() -> Play:
    play = Play()
    play.join("h1@a", "h2@b")
    play.divide().pass_time(100, every=5)
    play.high = [high + 5_000 for high in play.high if high is not None]
    return play.pass_time(100, every=5, sent=10, consumed=70)


def high_lag_that_stays() -> Play:
    play = Play(end=100_000)
    play.join("h1@a", "h2@b")
    play.divide()
    play.done = [80_000, 79_000, 81_000, 80_500]
    return play.pass_time(200, every=5, sent=100)


def uneven_lag() -> Play:
    play = Play(end=100_000)
    play.join("h1@a", "h2@b")
    play.divide()
    play.done = [99_000, 98_000, 97_000, 97_500]
    return play.pass_time(200, every=5, sent=100)


def a_member_joins() -> Play:
    play = Play()
    play.join("h1@a")
    play.divide().pass_time(10, sent=50)
    play.join("h2@b")
    play.pass_time(1, sent=50)
    first, second = play.actors
    # Between two looks one holds both parts, then neither holds the second.
    second.holds = list(play.keys[2:])
    play.pass_time(1, sent=50)
    first.holds, second.holds = list(play.keys[:2]), []
    play.pass_time(1, sent=50)
    return play.divide().pass_time(30, sent=50)


def a_new_release() -> Play:
    play = Play(16)
    play.join(*(f"h{n}@old{n}" for n in range(5)))
    play.divide().pass_time(700, every=10, sent=20)
    for number in range(5):
        play.join(f"h{number}@new{number}")
        play.divide().pass_time(20, sent=20)
        play.leave(f"h{number}@old{number}")
        play.divide().pass_time(20, sent=20)
    return play.pass_time(60, every=5, sent=20)


def a_restart_of_all() -> Play:
    play = Play()
    play.join("h1@a", "h2@b")
    play.divide().pass_time(20, sent=100)
    play.leave("h1@a", "h2@b")
    play.pass_time(30, sent=100, consumed=0)
    play.join("h1@a", "h2@b")
    return play.divide().pass_time(60, sent=100, consumed=300)


def pop() -> Play:
    play = Play(2, kind=GroupKind.SHARED_POP, consume_type=ConsumeType.POP)
    play.join("h1@a", "h2@b", "h3@c", "h4@d")
    return play.pass_time(150, every=5, sent=100)


def grpc() -> Play:
    play = Play(2, kind=GroupKind.SHARED_POP)
    play.join("h1@1@0@1zyd", "h2@1@0@1zye", "h3@7@0@1zyf", holds=None, reads=None)
    return play.pass_time(150, every=5, sent=100)


def assigned_by_hand() -> Play:
    play = Play(kind=GroupKind.ASSIGNED_BY_HAND, consume_type=ConsumeType.PULL)
    play.join("h1@a", reads={})
    play.actors[0].holds = play.keys[:1]
    play.done, play.low = [0] * 4, [500] * 4
    return play.pass_time(200, every=5, sent=100, consumed=0)


def old_pull_consumers() -> Play:
    play = Play(consume_type=ConsumeType.PULL)
    play.join("h1@a", "h2@b", holds=None, strategy=None)
    play.done = [0] * 4
    return play.pass_time(200, every=5, sent=100, consumed=0)


def lite_pull_seeks_back() -> Play:
    play = Play(consume_type=ConsumeType.PULL)
    play.join("h1@a", "h2@b")
    play.divide().pass_time(60, every=5)
    play.done = [0] * 4
    return play.pass_time(60, every=5)


def static_topic() -> Play:
    play = Play()
    play.join("h1@a", "h2@b")
    first, second = play.actors
    first.holds = queues(2, broker="__syslo__global__")
    second.holds = [("orders", "__syslo__global__", n) for n in (2, 3)]
    return play.pass_time(60, sent=100)


def one_client_of_two_brokers() -> Play:
    play = Play([*queues(4), *queues(4, broker="b")])
    play.join("h1@a", "h2@b", brokers=("a", "b"))
    return play.divide().pass_time(60, sent=100)


def abandoned_with_lag() -> Play:
    play = Play()
    play.done = [400] * 4
    return play.pass_time(200, every=10, sent=50, consumed=0)


def nothing_committed_yet() -> Play:
    play = Play()
    play.join("h1@a")
    play.divide()
    play.done = [None] * 4
    return play.pass_time(200, every=5, sent=100)


def orderly_with_its_locks() -> Play:
    play = Play()
    play.join("h1@a", "h2@b", orderly=True)
    return play.divide().pass_time(150, sent=100)


def several_topics() -> Play:
    play = Play([*queues(4), *queues(2, "invoices")])
    play.join("h1@a", "h2@b")
    return play.divide().pass_time(60, sent=100)


def tags_written_in_another_order() -> Play:
    play = Play()
    play.join("h1@a", reads={"orders": "red || blue"})
    play.join("h2@b", reads={"orders": "blue||red"})
    return play.divide().pass_time(30)


def all_tags_written_two_ways() -> Play:
    play = Play()
    play.join("h1@a", reads={"orders": "*"})
    play.join("h2@b", reads={"orders": ""})
    return play.divide().pass_time(30)


def a_broker_is_silent() -> Play:
    play = Play()
    play.join("h1@a", "h2@b")
    play.divide().pass_time(60, every=5, sent=100)
    high, done = list(play.high), list(play.done)
    play.high = play.done = [None] * 4
    play.pass_time(60, every=5)
    play.high, play.done = high, done
    return play.pass_time(60, every=5, sent=100)


def a_member_does_not_answer() -> Play:
    play = Play()
    play.join("h1@a")
    play.divide()
    play.join("h2@b", holds=None, reads=None, strategy=None)
    return play.pass_time(60, sent=100)


def a_few_retries() -> Play:
    play = Play()
    play.join("h1@a")
    play.divide()
    for _ in range(15):
        play.sent_back += 1
        play.pass_time(10, every=5, sent=100)
    return play


def one_failure_in_a_thousand() -> Play:
    play = Play()
    play.join("h1@a")
    play.divide()
    for _ in range(15):
        play.sent_back += 8
        play.pass_time(10, every=5, sent=200)
    return play


def old_dead_letters() -> Play:
    play = Play()
    play.join("h1@a")
    play.dead_letters = 40
    return play.divide().pass_time(60, every=5, sent=100)


def a_long_task() -> Play:
    play = Play(1)
    (actor,) = play.join("h1@a")
    play.divide()
    play.high, play.done, play.pulled = [40], [10], [40]
    actor.held[play.keys[0]] = HeldQueue(committed=10, cached=20, first=10, last=39)
    return play.pass_time(150, every=5)


def a_slow_batch() -> Play:
    play = Play(1)
    (actor,) = play.join("h1@a")
    play.divide()
    play.high, play.done, play.pulled = [600], [510], [600]
    actor.held[play.keys[0]] = HeldQueue(committed=510, cached=90, first=510, last=599)
    return play.pass_time(150, every=5)


def locks_on_the_way() -> Play:
    play = Play()
    play.join("h1@a", orderly=True)
    play.divide().pass_time(5)
    for actor in play.actors:
        actor.held = {key: HeldQueue(locked=False) for key in play.keys}
    play.pass_time(5)
    for actor in play.actors:
        actor.held = {}
    return play.pass_time(20)


def a_small_step_back() -> Play:
    play = Play()
    play.join("h1@a")
    play.divide()
    play.high = [3_000] * 4
    play.pass_time(60, every=5)
    play.done = [960] * 4
    return play.pass_time(60, every=5, consumed=20)


def a_reset_made_good() -> Play:
    play = Play()
    play.join("h1@a")
    play.divide().pass_time(60, every=5)
    play.done = [400] * 4
    play.now += 1_000
    # Consumed again before anybody looks twice.
    play.done = [1_000] * 4
    return play.pass_time(60, every=5)


def connection_replaced() -> Play:
    play = Play()
    play.join("h1@a", "h2@b")
    play.divide().pass_time(5)
    play.actors.append(replace(play.actors[0]))
    play.pass_time(1)
    play.actors.pop()
    return play.pass_time(20)


def old_messages_removed() -> Play:
    play = Play()
    play.join("h1@a")
    play.low = [1_000] * 4
    return play.divide().pass_time(30)


def just_started_with_lag() -> Play:
    play = Play(end=50_000)
    play.join("h1@a")
    play.divide()
    play.done = [10_000, 11_000, 10_500, 10_200]
    return play.pass_time(40, every=5, sent=100, consumed=0)


def spare_member_leaves_again() -> Play:
    play = Play(2)
    play.join("h1@a", "h2@b")
    play.divide().pass_time(10)
    play.join("h3@c")
    play.divide().pass_time(4)
    play.leave("h3@c")
    return play.divide().pass_time(20)


HEALTHY: Final[tuple[Callable[[], Play], ...]] = (
    at_rest,
    busy,
    one_against_five_messages,
    one_queue_with_a_little_lag,
    a_burst_worked_off,
    high_lag_that_stays,
    uneven_lag,
    a_member_joins,
    a_new_release,
    a_restart_of_all,
    pop,
    grpc,
    assigned_by_hand,
    old_pull_consumers,
    lite_pull_seeks_back,
    static_topic,
    one_client_of_two_brokers,
    abandoned_with_lag,
    nothing_committed_yet,
    orderly_with_its_locks,
    several_topics,
    tags_written_in_another_order,
    all_tags_written_two_ways,
    a_broker_is_silent,
    a_member_does_not_answer,
    a_few_retries,
    one_failure_in_a_thousand,
    old_dead_letters,
    a_long_task,
    a_slow_batch,
    locks_on_the_way,
    a_small_step_back,
    a_reset_made_good,
    connection_replaced,
    old_messages_removed,
    just_started_with_lag,
    spare_member_leaves_again,
)


def broadcasting_with_its_files() -> Play:
    """Return a broadcasting group whose members restart and find their places."""
    play = Play(kind=GroupKind.BROADCASTING)
    play.done = [0] * 4
    for actor in play.join("h1@a", "h2@b"):
        _everything(play, actor, 500)
    play.pass_time(30)
    play.leave("h1@a")
    play.pass_time(20)
    (back,) = play.join("h1@a", started_ms=NOW + 50_000)
    play.pass_time(1)
    _everything(play, back, 500)
    play.pass_time(5)
    _everything(play, back, 900)
    return play.pass_time(30)


def _everything(play: Play, actor: Actor, committed: int) -> None:
    actor.holds = list(play.keys)
    actor.held = {key: HeldQueue(committed=committed) for key in play.keys}
