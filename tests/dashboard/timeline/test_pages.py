from __future__ import annotations

from typing import Any, get_args

import orjson
import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.gateway.settings import ClusterSettings
from dashboard.live.documents import Kind
from dashboard.models import (
    Cluster,
    Epoch,
    OwnershipEvent,
    Role,
)
from dashboard.timeline import reads as timeline_module
from dashboard.timeline.alerts import NO_ALERTS
from dashboard.timeline.document import timeline_document
from dashboard.timeline.holdings import NOBODY, Moment
from dashboard.timeline.lanes import Window
from dashboard.timeline.reads import read_timeline
from dashboard.timeline.tags import mark_text
from dashboard.wording.words import KIND_SENTENCES
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import (
    BROKERS,
    group_state,
    member,
    now_ms,
    queue,
    shared_client_ids,
    waiting_for_locks,
)
from tests.dashboard.history import (
    GROUP,
    MEMBERS,
    QUEUES,
    a_member_died,
    at,
    epoch,
    event,
)

from . import pasts

pytestmark = pytest.mark.django_db

PAGE = f"/clusters/hangzhou/groups/{GROUP}/timeline/"
API = f"/api/v1/clusters/hangzhou/groups/{GROUP}/timeline"


@pytest.fixture
def now(hangzhou: ClusterSettings) -> int:
    now = now_ms()
    a_member_died(Cluster.objects.get(name="hangzhou"), now)
    return now


@pytest.fixture
def state(now: int, write: Write) -> Any:
    state = waiting_for_locks(now)
    state["past_slots"] = {member(3)["client_id"]: 7}
    write(state)
    return state


def test_the_page_shows_lanes_epochs_and_events(
    now: int, state: Any, sign_in: SignIn
) -> None:
    page = sign_in(Role.VIEWER).get(PAGE).content.decode()
    assert page.count('<g class="mark gap"') == 4
    # The second one is the legend's.
    assert page.count('<g class="mark double"') == 2
    assert "4 gaps" in page
    assert "10.20.4.20@4103 left, members: 4 → 3" in page
    assert "left without owner" in page
    assert '<span class="owner slot-7">H</span> 10.20.4.20@4103' in page


@pytest.mark.parametrize("by", ["queues", "members"])
def test_an_owner_that_no_epoch_lists_has_a_hue_too(
    now: int, state: Any, sign_in: SignIn, by: str
) -> None:
    cluster = Cluster.objects.get(name="hangzhou")
    span = {"at_after": at(now - 20_000), "at_by": at(now - 19_000)}
    event(cluster, 0, [MEMBERS[0]], ["10.9.9.9@9"], kind="moved", **span)
    answer = sign_in(Role.VIEWER).get(f"{PAGE}?by={by}")
    assert answer.status_code == 200
    assert "10.9.9.9@9" in answer.content.decode()
    # The page is a group's without any epoch, as when the database took none yet.
    Epoch.objects.all().delete()
    assert sign_in(Role.VIEWER).get(f"{PAGE}?by={by}").status_code == 200


def test_lanes_are_members_when_asked(now: int, state: Any, sign_in: SignIn) -> None:
    page = sign_in(Role.VIEWER).get(PAGE + "?by=members").content.decode()
    assert "timeline-members" in page
    assert "10.20.4.17: 8 queues" in page
    assert "10.20.4.17: 6 queues" in page


def test_a_fragment_and_the_panel_are_parts(
    now: int, state: Any, sign_in: SignIn
) -> None:
    viewer = sign_in(Role.VIEWER)
    part = viewer.get(PAGE, headers={"X-Fragment": "1"}).content.decode()
    assert "<html" not in part
    assert "Changes of owner" in part
    panel = viewer.get(PAGE + "?panel=1", headers={"X-Fragment": "1"}).content.decode()
    assert "Changes of owner" not in panel
    assert "lane-head" in panel


