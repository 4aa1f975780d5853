"""Dead letters resent on a real embedded cluster, and read back."""

from __future__ import annotations

import asyncio
import itertools
import threading
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.dead_letters import reads
from dashboard.dead_letters.playing import Playing, opened
from dashboard.dead_letters.reads import effect_of, progress_of
from dashboard.dead_letters.run_pages import FOLLOWED
from dashboard.dead_letters.runs import (
    claim,
    give_up_lost,
    hand_back,
    take_batch,
    waiting_runs,
)
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import AuditEntry, ResendRun, ResentLetter
from dashboard.models.resend import RESEND_LOST_AFTER
from rmqcore.admin import Admin
from rmqcore.errors import RequestTimeoutError
from rmqcore.model import Message
from rmqcore.model.topic import dead_letter_topic
from tests.dashboard.messages.conftest import Running
from tests.support.waiting import wait_until

from .conftest import GROUP, HERE, Member, Resend, kept, play

pytestmark = pytest.mark.usefixtures("east")


def test_the_group_alone_gets_what_is_resent_to_it(
    running: Running, member: Member, other: Member, resend: Resend, viewer: Client
) -> None:
    wait_until(lambda: {"a-1", "a-2", "b-1"} <= set(other.keys()))
    before = len(other.seen)
    seen = len(member.seen)
    assert resend("f.tag=red").status_code == 302
    run = play()
    assert (run.state, run.error) == ("done", "")
    wait_until(lambda: sorted(member.keys()[seen:]) == ["a-1", "a-2"])
    again = member.seen[seen:]
    assert {message.topic for message in again} == {"orders"}
    assert {message.reconsume_times for message in again} == {0}
    first = {message.keys: message.msg_id for message in member.seen[:seen]}
    assert all(first[message.keys] == message.msg_id for message in again)
    assert all("ORIGIN_MESSAGE_ID" in message.properties for message in again)
    assert len(other.seen) == before
    wait_until(lambda: effect_of(run).passed == 2)
    marked = viewer.get(HERE, {"show": "resent"}).context["page_list"].chosen
    assert sorted(each.message.keys[0] for each in marked) == ["a-1", "a-2"]
    assert kept(running) == 3


def test_every_group_gets_what_is_resent_to_the_topic(
    member: Member, other: Member, resend: Resend
) -> None:
    seen, of_other = len(member.seen), len(other.seen)
    resend("f.tag=blue", target="topic", rate=1)
    run = play()
    (letter,) = run.letters.all()
    assert (run.state, letter.state, letter.sent_topic) == ("done", "sent", "orders")
    wait_until(lambda: member.keys()[seen:] == ["b-1"])
    wait_until(lambda: other.keys()[of_other:] == ["b-1"])
    assert other.seen[-1].properties["ORIGIN_MESSAGE_ID"] == letter.unique_key
    assert other.seen[-1].msg_id == letter.sent_key != letter.unique_key


