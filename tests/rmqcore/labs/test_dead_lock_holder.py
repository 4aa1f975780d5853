from rmqcore.labs.dead_lock_holder import _out_of_order
from rmqcore.labs.results import Delivery
from rmqcore.model import MessageQueue

from .watching import watched


async def test_queues_wait_for_lock_expiry_and_order_holds() -> None:
    result, _ = await watched("F7")
    evidence = result.evidence
    joined, waiting, moved = evidence.divisions
    assert joined.by_member == {"stays": [2, 3], "dies": [0, 1]}
    assert waiting.by_member == {"stays": [2, 3]}
    assert [queue.queue_id for queue in waiting.unowned] == [0, 1]
    assert moved.by_member == {"stays": [0, 1, 2, 3]}
    assert result.since_renewal_ms >= 60_000
    assert result.since_death_ms <= result.since_renewal_ms
    assert evidence.produced == len(evidence.times_consumed) == 8 * 6
    assert set(result.repeated) <= set(evidence.consumed_by("dies"))
    assert result.out_of_order == ()
    assert evidence.progress[-1].committed == 48
    assert result.seen
    assert result.finding == "lock_expired"


def test_a_later_message_delivered_first_is_out_of_order() -> None:
    queue = MessageQueue("T", "b", 0)
    deliveries = [
        Delivery("m", "c", queue, 0, body, (body[0],), "", 0, 0)
        for body in ("A0", "B0", "A2", "A0", "A1", "B1")
    ]
    assert [*_out_of_order(deliveries)] == ["A2", "A1"]