def test_a_span_of_the_past_has_no_later_events(
    now: int, state: Any, sign_in: SignIn
) -> None:
    url = f"{PAGE}?minutes=5&until={now - 300_000}"
    answer = sign_in(Role.VIEWER).get(url, headers={"X-Fragment": "1"})
    page = answer.content.decode()
    assert "left without owner" not in page
    assert "member joined" in page
    assert "Newer" in page


@pytest.mark.parametrize("query", ["?minutes=7", "?until=x&by=tea", "?minutes=-5"])
def test_odd_values_fall_back(
    now: int, state: Any, sign_in: SignIn, query: str
) -> None:
    page = sign_in(Role.VIEWER).get(PAGE + query).content.decode()
    assert 'href="?minutes=15" aria-current="true"' in page


def test_a_group_that_is_gone_keeps_its_history(
    now: int, write: Write, sign_in: SignIn
) -> None:
    Epoch.objects.filter(number=43).update(
        ended_after=at(now - 20_000), ended_by=at(now - 10_000)
    )
    page = sign_in(Role.VIEWER).get(PAGE).content.decode()
    assert "Nothing is known about this group now" in page
    assert page.count('<g class="mark gap"') == 4


def test_a_queue_that_never_moved_is_known_from_the_epoch_that_ended(
    hangzhou: ClusterSettings,
) -> None:
    cluster = Cluster.objects.get(name="hangzhou")
    now = now_ms()
    owners = [[*QUEUES[0], [MEMBERS[0]]], [*QUEUES[1], [MEMBERS[1]]]]
    ended = {"ended_after": at(now - 30_000), "ended_by": at(now - 29_000)}
    began = {"began_after": at(now - 61_000), "began_by": at(now - 60_000)}
    epoch(cluster, 1, MEMBERS[:2], owners=owners, **began, **ended)
    times = {"at_after": at(now - 50_000), "at_by": at(now - 49_000)}
    event(cluster, 1, [MEMBERS[0]], [MEMBERS[1]], kind="moved", **times)
    found = read_timeline(cluster, GROUP, None, now=now, minutes=5)
    pieces = [[piece.owner for piece in lane.pieces] for lane in found.lanes[:3]]
    assert pieces == [[MEMBERS[0]], MEMBERS[:2], []]
    assert found.lanes[0].pieces[0].begin == Moment(now - 61_000, now - 60_000)
    assert found.lanes[0].pieces[0].end == Moment(now - 30_000, now - 29_000)


def test_a_group_of_which_nothing_is_known(write: Write, sign_in: SignIn) -> None:
    page = sign_in(Role.VIEWER).get(PAGE).content.decode()
    assert "Nothing has been collected yet" in page
    assert sign_in(Role.VIEWER).get(API).status_code == 404


def test_the_allocation_page_has_room_for_it(
    now: int, state: Any, sign_in: SignIn
) -> None:
    page = sign_in(Role.VIEWER).get(PAGE.removesuffix("timeline/")).content.decode()
    assert f'data-src="{PAGE}?panel=1"' in page


