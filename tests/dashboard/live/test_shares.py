from __future__ import annotations

import pytest

from dashboard.live.messages import MessageError
from dashboard.live.shares import (
    MESSAGES_A_SECOND,
    MESSAGES_AT_ONCE,
    MOST_SOCKETS,
    MOST_WATCHES,
    Share,
    ShareError,
    share_of,
)


class Now:
    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def test_sockets_are_counted_and_given_back() -> None:
    share = Share(Now())
    for _ in range(MOST_SOCKETS):
        share.take_socket()
    with pytest.raises(ShareError, match=f"{MOST_SOCKETS} live pages"):
        share.take_socket()
    share.give_socket()
    share.take_socket()


def test_watches_are_counted_and_given_back() -> None:
    share = Share(Now())
    for _ in range(MOST_WATCHES):
        share.take_watch()
    with pytest.raises(MessageError, match=f"{MOST_WATCHES} watches"):
        share.take_watch()
    share.give_watch()
    share.take_watch()


def test_messages_are_allowed_again_as_time_goes_by() -> None:
    now = Now()
    share = Share(now)
    for _ in range(MESSAGES_AT_ONCE):
        share.take_message()
    with pytest.raises(ShareError, match=f"{MESSAGES_AT_ONCE} messages at once"):
        share.take_message()
    now.seconds += 2 / MESSAGES_A_SECOND
    share.take_message()
    share.take_message()
    with pytest.raises(ShareError):
        share.take_message()


def test_an_idle_hour_saves_up_no_more_than_the_allowance() -> None:
    now = Now()
    share = Share(now)
    now.seconds += 3600
    for _ in range(MESSAGES_AT_ONCE):
        share.take_message()
    with pytest.raises(ShareError):
        share.take_message()


def test_each_user_has_a_share() -> None:
    assert share_of(-1) is share_of(-1)
    assert share_of(-1) is not share_of(-2)
