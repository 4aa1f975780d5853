from __future__ import annotations

from rmqcore.admin.breaker import Breakers

WHY = RuntimeError("busy")


def test_a_peer_without_failures_may_be_asked() -> None:
    breakers: Breakers[str] = Breakers()
    assert breakers.blocked("b", 0) is None
    assert len(breakers) == 0


def test_after_a_failure_a_peer_is_left_alone_for_a_pause() -> None:
    breakers: Breakers[str] = Breakers(first_pause_s=5)
    breakers.failed("b", 100, WHY)
    assert breakers.blocked("b", 104.9) is WHY
    assert breakers.blocked("other", 104.9) is None
    assert breakers.blocked("b", 105) is None


def test_only_one_caller_tries_after_the_pause() -> None:
    breakers: Breakers[str] = Breakers(first_pause_s=5)
    breakers.failed("b", 0, WHY)
    assert breakers.blocked("b", 6) is None
    assert breakers.blocked("b", 6) is WHY


def test_a_success_closes_the_breaker() -> None:
    breakers: Breakers[str] = Breakers(first_pause_s=5)
    breakers.failed("b", 0, WHY)
    breakers.succeeded("b")
    assert breakers.blocked("b", 0) is None
    breakers.failed("b", 10, WHY)
    assert breakers.blocked("b", 15) is None


def test_failures_in_a_row_double_the_pause_up_to_a_limit() -> None:
    breakers: Breakers[str] = Breakers(first_pause_s=5, longest_s=12)
    now = 0.0
    for pause in (5, 10, 12, 12):
        breakers.failed("b", now, WHY)
        assert breakers.blocked("b", now + pause - 0.1) is WHY
        now += pause
        assert breakers.blocked("b", now) is None


def test_a_try_that_never_reports_is_repeated_after_another_pause() -> None:
    breakers: Breakers[str] = Breakers(first_pause_s=5)
    breakers.failed("b", 0, WHY)
    assert breakers.blocked("b", 5) is None
    assert breakers.blocked("b", 9.9) is WHY
    assert breakers.blocked("b", 10) is None


def test_peers_that_no_longer_exist_are_forgotten() -> None:
    breakers: Breakers[str] = Breakers()
    breakers.failed("a", 0, WHY)
    breakers.failed("b", 0, WHY)
    breakers.forget_all_but(frozenset("b"))
    assert len(breakers) == 1
    assert breakers.blocked("a", 0) is None
