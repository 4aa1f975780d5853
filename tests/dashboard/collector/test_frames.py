from __future__ import annotations

import zlib
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.collector.frames import (
    RING,
    Frame,
    decode_frame,
    digest_of,
    encode_frame,
    place_of,
    recent,
)
from dashboard.findings.memory.trail import KEPT_MS, Moment
from rmqcore.model.columns import Column, QueueKey, Reason
from rmqcore.model.snapshot import ClusterSnapshot

from .sights import NOW, cluster, group, keys, table

numbers = st.one_of(st.integers(0, 2**62), st.sampled_from(list(Reason)))


def frame_of(snapshot: ClusterSnapshot) -> Frame:
    frame = decode_frame(encode_frame(snapshot))
    assert frame is not None
    return frame


def moment_of(frame: Frame, name: str, queues: tuple[QueueKey, ...]) -> Moment | None:
    return frame.moment(name, queues, digest_of(queues))


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5), st.integers(0, 3))
def test_a_groups_offsets_come_back_as_they_were(
    rows: list[tuple[int | Reason, int | Reason]], before: int
) -> None:
    names = keys(len(rows))
    queues = table(names, high=[r[0] for r in rows], committed=[r[1] for r in rows])
    others = [group(table(keys(n + 1)), name=f"a{n}") for n in range(before)]
    frame = frame_of(cluster(*others, group(queues, name="g")))
    moment = moment_of(frame, "g", names)
    assert moment is not None
    assert moment.at_ms == NOW
    seen = moment.queues
    assert seen.max == queues.max
    assert seen.committed == queues.committed
    lags = [None if lag is None else max(0, lag) for lag in queues.lag]
    assert list(seen.lag) == lags
    assert not any(known is not None for known in seen.pulled)
    assert seen.keys is names


def test_a_group_with_other_queues_has_no_moment() -> None:
    frame = frame_of(cluster(group(table(keys(4)), name="g")))
    assert moment_of(frame, "g", keys(4)) is not None
    assert moment_of(frame, "g", keys(5)) is None
    assert moment_of(frame, "g", keys(4, broker="b")) is None
    assert moment_of(frame, "other", keys(4)) is None


def test_groups_without_queues_are_left_out() -> None:
    frame = frame_of(cluster(group(table(()), name="empty"), group(table(keys(1)))))
    assert set(frame.groups) == {"g"}


def test_a_group_whose_columns_do_not_agree_shifts_no_other() -> None:
    odd = table(keys(4))
    odd = replace(odd, committed=Column.of([1]))
    sound = table(keys(2), high=[7, 8], committed=[5, 6])
    frame = frame_of(cluster(group(odd, name="a"), group(sound, name="b")))
    moment = moment_of(frame, "b", keys(2))
    assert moment is not None
    assert moment.queues.committed == sound.committed
    assert moment_of(frame, "a", keys(4)) is None


def test_names_of_queues_do_not_run_into_each_other() -> None:
    digests = {
        digest_of(queues)
        for queues in (
            (("a", "b", 1),),
            (("a\0b", "", 1),),
            (("ab", "", 1),),
            (("a", "b", 11),),
            (("a", "b", 1), ("a", "b", 1)),
            (),
        )
    }
    assert len(digests) == 6


def test_a_frame_of_another_version_is_done_without() -> None:
    packed = encode_frame(cluster(group(table(keys(1)))))
    text = zlib.decompress(packed)
    size = int.from_bytes(text[:4], "big")
    head = orjson.loads(text[4 : 4 + size])
    changed = orjson.dumps({**head, "version": 0})
    other = len(changed).to_bytes(4, "big") + changed + text[4 + size :]
    assert decode_frame(zlib.compress(other)) is None


@pytest.mark.parametrize("packed", [b"", b"nothing", zlib.compress(b"\0\0\0\2{}")])
def test_what_is_not_a_frame_is_an_error(packed: bytes) -> None:
    with pytest.raises((ValueError, KeyError, zlib.error)):
        decode_frame(packed)


def test_the_ring_holds_what_rules_remember() -> None:
    every = range(NOW, NOW + KEPT_MS + 1, 10_000)
    assert len({place_of(at) for at in every}) == len(every) <= RING


def test_only_recent_frames_count_in_order_of_time() -> None:
    frames = [
        Frame(at, 0, {}, memoryview(b""), b"")
        for at in (NOW, NOW - KEPT_MS - 1, NOW - 5, NOW + 1)
    ]
    assert [frame.at_ms for frame in recent(frames, NOW)] == [NOW - 5, NOW]
