"""The pages of dead letters and retries, on a real embedded cluster."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
import redis
from django.test import Client

from dashboard.dead_letters import reads
from dashboard.gateway.settings import ClusterSettings
from dashboard.live.names import overview_key
from dashboard.models import AuditEntry
from rmqcore.model import Message, Perm
from rmqcore.model.topic import TopicConfig, dead_letter_topic
from tests.dashboard.messages.conftest import Running
from tests.dashboard.missing import overview_missing
from tests.support.valkey import Valkey

from .conftest import BODY, GROUP, HERE

pytestmark = pytest.mark.usefixtures("east", "member")


def test_dead_letters_are_listed_with_where_they_came_from(viewer: Client) -> None:
    answer = viewer.get(HERE)
    found = answer.context["found"]
    assert (found.kept, found.last_hour, found.partial) == (3, 3, False)
    assert {each.topic for each in found.letters} == {"orders"}
    assert {each.message.reconsume_times for each in found.letters} == {1}
    page = answer.content.decode()
    assert "4111" not in page
    assert "/messages/one/?topic=%25DLQ%25billing" in page
    assert "Resending needs the role of an operator." in page


def test_they_are_counted_by_what_they_have_in_common(viewer: Client) -> None:
    causes = viewer.get(HERE).context["causes"]
    assert [(e.value, e.count) for e in causes["tag"].shown] == [
        ("red", 2),
        ("blue", 1),
    ]
    assert [(e.value, e.count) for e in causes["host"].shown] == [("127.0.0.1", 3)]


def test_values_that_are_not_named_are_counted(
    viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "MOST_CAUSES", 1)
    answer = viewer.get(HERE)
    causes = answer.context["causes"]
    assert [(e.value, e.count) for e in causes["tag"].shown] == [("red", 2)]
    assert (causes["tag"].more, causes["host"].more) == (1, 0)
    assert answer.content.decode().count('<li class="dim">and 1 more</li>') == 1


def test_filters_and_the_span_are_in_the_address(viewer: Client) -> None:
    chosen = (
        viewer.get(HERE, {"last": "1h", "f.tag": "red"}).context["page_list"].chosen
    )
    assert sorted(each.message.keys for each in chosen) == [("a-1",), ("a-2",)]
    over = viewer.get(HERE, {"end": "2020-01-01T00:00"})
    assert over.context["found"].letters == []
    assert over.context["found"].kept == 3
    assert "No dead letter was stored in this span" in over.content.decode()
    wrong = viewer.get(HERE, {"begin": "yesterday"}).content.decode()
    assert "“yesterday” is no time" in wrong


def test_a_group_that_gave_nothing_up_has_none(viewer: Client) -> None:
    page = viewer.get(HERE.replace(GROUP, "stock"))
    assert page.context["found"].kept == 0
    assert "has given no message up so far" in page.content.decode()


def test_where_a_broker_was_killed_nothing_is_said_of_its_letters(
    viewer: Client, valkey: Valkey, settings: Any
) -> None:
    with redis.Redis(port=valkey.port) as client:
        client.set(overview_key("east"), orjson.dumps(overview_missing()))
    settings.ROCKETSCOPE_REDIS_URL = valkey.url
    answer = viewer.get(HERE.replace(GROUP, "stock"))
    found = answer.context["found"]
    assert (found.exists, found.kept, found.partial) == (False, None, True)
    page = answer.content.decode()
    assert "has given no message up so far" not in page
    assert "others may have" in page
    listed = viewer.get(HERE).context["found"]
    assert (listed.kept, listed.partial) == (3, True)
    assert list(listed.failed) == list(found.failed)


def test_csv_and_json_lines_have_what_the_table_shows(viewer: Client) -> None:
    csv = viewer.get(HERE, {"format": "csv", "f.tag": "blue"})
    lines = b"".join(csv.streaming_content).splitlines()  # type: ignore[attr-defined]
    assert lines[0].startswith(b"stored,topic,tag,keys,tries,resent")
    assert len(lines) == 2
    answer = viewer.get(HERE, {"format": "jsonl", "f.tag": "blue"})
    (row,) = map(json.loads, answer.content.splitlines())
    assert (row["topic"], row["tag"], row["tries"]) == ("orders", "blue", 1)
    assert "body" not in row


def test_bodies_are_exported_masked_and_recorded(
    operator: Client, viewer: Client, settings: Any
) -> None:
    settings.ROCKETSCOPE_MESSAGE_MASKS = ["card"]
    assert viewer.post(f"{HERE}bodies/").status_code == 403
    unread = operator.post(f"{HERE}bodies/", {"begin": "2026-13-01"})
    assert (unread.status_code, "2026-13-01" in unread.content.decode()) == (409, True)
    answer = operator.post(f"{HERE}bodies/", {"f.tag": "red"})
    rows = [json.loads(line) for line in answer.content.splitlines()]
    assert [row["body"] for row in rows] == [{"event": "paid", "card": "•••"}] * 2
    assert rows[0]["masked_by"] == ["card"]
    entry = AuditEntry.objects.get(action="dead_letters.look")
    assert (entry.target, entry.details["letters"]) == (GROUP, 2)


def test_letters_that_may_only_be_written_are_counted_and_said(
    viewer: Client, operator: Client, running: Running
) -> None:
    config = TopicConfig(dead_letter_topic(GROUP), 1, 1, Perm.WRITE)
    running.ask(lambda admin: set_topic(admin, config))
    try:
        answer = viewer.get(HERE)
        found = answer.context["found"]
        assert (found.kept, found.letters, found.partial) == (3, [], False)
        assert found.last_hour is None
        page = answer.content.decode()
        assert "can only be written" in page
        assert "mqadmin updateTopicPerm -b 127.0.0.1:" in page
        assert f"-n {running.cluster.nameserver_address}</code>" in page
        preview = operator.get(f"{HERE}resend/").content.decode()
        assert "can only be written" in preview
        assert "only those that could be read; more may match" in preview
        api = "/api/v1/clusters/east/groups/billing/dead-letters/resend"
        assert operator.get(api, {"query": ""}).json()["write_only"] == ["broker-a"]
    finally:
        open_again = TopicConfig(dead_letter_topic(GROUP), 1, 1)
        running.ask(lambda admin: set_topic(admin, open_again))


async def set_topic(admin: Any, config: TopicConfig) -> None:
    (broker,) = await admin.brokers()
    await admin.put_topic(config, broker.master)


def test_what_a_letter_does_not_say_has_its_reason(
    viewer: Client, operator: Client, running: Running
) -> None:
    dead = dead_letter_topic("plain")
    running.call(running.cluster.create_topic(dead, 1))
    running.send(Message.of(dead, BODY))
    here = HERE.replace(GROUP, "plain")
    page = viewer.get(here, {"columns": "topic,origin"}).content.decode()
    assert page.count('title="The message does not say it">—') == 2
    preview = operator.get(f"{here}resend/").content.decode()
    assert 'title="The message does not say it">—' in preview


def test_a_cluster_that_is_silent_is_said(viewer: Client, settings: Any) -> None:
    settings.ROCKETSCOPE_CLUSTERS = {"east": ClusterSettings("east", ("127.0.0.1:1",))}
    for address in (HERE, f"/clusters/east/groups/{GROUP}/retries/"):
        page = viewer.get(address).content.decode()
        assert "The cluster did not answer." in page