def test_topics_that_are_not_asked_for_are_why_some_are_not_known(
    member: Member, resend: Resend, viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    resend("f.tag=red")
    run = play()
    monkeypatch.setattr(reads, "_MOST_TOPICS", 0)
    effect = effect_of(run)
    assert effect.unknown == 2
    assert effect.errors == ["0 of 1 topics were asked for."]
    assert (
        "0 of 1 topics were asked for."
        in viewer.get(f"{HERE}runs/{run.pk}/").content.decode()
    )
    address = f"/api/v1{HERE.rstrip('/')}/runs/{run.pk}"
    told = viewer.get(address).json()
    assert (told["passed"], told["unknown"]) == (0, 2)
    assert told["unknown_because"] == effect.errors


def test_what_was_resent_is_left_out_unless_asked_for(
    member: Member, resend: Resend, operator: Client
) -> None:
    resend()
    play()
    preview = operator.get(f"{HERE}resend/").context["preview"]
    assert (len(preview.letters), preview.before) == (0, 3)
    assert resend().status_code == 409
    preview = operator.get(f"{HERE}resend/", {"again": "on"}).context["preview"]
    assert len(preview.letters) == 3


def test_only_the_chosen_ones_are_resent(
    member: Member, resend: Resend, operator: Client
) -> None:
    first = operator.get(HERE).context["found"].letters[0]
    assert resend("only=chosen").status_code == 409
    answer = resend(f"only=chosen&letter={first.id}")
    assert answer.status_code == 302
    assert [each.letter_id for each in play().letters.all()] == [first.id]
    page = operator.get(answer["Location"]).content.decode()
    assert "1 of 1 sent" in page


def test_a_start_needs_a_reason_and_what_the_preview_showed(
    member: Member, resend: Resend, viewer: Client
) -> None:
    refusals = {
        "A reason is needed": {"reason": " "},
        "Other dead letters than in the preview": {"token": "x"},
        "rate:": {"rate": 101},
        "target:": {"target": "nobody"},
    }
    for said, fields in refusals.items():
        answer = resend(**fields)
        assert answer.status_code == 409
        assert said in answer.content.decode()
    assert viewer.get(f"{HERE}resend/").status_code == 403
    assert not ResendRun.objects.exists()


def test_a_preview_masks_what_the_list_masks(
    member: Member, operator: Client, settings: Any
) -> None:
    address = f"{HERE}resend/?f.tag=red"
    assert "a-1" in operator.get(address).content.decode()
    settings.ROCKETSCOPE_MESSAGE_MASKS = ["KEYS"]
    assert "a-1" not in operator.get(address).content.decode()


def test_a_run_is_audited_and_one_at_a_time(member: Member, resend: Resend) -> None:
    resend()
    entry = AuditEntry.objects.get(action="dead_letters.resend")
    assert (entry.target, entry.reason) == (GROUP, "mended")
    assert (entry.details["letters"], entry.details["to"]) == (3, "group")
    assert "being resent already" in resend().content.decode()


def test_a_run_stops_when_asked(
    member: Member,
    resend: Resend,
    operator: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = resend()["Location"]
    operator.post(f"{address}stop/")
    run = ResendRun.objects.get()
    assert (run.state, progress_of(run).waiting) == ("stopped", 3)
    resend()
    run = ResendRun.objects.first()  # type: ignore[assignment]
    ResendRun.objects.filter(pk=run.pk).update(state="running", worker="w1")
    run.refresh_from_db()
    operator.post(f"{HERE}runs/{run.pk}/stop/")
    assert take_batch(run, 1) is None
    assert AuditEntry.objects.filter(action="dead_letters.stop").count() == 2
    assert "Stopping…" in operator.get(f"{HERE}runs/{run.pk}/").content.decode()
    assert "are listed" not in operator.get(HERE).content.decode()
    monkeypatch.setattr(reads, "RUNS_SHOWN", 1)
    page = operator.get(HERE).content.decode()
    assert "The newest 1 of 2 are listed." in page


def test_a_page_follows_a_run_until_a_while_after_its_end(
    member: Member, resend: Resend, viewer: Client
) -> None:
    address = resend("f.tag=blue")["Location"]
    waiting = viewer.get(address)
    assert "data-active" in waiting.content.decode()
    play()
    ended = viewer.get(address, headers={"X-Fragment": "1"})
    assert "data-active" in ended.content.decode()
    assert [each.context["effect"] is None for each in (waiting, ended)] == [
        True,
        False,
    ]
    ResendRun.objects.update(finished_at=timezone.now() - 2 * FOLLOWED)
    assert "data-active" not in viewer.get(address).content.decode()


def test_a_killed_worker_leaves_a_run_that_says_how_far_it_came(
    member: Member, resend: Resend, operator: Client
) -> None:
    resend()
    long_ago = timezone.now() - 2 * RESEND_LOST_AFTER
    run = ResendRun.objects.get()
    ResendRun.objects.update(state="running", worker="gone")
    run.refresh_from_db()
    batch = take_batch(run, 1)
    ResendRun.objects.update(seen_at=long_ago)
    assert batch is not None
    assert give_up_lost() == 1
    run.refresh_from_db()
    assert (run.state, run.error) == ("failed", "the worker that resent these has gone")
    page = operator.get(f"{HERE}runs/{run.pk}/").content.decode()
    assert "0 of 3 sent" in page
    assert "1 perhaps sent" in page
    assert "2 not sent" in page
    # What was perhaps sent is not sent again by itself.
    preview = operator.get(f"{HERE}resend/").context["preview"]
    assert (len(preview.letters), preview.before) == (2, 1)


def test_a_worker_that_ends_hands_its_run_back(member: Member, resend: Resend) -> None:
    resend()
    stopping = threading.Event()
    stopping.set()
    run = play(stopping)
    assert (run.state, progress_of(run).waiting) == ("queued", 3)
    assert play().state == "done"


def test_a_worker_that_ends_does_not_hand_back_what_is_to_stop(
    member: Member, resend: Resend
) -> None:
    resend()
    run = claim(waiting_runs()[0], "w1")
    assert run is not None
    ResendRun.objects.update(stop_asked=True)
    hand_back(run)
    run.refresh_from_db()
    assert run.state == "stopped"
    assert run.finished_at is not None
    assert resend().status_code == 302


def test_a_letter_that_no_answer_came_to_is_perhaps_sent(
    member: Member, resend: Resend, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = Admin.send_message

    async def answer_late(*given: Any, **options: Any) -> Any:
        await send(*given, **options)
        raise RequestTimeoutError("no answer within 3 s")

    monkeypatch.setattr(Admin, "send_message", answer_late)
    seen = len(member.seen)
    resend()
    run = play()
    wait_until(lambda: len(member.seen) == seen + 3)
    assert (run.state, progress_of(run).sending) == ("done", 3)
    assert "may have been stored" in run.letters.earliest("number").error
    preview = operator.get(f"{HERE}resend/").context["preview"]
    assert (len(preview.letters), preview.before) == (0, 3)


def test_a_letter_that_cannot_be_read_back_is_sent(
    member: Member, resend: Resend, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_given: Any) -> Any:
        raise OSError("reset by peer")

    monkeypatch.setattr(Admin, "message_by_id", fail)
    resend()
    assert progress_of(play()).sent == 3


def test_letters_that_cannot_be_sent_do_not_end_a_run(
    running: Running, member: Member, operator: Client
) -> None:
    topic = dead_letter_topic("plain")
    running.call(running.cluster.create_topic(topic, 1))
    running.send(*(Message.of(topic, b"{}") for _ in range(6)))
    address = "/clusters/east/groups/plain/dead-letters/resend/"
    token = operator.get(address).context["token"]
    wish = {"query": "", "token": token, "target": "topic", "rate": 100, "reason": "x"}
    operator.post(address, wish)
    run = play()
    assert (run.state, progress_of(run).failed) == ("done", 6)


def test_a_batch_ends_while_its_worker_still_counts_as_alive(
    member: Member, resend: Resend
) -> None:
    resend()
    run = claim(waiting_runs()[0], "w1")
    assert run is not None
    minutes = itertools.count(0.0, 60.0)
    batch = take_batch(run, 3)
    assert batch is not None
    with asyncio.Runner() as runner:
        resender = runner.run(opened("east"))
        playing = Playing(run, threading.Event(), lambda: next(minutes))
        playing.send_batch(runner, resender, batch)
        runner.run(resender.close())
    assert (progress_of(run).sent, progress_of(run).waiting) == (1, 2)


def test_a_letter_that_is_gone_is_said(member: Member, resend: Resend) -> None:
    resend()
    letter = ResentLetter.objects.earliest("number")
    ResentLetter.objects.filter(pk=letter.pk).update(
        letter_id=f"{letter.letter_id[:-16]}{2**40:016X}"
    )
    run = play()
    progress = progress_of(run)
    assert (run.state, progress.sent, progress.gone) == ("done", 2, 1)


def test_a_read_only_cluster_refuses(
    member: Member, resend: Resend, operator: Client, settings: object
) -> None:
    resend()
    servers = settings.ROCKETSCOPE_CLUSTERS["east"].name_servers  # type: ignore[attr-defined]
    closed = ClusterSettings("east", servers)
    settings.ROCKETSCOPE_CLUSTERS = {"east": closed}  # type: ignore[attr-defined]
    run = play()
    assert run.state == "failed"
    assert "attached read-only" in run.error
    assert "attached read-only" in resend().content.decode()
    assert "attached read-only" in operator.get(HERE).content.decode()
