"""The pages on which things are changed: what they show, refuse and lead to."""

from __future__ import annotations

import asyncio
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from dashboard.administration.plans import Wish
from dashboard.administration.reads import look
from dashboard.administration.refusals import SilentClusterError
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import AuditEntry, Role
from tests.dashboard.conftest import SignIn
from tests.dashboard.overview.test_pages import text_of

from .conftest import East

BASE = "/clusters/east/"


@pytest.fixture
def operator(sign_in: SignIn, east: East) -> Client:
    return sign_in(Role.OPERATOR)


def hidden(client: Client, address: str) -> dict[str, str]:
    """Return the hidden fields of the form that applies a preview, with a reason."""
    content = client.get(address).content.decode()
    form = content.partition('class="apply-form"')[2].partition("</form>")[0]
    found = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)
    return {name: unescape(value) for name, value in found} | {"reason": "CHG-7"}


def test_a_topic_is_made_changed_and_its_change_undone(operator: Client) -> None:
    page = f"{BASE}new/topic/?name=paged&readQueueNums=4&writeQueueNums=4&perm=6"
    shown = text_of(operator.get(page))
    assert "is created" in shown
    assert "mqadmin updateTopic" in shown
    assert "Create in 2 places" in shown
    answer = operator.post(f"{BASE}new/topic/", hidden(operator, page))
    entry = AuditEntry.objects.get(target="paged")
    assert answer["Location"] == f"{BASE}changed/topic/{entry.pk}/"
    assert "Done everywhere, and read back." in text_of(
        operator.get(answer["Location"])
    )

    page = f"{BASE}topics/paged/change/?perm=4&broker=broker-b"
    shown = text_of(operator.get(page))
    assert "perm 6 → becomes 4" in shown
    assert "broker-b: sends to this topic would be refused." in shown
    answer = operator.post(f"{BASE}topics/paged/change/", hidden(operator, page))
    shown = text_of(operator.get(answer["Location"]))
    assert "Preview undoing it" in shown
    shown = text_of(operator.get(f"{BASE}topics/paged/change/"))
    assert "1 value differs between brokers." in shown
    assert "Make all as on broker-a" in shown
    pk = answer["Location"].rstrip("/").rpartition("/")[2]
    page = f"{BASE}topics/paged/change/?undo={pk}"
    assert "perm 4 → becomes 6" in text_of(operator.get(page))
    operator.post(f"{BASE}topics/paged/change/", hidden(operator, page))
    shown = text_of(operator.get(f"{BASE}topics/paged/change/"))
    assert "The same on all brokers that answered." in shown


def test_deleting_a_group_asks_for_its_name_on_the_page(
    operator: Client, east: East
) -> None:
    page = f"{BASE}new/group/?name=paged-group&retryMaxTimes=3"
    operator.post(f"{BASE}new/group/", hidden(operator, page))
    page = f"{BASE}groups/paged-group/delete/"
    shown = text_of(operator.get(page))
    assert "This cannot be undone." in shown
    assert "paged-group: nobody online" in shown
    refused = operator.post(page, hidden(operator, page))
    assert refused.status_code == 409
    assert "Type “paged-group” to confirm it." in text_of(refused)
    fields = {**hidden(operator, page), "confirm": "paged-group"}
    answer = operator.post(page, fields)
    shown = text_of(operator.get(answer["Location"]))
    assert "not there" in shown
    assert "There is nothing that undoing could put back." in shown
    assert "paged-group" not in east.do(lambda admin: admin.group_configs())


def test_a_viewer_sees_the_preview_and_cannot_apply_it(
    sign_in: SignIn, east: East
) -> None:
    viewer = sign_in(Role.VIEWER)
    page = f"{BASE}new/topic/?name=viewed&readQueueNums=4"
    assert "Applying needs the role “Operator”." in text_of(viewer.get(page))
    assert viewer.post(f"{BASE}new/topic/", {}).status_code == 403


