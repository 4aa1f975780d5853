"""Records of trace topics, as clients of Apache write them, and their line of time."""

from __future__ import annotations

from dashboard.messages.traces import line_of, steps_of

ID = "0A0001"
SENT = "\x01".join(
    (
        *("Pub", "1000", "hz", "checkout", "orders", ID, "paid", "k"),
        *("10.0.0.2:10911", "12", "9", "0", "OFFSETID", "true", "10.0.0.1"),
    )
)
BEFORE = "\x01".join(("SubBefore", "1030", "hz", "billing", "REQ", ID, "0", "k"))
FAILED = "\x01".join(("SubAfter", "REQ", ID, "54", "false", "k", "2"))
AGAIN = "\x01".join(("SubBefore", "1120", "hz", "billing", "REQ2", ID, "1", "k"))
DONE = "\x01".join(("SubAfter", "REQ2", ID, "14", "true", "k", "0"))
OTHER = "\x01".join(("SubBefore", "1", "hz", "billing", "REQ3", "other", "0", "k"))


def body(*records: str) -> bytes:
    return ("\x02".join(records) + "\x02").encode()


def test_a_message_is_followed_from_send_to_success() -> None:
    steps = steps_of([body(SENT), body(BEFORE, AGAIN, OTHER), body(FAILED, DONE)], ID)
    told = [(s.kind, s.group, s.attempt, s.took_ms, s.success) for s in steps]
    assert told == [
        ("send", "checkout", 0, 9, True),
        ("consume", "billing", 0, 54, False),
        ("consume", "billing", 1, 14, True),
    ]
    assert steps[0].client == "10.0.0.1"


def test_a_try_without_an_end_is_open() -> None:
    (step,) = steps_of([body(BEFORE)], ID)
    assert (step.took_ms, step.success) == (None, None)


def test_a_send_of_an_older_client_has_no_offset_id() -> None:
    fields = SENT.split("\x01")
    older = "\x01".join((*fields[:12], "false"))
    (step,) = steps_of([body(older)], ID)
    assert step.success is False


def test_a_record_given_twice_is_one_step() -> None:
    assert len(steps_of([body(SENT), body(SENT)], ID)) == 1


def test_what_cannot_be_read_is_left_out() -> None:
    broken = SENT.replace("1000", "soon")
    assert steps_of([b"\xff\x02\x01", body(broken), body("Pub\x01")], ID) == []
    assert line_of([]) is None


def test_steps_are_laid_out_on_one_axis() -> None:
    line = line_of(steps_of([body(SENT), body(BEFORE, AGAIN), body(FAILED, DONE)], ID))
    assert line is not None
    assert line.begins_ms == 1000
    assert line.bars[0].x == 0
    assert [tick for _x, tick in line.ticks] == [0, 67, 134]
    assert all(0 <= bar.x <= 1000 for bar in line.bars)
