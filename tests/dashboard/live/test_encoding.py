"""What is kept encoded takes no more memory than its text."""

import tracemalloc

import orjson

from dashboard.live.encoding import encode_to_keep

ROW = {"group": "g" * 700}


def test_is_the_same_text_as_the_encoder_makes() -> None:
    assert encode_to_keep(ROW) == orjson.dumps(ROW)


def test_keeps_no_room_that_was_reserved_for_writing() -> None:
    times = 100
    tracemalloc.start()
    try:
        kept = [encode_to_keep(ROW) for _ in range(times)]
        taken, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 2 * sum(map(len, kept))
