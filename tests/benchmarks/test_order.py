"""Order, losses and repeats, from deliveries made by hand."""

from __future__ import annotations

from benchmarks.order import Delivery, judge

SENT = {"k0": [0, 2, 4], "k1": [1, 3]}


def in_order() -> list[tuple[int, Delivery]]:
    return [(n, Delivery(10 * n, "a", n)) for n in range(5)]


def test_what_comes_in_order_is_fine() -> None:
    judgement = judge(in_order(), SENT)
    assert (judgement.delivered, judgement.repeated) == (5, 0)
    assert (judgement.lost, judgement.broken) == ([], [])
    assert judgement.longest_wait_ms == 20


def test_a_message_that_never_came_is_lost() -> None:
    judgement = judge([d for d in in_order() if d[0] != 2], SENT)
    assert judgement.lost == [2]
    assert judgement.longest_wait_ms == 40


def test_a_repeat_breaks_nothing() -> None:
    again = (0, Delivery(99, "b", 0))
    judgement = judge([*in_order(), again], SENT)
    assert (judgement.repeated, judgement.broken) == (1, [])


def test_a_later_message_that_came_first_breaks_the_order() -> None:
    swapped = [(0, Delivery(50, "b", 0)), *in_order()[1:]]
    assert judge(swapped, SENT).broken == [(0, 2)]


def test_lines_of_one_member_count_within_a_millisecond() -> None:
    same = [
        (0, Delivery(5, "a", 1)),
        (2, Delivery(5, "a", 0)),
        (4, Delivery(6, "a", 2)),
    ]
    assert judge(same, {"k": [0, 2, 4]}).broken == [(0, 2)]
    other = [
        (0, Delivery(5, "a", 1)),
        (2, Delivery(5, "b", 0)),
        (4, Delivery(6, "b", 2)),
    ]
    assert judge(other, {"k": [0, 2, 4]}).broken == []


def test_keys_are_judged_apart() -> None:
    late = [(n, Delivery(10 * n if n % 2 else 100 + n, "a", n)) for n in range(5)]
    assert judge(late, SENT).broken == []