def test_epochs_that_are_left_out_are_told(
    now: int, state: Any, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = sign_in(Role.VIEWER)
    assert client.get(API).json()["cut"] is False
    everything = len(client.get(API).json()["epochs"])
    monkeypatch.setattr(timeline_module, "MOST_EPOCHS", 2)
    found = client.get(API).json()
    assert (len(found["epochs"]), found["cut"]) == (2, True)
    assert found["epochs_left_out"] == everything - 2
    page = client.get(PAGE).content.decode()
    assert "so the oldest are left out" in page
    assert f"Left out: {everything - 2} of {everything} epochs." in page
    assert "changes of owner." not in page


def test_changes_of_owner_that_are_left_out_are_counted(
    now: int, state: Any, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = sign_in(Role.VIEWER)
    before = f"?minutes=5&until={now - 300_000}"
    everything, early = (
        len(client.get(f"{API}{query}").json()["events"]) for query in ("", before)
    )
    monkeypatch.setattr(timeline_module, "MOST_EVENTS", 10)
    monkeypatch.setattr(timeline_module, "EVENTS_LISTED", 4)
    assert client.get(API).json()["events_left_out"] == everything - 4
    page = client.get(PAGE).content.decode()
    assert f"Left out: {everything - 10} of {everything} changes of owner." in page
    assert f"{everything - 4} older ones are not listed." in page
    assert early > 0
    assert client.get(API + before).json()["events_left_out"] == early
    page = client.get(PAGE + before).content.decode()
    assert f"Left out: {early} of {early} changes of owner." in page
    assert "no queue changed hands" not in page


def test_strangers_sign_in(now: int, client: Any) -> None:
    assert client.get(PAGE).status_code == 302
    assert client.get(API).status_code == 401


def test_the_api_gives_intervals(now: int, state: Any, sign_in: SignIn) -> None:
    document = sign_in(Role.VIEWER).get(API).json()
    lanes = {tuple(lane["queue"]): lane for lane in document["lanes"]}
    waiting = lanes["orders", "hz2@broker-b", 7]
    assert waiting["known"]
    assert waiting["held"][-1] == {
        "owner": None,
        "connection": 0,
        "begin": [now - 40_500, now - 38_000],
        "end": None,
    }
    assert waiting["unknown"] == [[now - 41_000, now - 40_500]]
    assert lanes["orders", "hz1@broker-a", 3]["double"] == [
        [now - 240_000, now - 236_000]
    ]
    assert document["epochs"][0]["left"] == [MEMBERS[3]]
    assert document["events"][0]["cause"] == "member_left"
    viewer = sign_in(Role.VIEWER)
    assert viewer.get(API + "?minutes=0").status_code == 422
    assert viewer.get(API.replace("hangzhou", "x")).status_code == 404


def moves_of(viewer: Client, place: int) -> Any:
    topic, broker, number = QUEUES[place]
    query = {"topic": topic, "broker": broker, "queue_id": number}
    return viewer.get(API.replace("timeline", "moves"), query).json()


def test_a_queue_is_held_since_it_was_seen_to_move(
    now: int, state: Any, sign_in: SignIn
) -> None:
    viewer = sign_in(Role.VIEWER)
    moved = moves_of(viewer, 8)
    assert moved["since"] == moved["events"][0]["at"] == [now - 40_500, now - 38_000]
    # It was owned twice for a while, and its owner had it before that.
    settled = moves_of(viewer, 3)
    assert [each["kind"] for each in settled["events"]] == ["settled", "double"]
    assert settled["since"] is None
    times = {"at_after": at(now - 470_000), "at_by": at(now - 469_000)}
    cluster = Cluster.objects.get(name="hangzhou")
    event(cluster, 3, MEMBERS[1:2], MEMBERS[:1], kind="moved", epoch=42, **times)
    assert moves_of(viewer, 3)["since"] == [now - 470_000, now - 469_000]


def test_older_moves_of_a_queue_are_counted(
    now: int, state: Any, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewer = sign_in(Role.VIEWER)
    found = moves_of(viewer, 3)
    assert (len(found["events"]), found["events_left_out"]) == (2, 0)
    monkeypatch.setattr(timeline_module, "MOVES_LISTED", 1)
    found = moves_of(viewer, 3)
    assert (len(found["events"]), found["events_left_out"]) == (1, 1)
    monkeypatch.setattr(timeline_module, "MOVES_LOOKED_AT", 1)
    assert moves_of(viewer, 3)["events_left_out"] == 1


def test_who_joined_later_cannot_have_held_a_queue_before(
    now: int, state: Any, sign_in: SignIn, write: Write
) -> None:
    state["queues"][5]["owners"] = [MEMBERS[2]]
    write(state)
    # Nobody saw it move to the third member, who joined 480 s ago.
    OwnershipEvent.objects.all().delete()
    since = moves_of(sign_in(Role.VIEWER), 5)["since"]
    assert since == [now - 480_000, now - 479_000]


def test_since_when_a_queue_is_held_is_not_known_of_a_silent_collector(
    now: int, state: Any, sign_in: SignIn, write: Write
) -> None:
    state["taken_at"] = now - 60_000
    write(state)
    assert moves_of(sign_in(Role.VIEWER), 3)["since"] is None
    for kind in ("broadcasting", "shared_pop"):
        write(waiting_for_locks(now, kind=kind))
        assert moves_of(sign_in(Role.VIEWER), 8)["since"] is None


def test_a_loss_without_another_cause_is_a_lost_lock(now: int, state: Any) -> None:
    cluster = Cluster.objects.get(name="hangzhou")
    times = {"at_after": at(now - 200_000), "at_by": at(now - 199_000)}
    event(cluster, 0, [MEMBERS[0]], [], kind="lost", epoch=42, **times)
    found = read_timeline(cluster, GROUP, state, now=now, minutes=15)
    causes = [row.why for row in found.events if row.event.key[2] == 0]
    assert timeline_module.LOCK_LOST in causes
    state["orderly"] = False
    found = read_timeline(cluster, GROUP, state, now=now, minutes=15)
    assert timeline_module.LOCK_LOST not in [row.why for row in found.events]


def test_many_queues_become_members_and_too_many_events_are_said(
    now: int, state: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Cluster.objects.get(name="hangzhou")
    monkeypatch.setattr(timeline_module, "BY_QUEUE_UP_TO", 8)
    monkeypatch.setattr(timeline_module, "MOST_LANES", 5)
    monkeypatch.setattr(timeline_module, "MOST_EVENTS", 10)
    monkeypatch.setattr(timeline_module, "EVENTS_LISTED", 4)
    found = read_timeline(cluster, GROUP, state, now=now, minutes=15)
    assert (found.by, len(found.rows), found.cut) == ("members", 4, True)
    everything = OwnershipEvent.objects.count()
    assert (len(found.events), found.hidden_events) == (4, everything - 4)
    found = read_timeline(cluster, GROUP, state, now=now, minutes=15, by="queues")
    assert (len(found.rows), found.hidden_lanes) == (5, 11)
    monkeypatch.setattr(timeline_module, "MOST_PIECES", 6)
    found = read_timeline(cluster, GROUP, state, now=now, minutes=15, by="queues")
    assert 1 <= len(found.rows) < 5


def test_labels_that_would_be_alike_are_whole_client_ids(
    hangzhou: ClusterSettings,
) -> None:
    cluster = Cluster.objects.get(name="hangzhou")
    now = now_ms()
    clients = ["10.0.0.1@same", "10.0.0.2@same"]
    epoch(cluster, 1, clients, began_by=at(now - 60_000))
    found = read_timeline(cluster, GROUP, None, now=now, minutes=15, by="members")
    assert [row.label for row in found.rows] == clients
    assert not OwnershipEvent.objects.exists()


def test_connections_of_one_client_id_are_told_apart(
    hangzhou: ClusterSettings, write: Write, sign_in: SignIn
) -> None:
    now = now_ms()
    write(shared_client_ids(now))
    cluster = Cluster.objects.get(name="hangzhou")
    began = {"began_after": at(now - 601_000), "began_by": at(now - 600_000)}
    epoch(cluster, 1, [MEMBERS[0], MEMBERS[0], MEMBERS[1]], **began)
    times = {"at_after": at(now - 500_000), "at_by": at(now - 499_000)}
    event(cluster, 0, [MEMBERS[0]], [MEMBERS[0]] * 2, kind="double", **times)
    page = sign_in(Role.VIEWER).get(PAGE + "?by=members").content.decode()
    for name in ("10.20.4.17 · connection 1 of 2", "10.20.4.17 · connection 2 of 2"):
        assert page.count(f'<span class="lane-name" title="{name}">') == 1
    assert "(1/2) 10.20.4.17</span>" in page
    assert "(2/2) 10.20.4.17</span>" in page
    page = sign_in(Role.VIEWER).get(PAGE + "?by=queues").content.decode()
    assert "10.20.4.17 · connection 2 of 2, from" in page
    assert "2 × owned twice" in page
    lanes = sign_in(Role.VIEWER).get(API).json()["lanes"]
    assert [(h["owner"], h["connection"]) for h in lanes[0]["held"]] == [
        (MEMBERS[0], 0),
        (MEMBERS[0], 1),
    ]


def test_a_second_connection_is_one_that_joined(hangzhou: ClusterSettings) -> None:
    cluster = Cluster.objects.get(name="hangzhou")
    now = now_ms()
    one, other = MEMBERS[:2]
    times = [at(now - each) for each in (200_000, 100_000)]
    epoch(cluster, 1, [one, other], began_by=times[0], ended_by=times[1])
    epoch(cluster, 2, [one, one, other], began_by=times[1])
    found = read_timeline(cluster, GROUP, None, now=now, minutes=15)
    assert [(row.joined, row.left) for row in found.epochs] == [((one,), ()), ((), ())]


@pytest.mark.parametrize(
    "kind", ["broadcasting", "mixed", "shared_pop", "assigned_by_hand"]
)
def test_nothing_is_claimed_of_groups_without_single_owners(
    now: int, write: Write, sign_in: SignIn, kind: str
) -> None:
    state = waiting_for_locks(now, kind=kind)
    for each in state["queues"]:
        each["owners"] = [m["client_id"] for m in state["members"]]
    write(state)
    viewer = sign_in(Role.VIEWER)
    answer = viewer.get(PAGE + "?by=queues", headers={"X-Fragment": "1"})
    page = answer.content.decode()
    for claim in ("mark gap", "mark double", "gaps", "owned twice", "Changes of owner"):
        assert claim not in page
    assert str(KIND_SENTENCES[kind])[:40] in page
    assert "timeline-members" in page
    document = viewer.get(API).json()
    assert (document["kind"], document["lanes"], document["events"]) == (kind, [], [])
    assert len(document["epochs"]) == 3


def test_what_was_stored_of_a_broadcasting_group_is_not_drawn(
    hangzhou: ClusterSettings,
) -> None:
    cluster = Cluster.objects.get(name="hangzhou")
    now = now_ms()
    all_ = MEMBERS[:2]
    began = {"began_after": at(now - 301_000), "began_by": at(now - 300_000)}
    ended = {"ended_after": at(now - 30_000), "ended_by": at(now - 29_000)}
    owners = [[*key, all_] for key in QUEUES]
    epoch(cluster, 1, all_, owners=owners, **began, **ended)
    times = {"at_after": at(now - 299_000), "at_by": at(now - 298_000)}
    for place in range(len(QUEUES)):
        event(cluster, place, all_[:1], all_, kind="double", epoch=1, **times)
    found = read_timeline(cluster, GROUP, None, now=now, minutes=15)
    assert (found.doubles, found.gaps, found.events) == (0, 0, ())
    assert found.lanes == ()
    assert len(found.epochs[0].epoch.queues) == len(QUEUES)
    assert [row.owner for row in found.rows] == all_


def test_a_clustering_group_that_is_owned_twice_is_still_drawn(
    hangzhou: ClusterSettings,
) -> None:
    cluster = Cluster.objects.get(name="hangzhou")
    now = now_ms()
    all_ = MEMBERS[:2]
    ended = {"ended_after": at(now - 30_000), "ended_by": at(now - 29_000)}
    owners = [[*QUEUES[0], all_], [*QUEUES[1], all_[:1]]]
    epoch(cluster, 1, all_, owners=owners, began_by=at(now - 300_000), **ended)
    found = read_timeline(cluster, GROUP, None, now=now, minutes=15)
    assert found.doubles == 1


@pytest.mark.parametrize(
    ("held", "age_ms", "unseen_ms"),
    [
        (None, 900, 0),
        (None, 45_000, 45_000),
        ({"as_of": -8_000, "until": 60_000}, 900, 8_000),
    ],
)
def test_a_time_in_which_nothing_was_seen_is_unknown(
    now: int, held: dict[str, int] | None, age_ms: int, unseen_ms: int
) -> None:
    cluster = Cluster.objects.get(name="hangzhou")
    state: Any = waiting_for_locks(now - age_ms)
    if held is not None:
        state["held"] = {key: now + value for key, value in held.items()}
    found = read_timeline(cluster, GROUP, state, now=now, minutes=15)
    unknown = [lane.unknown[-1:] for lane in found.lanes[:3]]
    if unseen_ms:
        assert unknown == [((now - unseen_ms, now),)] * 3
        assert len(found.unseen) == 1
        rows = read_timeline(
            cluster, GROUP, state, now=now, minutes=15, by="members"
        ).rows
        assert {row.marks[-1].part for row in rows} == {"unknown"}
    else:
        assert (unknown, found.unseen) == ([()] * 3, ())


def test_queues_of_a_broker_that_is_away_are_unknown_since(now: int) -> None:
    cluster = Cluster.objects.get(name="hangzhou")
    state: Any = waiting_for_locks(now)
    state["complete"], state["held"] = False, None
    state["brokers"][0] |= {"state": "answered", "since": None}
    state["brokers"][1] |= {"state": "silent", "since": now - 90_000}
    for each in state["queues"][8:]:
        each |= {"owners": [], "owner_source": None}
    found = read_timeline(cluster, GROUP, state, now=now, minutes=15)
    unknown = {lane.key[1]: lane.unknown[-1:] for lane in found.lanes}
    assert unknown == {BROKERS[0]: (), BROKERS[1]: ((now - 90_000, now),)}


def test_without_a_document_the_last_word_is_the_newest_that_is_stored(
    now: int,
) -> None:
    cluster = Cluster.objects.get(name="hangzhou")
    found = read_timeline(cluster, GROUP, None, now=now, minutes=15)
    assert {lane.unknown[-1][1] for lane in found.lanes} == {now}
    told = [lane.unknown[-1] for lane in found.lanes if lane.known]
    assert {begin for begin, _end in told} == {now - 38_000}


@settings(deadline=None)
@given(pasts.pasts(), st.sampled_from(["", "queues", "members"]), st.data())
def test_whatever_is_stored_gives_a_timeline(
    past: pasts.Past, by: str, data: st.DataObject
) -> None:
    state = data.draw(st.none() | states(past.now))
    stored = timeline_module.Past(past.events, past.epochs, past.owners)
    window = Window(past.since, past.until)
    found = timeline_module.timeline_of(stored, state, window, now=past.now, by=by)
    document = timeline_document(found, NO_ALERTS)
    assert orjson.loads(orjson.dumps(document)) == document
    if not found.divided:
        assert (found.lanes, found.events, found.gaps, found.doubles) == ((), (), 0, 0)
    for row in found.rows:
        for mark in row.marks:
            assert mark_text(mark, found)
            assert mark.slot is not None or not mark.letter or mark.owner == NOBODY
    for told in found.events:
        assert found.slots.keys() >= {*told.event.before, *told.event.after} - {NOBODY}


@st.composite
def states(draw: st.DrawFn, now: int) -> Any:
    members = [member(0, client_id=each) for each in draw(pasts.hands)]
    queues = [
        queue(key[1], key[2], topic=key[0], owners=list(draw(pasts.hands)))
        for key in draw(pasts.queues)
    ]
    state: Any = group_state(members, queues, taken_at=draw(st.integers(0, now)))
    state["kind"] = draw(st.sampled_from(get_args(Kind)))
    if draw(st.booleans()):
        state["held"] = {"as_of": draw(st.integers(0, now + 5)), "until": now}
    return state