def test_settings_of_a_broker_are_for_admins(sign_in: SignIn, east: East) -> None:
    page = f"{BASE}brokers/broker-b/settings/?fileReservedTime=24"
    assert "Applying needs the role “Admin”." in text_of(
        sign_in(Role.OPERATOR).get(page)
    )
    admin = sign_in(Role.ADMIN)
    assert "fileReservedTime 72 → becomes 24" in text_of(admin.get(page))
    answer = admin.post(f"{BASE}brokers/broker-b/settings/", hidden(admin, page))
    assert "Done everywhere" in text_of(admin.get(answer["Location"]))
    cold = f"{BASE}brokers/broker-b/settings/?setting=regionId&value=x"
    assert "it may count only after a restart" in text_of(admin.get(cold))


def test_writing_to_a_broker_is_stopped_on_a_page(sign_in: SignIn, east: East) -> None:
    east.do(lambda admin: admin.create_topic("paged-drain", 1))
    admin = sign_in(Role.ADMIN)
    page = f"{BASE}brokers/broker-b/writing/?writing=stopped"
    assert "mqadmin wipeWritePerm" in text_of(admin.get(page))
    answer = admin.post(f"{BASE}brokers/broker-b/writing/", hidden(admin, page))
    pk = answer["Location"].rstrip("/").rpartition("/")[2]
    back = f"{BASE}brokers/broker-b/writing/?undo={pk}"
    admin.post(f"{BASE}brokers/broker-b/writing/", hidden(admin, back))
    assert "writing allowed" in text_of(admin.get(f"{BASE}brokers/broker-b/writing/"))


def test_brokers_without_users_say_so(sign_in: SignIn, east: East) -> None:
    shown = text_of(sign_in(Role.ADMIN).get(f"{BASE}access/"))
    assert "so anybody may do anything on them: broker-a, broker-b" in shown
    page = f"{BASE}access/rules/?name=User:x&resource=Topic:*&actions=Pub"
    assert "left out:" in text_of(sign_in(Role.ADMIN).get(page))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("?name=User:x&resource=orders&actions=Pub", "a resource is written like"),
        ("?name=User:x&resource=Topic:*", "at least one action"),
        ("?name=x&resource=Topic:*&actions=Pub", "a subject is written like"),
        ("?name=User:x&undo=999", "No change 999"),
    ],
)
def test_a_form_that_cannot_be_says_why(
    sign_in: SignIn, east: East, query: str, words: str
) -> None:
    shown = text_of(sign_in(Role.ADMIN).get(f"{BASE}access/rules/{query}"))
    assert words in shown


def test_a_broker_left_out_is_said_on_the_pages(operator: Client, east: East) -> None:
    east.do(lambda admin: admin.create_topic("paged-part", 1))
    with east.silent("broker-c", "paged-part"):
        page = f"{BASE}topics/paged-part/delete/"
        shown = text_of(operator.get(page))
        assert "What is lost: ≥ 0 messages in paged-part." in shown
        assert "No broker that answered knows a group that consumes it." in shown
        fields = {**hidden(operator, page), "confirm": "paged-part"}
        shown = text_of(operator.get(operator.post(page, fields)["Location"]))
    assert "Done in part: see which brokers have it." in shown
    assert "broker-c left out 127.0.0.1:1" in shown
    assert "how many messages is not known (a broker did not answer" in shown


def test_a_silent_cluster_is_asked_once(
    sign_in: SignIn, east: East, settings: Any
) -> None:
    asked: list[str] = []

    async def hang_up(_reader: Any, writer: asyncio.StreamWriter) -> None:
        asked.append("connected")
        writer.close()

    async def listen() -> asyncio.Server:
        return await asyncio.start_server(hang_up, "127.0.0.1", 0)

    server = asyncio.run_coroutine_threadsafe(listen(), east.loop).result(20)
    port = server.sockets[0].getsockname()[1]
    silent = ClusterSettings("east", (f"127.0.0.1:{port}",), writes=True)
    settings.ROCKETSCOPE_CLUSTERS = {"east": silent}
    with pytest.raises(SilentClusterError):
        look(east.cluster, Wish("topic", "any", "delete"))
    once = len(asked)
    shown = sign_in(Role.OPERATOR).get(f"{BASE}topics/any/delete/")
    assert shown.status_code == 200
    assert len(asked) == 2 * once
    east.loop.call_soon_threadsafe(server.close)


def test_an_unknown_change_is_not_found(operator: Client) -> None:
    assert operator.get(f"{BASE}changed/topic/999/").status_code == 404
