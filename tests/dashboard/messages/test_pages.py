"""The pages of messages, on a real embedded cluster."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.gateway.settings import ClusterSettings
from dashboard.messages.reads import fate_of
from dashboard.models import AuditEntry, Cluster, Epoch, Role, User
from dashboard.offsets.reads import preview_of
from dashboard.offsets.wanted import Wanted
from dashboard.offsets.writes import move
from rmqcore.model import Message
from rmqcore.model.topic import SubscriptionGroupConfig
from tests.dashboard.conftest import SignIn
from tests.support.waiting import wait_until

from .conftest import Running

pytestmark = pytest.mark.usefixtures("east")

PLACE = {"topic": "orders", "broker": "broker-a", "queue": "0", "offset": "3"}
HERE = "/clusters/east/messages/"
ONE = f"{HERE}one/"
SEARCHES = [
    {"by": "key", "topic": "orders", "key": "k-3"},
    {"by": "time", "topic": "orders", "tag": "red"},
    {"by": "offset", **PLACE},
    {"by": "newest", "topic": "orders"},
    {"by": "oldest", "topic": "orders", "broker": "broker-a", "queue": "1"},
]


@pytest.fixture
def viewer(sign_in: SignIn) -> Client:
    return sign_in(Role.VIEWER)


@pytest.fixture
def operator(sign_in: SignIn) -> Client:
    return sign_in(Role.OPERATOR)


@pytest.mark.parametrize("asked", SEARCHES, ids=lambda asked: asked["by"])
def test_each_search_finds_messages_and_shows_no_body(
    viewer: Client, asked: dict[str, str]
) -> None:
    page = viewer.get(HERE, asked).content.decode()
    assert "/messages/one/?topic=orders" in page
    assert "4111" not in page
    assert "The search failed" not in page


def test_a_search_finds_all_that_match_and_no_more(viewer: Client) -> None:
    answer = viewer.get(HERE, {"by": "key", "topic": "orders", "key": "k-3"})
    assert [m.keys for m in answer.context["found"].messages] == [("k-3",)] * 4
    answer = viewer.get(HERE, {"by": "time", "topic": "orders", "tag": "red"})
    found = answer.context["found"].messages
    assert {m.tags for m in found} == {"red"}
    assert len(found) >= 10
    assert answer.context["found"].cuts == []


def test_a_message_by_either_id(viewer: Client) -> None:
    newest = viewer.get(HERE, {"by": "newest", "topic": "orders"})
    message = newest.context["found"].messages[0]
    for asked in (
        {"by": "id", "id": message.offset_msg_id},
        {"by": "unique", "topic": "orders", "key": message.msg_id},
    ):
        assert viewer.get(HERE, asked).context["found"].messages == [message]


def test_links_of_the_table_keep_the_search(viewer: Client) -> None:
    page = viewer.get(HERE, {"by": "newest", "topic": "orders"}).content.decode()
    assert "?by=newest&amp;topic=orders&amp;sort=" in page
    file = viewer.get(HERE, {"by": "newest", "topic": "orders", "format": "csv"})
    assert file["Content-Type"].startswith("text/csv")
    assert b"stored,queue,offset" in b"".join(file.streaming_content)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"by": "newest", "topic": "nowhere"}, "nowhere"),
        ({"by": "id", "id": "0A00000100000050" + "0" * 16}, "10.0.0.1:80"),
        ({"by": "id", "id": "none"}, "32 or 56"),
        (
            {"by": "key", "topic": "orders", "key": ""},
            "This is needed for this search.",
        ),
    ],
)
def test_what_cannot_be_found_is_explained(
    viewer: Client, asked: dict[str, str], said: str
) -> None:
    answer = viewer.get(HERE, asked)
    assert answer.status_code == 200
    assert said in answer.content.decode()


def test_a_message_is_shown_without_its_body(viewer: Client) -> None:
    page = viewer.get(ONE, PLACE).content.decode()
    assert "UNIQ_KEY" in page
    assert 'aria-label="Copy: UNIQ_KEY"' in page
    assert "You may not see bodies" in page
    assert "4111" not in page


def test_a_message_that_is_not_there(viewer: Client) -> None:
    answer = viewer.get(ONE, {**PLACE, "offset": "999999"})
    assert answer.status_code == 404
    assert "no message at offset 999999" in answer.content.decode()
    assert viewer.get(ONE, {"topic": "orders"}).status_code == 404


def test_a_body_is_shown_to_those_who_may_and_each_look_is_recorded(
    operator: Client, viewer: Client, settings: Any
) -> None:
    settings.ROCKETSCOPE_MESSAGE_MASKS = ["card", "payer.phone"]
    assert viewer.post(f"{ONE}body/", PLACE).status_code == 403
    page = operator.post(f"{ONE}body/", PLACE).content.decode()
    assert "&quot;event&quot;: &quot;paid&quot;" in page
    assert "4111" not in page
    texts = re.findall(r'<pre[^>]* id="(body-\d)"[^>]*>(.*?)</pre>', page, re.S)
    assert texts
    assert not [text for _, text in texts if "139" in text]
    for place, _ in texts:
        assert f'data-copy-from="#{place}"' in page
    entry = AuditEntry.objects.get(action="message.look")
    assert (entry.actor_name, entry.target) == ("operator", "orders broker-a/0@3")
    assert "4111" not in entry.details_text


def test_the_right_to_bodies_can_be_given_and_taken(
    sign_in: SignIn, viewer: Client, operator: Client
) -> None:
    for name, answer in (("viewer", "yes"), ("operator", "no"), ("admin", "no")):
        sign_in(Role(name))
        user = User.objects.get(username=name)
        given = {"role": name, "is_active": "on", "bodies": answer}
        sign_in(Role.ADMIN).post(f"/account/users/{user.pk}/", given)
    status = {
        role.value: sign_in(role).post(f"{ONE}body/", PLACE).status_code
        for role in Role
    }
    assert status == {"viewer": 200, "operator": 403, "admin": 200}


def test_who_consumed_a_message(
    operator: Client, running: Running, east: ClusterSettings
) -> None:
    running.join("all")
    running.join("blue-only", "blue")
    running.join("failing", fails=True)
    wait_until(lambda: not waits(running, "all") and not waits(running, "blue-only"))
    watch(east, "all", "blue-only", "failing")
    running.send(Message.of("orders", b"{}", tags="red", keys=["fresh"]))
    wait_until(lambda: not waits(running, "all") and not waits(running, "failing"))

    def fates() -> dict[str, tuple[str, str]]:
        asked = {"by": "key", "topic": "orders", "key": "fresh"}
        (message,) = operator.get(HERE, asked).context["found"].messages
        place = {"topic": "orders", "broker": message.broker_name}
        place |= {"queue": message.queue_id, "offset": message.queue_offset}
        fate = operator.get(ONE, place).context["fate"]
        assert fate.problem == ""
        return {each.group: (each.state, each.reason) for each in fate.verdicts}

    wait_until(lambda: fates().get("failing", ("",))[0] == "not_yet")
    wait_until(lambda: fates()["blue-only"] == ("filtered", "tags"))
    wait_until(lambda: fates()["all"] == ("passed", "passed"))
    assert fates()["failing"] == ("not_yet", "retries")


def test_a_trace_is_drawn_and_says_who_consumed(
    viewer: Client, running: Running, settings: Any
) -> None:
    assert "The cluster has no topic" in viewer.get(ONE, PLACE).content.decode()
    settings.ROCKETSCOPE_TRACE_TOPIC = "traces"
    running.call(running.cluster.create_topic("traces", 1))
    asked = viewer.get(ONE, PLACE).context["message"].msg_id
    lines = [
        ["SubBefore", "1700000000000", "hz", "all", "R", asked, "0", "k"],
        ["SubAfter", "R", asked, "14", "true", "k", "0"],
    ]
    body = "".join("\x01".join(line) + "\x02" for line in lines).encode()
    running.send(Message.of("traces", body, keys=[asked]))
    answer = viewer.get(ONE, PLACE)
    assert [step.took_ms for step in answer.context["fate"].steps] == [14]
    assert "trace-consume" in answer.content.decode()


def test_a_message_is_sent_read_back_and_recorded(operator: Client) -> None:
    given = {"topic": "orders", "tag": "t", "keys": "sent-1", "body": "hi"}
    refused = operator.post(f"{HERE}send/", given)
    assert "A reason is needed" in refused.content.decode()
    answer = operator.post(f"{HERE}send/", {**given, "reason": "try"}, follow=True)
    page = answer.content.decode()
    assert "read back from its queue" in page
    assert "sent-1" in page
    entry = AuditEntry.objects.get(action="message.send")
    assert (entry.target, entry.reason, entry.details["found"]) == (
        *("orders", "try"),
        True,
    )


def test_sending_creates_no_topic(operator: Client, running: Running) -> None:
    given = {"topic": "nowhere", "body": "hi", "reason": "try"}
    answer = operator.post(f"{HERE}send/", given)
    assert answer.status_code == 409
    assert "nowhere" not in running.ask(lambda admin: admin.topic_names())
    assert AuditEntry.objects.get(action="message.send").outcome == "failed"


def test_a_message_is_sent_again_to_a_topic(operator: Client) -> None:
    preview = operator.get(f"{ONE}resend/", PLACE).content.decode()
    assert "preview, nothing is sent yet" in preview
    assert "UNIQ_KEY" in preview
    given = {**PLACE, "to": "topic", "topic_to": "orders", "reason": "again"}
    page = operator.post(f"{ONE}resend/", given, follow=True).content.decode()
    assert "ORIGIN_MESSAGE_ID" in page
    entry = AuditEntry.objects.get(action="message.resend")
    assert entry.details["from"] == "orders broker-a/0@3"


def test_sending_again_shows_no_body_and_needs_no_right_to_it(
    operator: Client,
) -> None:
    User.objects.filter(role=Role.OPERATOR).update(sees_bodies=False)
    assert operator.post(f"{ONE}body/", PLACE).status_code == 403
    preview = operator.get(f"{ONE}resend/", PLACE).content.decode()
    given = {**PLACE, "to": "topic", "topic_to": "orders", "reason": "again"}
    sent = operator.post(f"{ONE}resend/", given, follow=True)
    assert sent.status_code == 200
    assert "4111" not in preview + sent.content.decode()
    assert not AuditEntry.objects.filter(action="message.look").exists()


def test_a_group_that_was_moved_past_a_message_from_here_is_not_said_to_be_done(
    operator: Client, running: Running, east: ClusterSettings
) -> None:
    async def begin(admin: Any) -> None:
        await admin.create_group(SubscriptionGroupConfig("moved"))
        for span in (await admin.queue_spans("orders")).spans:
            await admin.commit_offset("moved", span.queue, span.max)

    running.ask(begin)
    watch(east, "moved")
    running.send(Message.of("orders", b"{}", keys=["skipped"]))
    asked = {"by": "key", "topic": "orders", "key": "skipped"}
    (message,) = operator.get(HERE, asked).context["found"].messages
    wanted = Wanted.from_query("to=latest&topic=orders")
    move(
        User.objects.get(role=Role.OPERATOR),
        Cluster.objects.get(name="east"),
        "moved",
        wanted,
        token=preview_of("east", "moved", wanted).plan.token,
        reason="skip it",
        confirm="moved",
    )
    verdicts = {each.group: each for each in fate_of("east", message).verdicts}
    assert (verdicts["moved"].state, verdicts["moved"].reason) == ("unknown", "moved")


def test_one_client_consumes_a_message_again(
    operator: Client, running: Running
) -> None:
    client = running.join("again")
    wait_until(lambda: not waits(running, "again"))
    preview = operator.get(f"{ONE}resend/", {**PLACE, "group": "again"})
    assert preview.context["clients"] == [client]
    given = {**PLACE, "to": "group", "group": "again", "client": client}
    refused = operator.post(f"{ONE}resend/", {**given, "reason": " "})
    assert refused.status_code == 409
    page = operator.post(f"{ONE}resend/", {**given, "reason": "check"}, follow=True)
    assert "CR_SUCCESS" in page.content.decode()
    entry = AuditEntry.objects.get(action="message.consume")
    assert (entry.target, entry.details["result"]) == ("again", "CR_SUCCESS")
    absent = {**given, "client": "10.0.0.9@nobody", "reason": "check"}
    assert operator.post(f"{ONE}resend/", absent).status_code == 409


def test_a_read_only_cluster_is_searched_and_not_written(
    operator: Client, running: Running, settings: Any
) -> None:
    address = running.cluster.nameserver_address
    settings.ROCKETSCOPE_CLUSTERS = {"east": ClusterSettings("east", (address,))}
    for asked in SEARCHES:
        assert operator.get(HERE, asked).context["found"].messages
    assert operator.get(ONE, PLACE).context["fate"].problem == ""
    given = {**PLACE, "to": "topic", "topic_to": "orders", "reason": "again"}
    answer = operator.post(f"{ONE}resend/", given)
    assert answer.status_code == 409
    assert "attached read-only" in answer.content.decode()


def waits(running: Running, group: str) -> int:
    """Return how many messages of the topic a group has not committed."""

    async def left(admin: Any) -> int:
        ends = {s.queue: s.max for s in (await admin.queue_spans("orders")).spans}
        done = await admin.committed_offsets(group, "orders")
        return sum(end - done.get(queue, 0) for queue, end in ends.items())

    return int(running.ask(left))


def watch(cluster: ClusterSettings, *groups: str) -> None:
    """Let the collector have seen the groups."""
    for group in groups:
        Epoch.objects.create(
            cluster=Cluster.objects.get(name=cluster.name),
            group=group,
            number=1,
            cause="first_seen",
            began_by=timezone.now(),
        )
