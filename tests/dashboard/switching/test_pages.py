"""The pages on which a group is switched, and what they refuse."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from dashboard.models import (
    Epoch,
    GroupChange,
    ManagedGroup,
    Role,
    SavedScenario,
)
from dashboard.switching import pages
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import hosted_group, now_ms, overview, waiting_for_locks
from tests.dashboard.groups.test_pages import embedded
from tests.dashboard.hosting.managed import NAME, host
from tests.dashboard.missing_broker import without_a_broker
from tests.dashboard.overview.test_pages import text_of

GROUP = f"/clusters/hangzhou/groups/{NAME}/"
CIRCLE = "v=1&s=AVG_BY_CIRCLE"


@pytest.fixture
def group(hangzhou: object, write: Write) -> ManagedGroup:
    write(hosted_group(now_ms()))
    return host()


@pytest.fixture
def operator(sign_in: SignIn, group: ManagedGroup) -> Client:
    return sign_in(Role.OPERATOR)


def fields(client: Client, query: str = CIRCLE, **changes: str) -> dict[str, str]:
    """Return the hidden fields of the preview's form, with a reason."""
    content = client.get(f"{GROUP}switch/?{query}").content.decode()
    form = content.partition("switch/apply/")[2].partition("</form>")[0]
    found = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))
    found["query"] = found["query"].replace("&amp;", "&")
    return {**found, "reason": "CHG-7", **changes}


def test_the_preview_shows_what_moves_and_for_how_long(operator: Client) -> None:
    page = text_of(operator.get(f"{GROUP}switch/?{CIRCLE}"))
    assert "10 of 16 queues change owner" in page
    assert f"{NAME}-1.1 {NAME}-2.1 2" in page
    assert "queues with two owners: 4, with none: 4" in page
    assert "Held twice at most 1.0 s" in page
    assert "Apply, 10 moves" in page


def test_orderly_groups_are_never_held_twice(operator: Client) -> None:
    ManagedGroup.objects.update(orderly=True)
    page = text_of(operator.get(f"{GROUP}switch/?{CIRCLE}"))
    assert "Held twice never: orderly members hold the broker's lock" in page
    assert "Held by nobody at most 21 s" in page


def test_changes_that_are_not_listed_are_counted(
    operator: Client, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator.post(f"{GROUP}switch/apply/", fields(operator))
    change = GroupChange.objects.get()
    change.pk = None
    change.save()
    page = text_of(operator.get(f"{GROUP}changes/"))
    assert "are listed" not in page
    monkeypatch.setattr(pages, "CHANGES_SHOWN", 1)
    page = text_of(operator.get(f"{GROUP}changes/"))
    assert "The newest 1 of 2 are listed." in page


def test_it_is_applied_watched_and_undone(operator: Client, write: Write) -> None:
    answer = operator.post(f"{GROUP}switch/apply/", fields(operator))
    change = GroupChange.objects.get()
    page_of_change = f"{GROUP}changes/{change.pk}/"
    assert answer["Location"] == page_of_change
    page = text_of(operator.get(page_of_change))
    assert "Members are following" in page
    assert "0 of 3 members report AVG_BY_CIRCLE" in page
    assert "CHG-7" in page
    answer = operator.post(f"{page_of_change}undo/", {"reason": "worse"})
    undo = GroupChange.objects.get(undo_of=change)
    assert answer["Location"] == f"{GROUP}changes/{undo.pk}/"
    listed = text_of(operator.get(f"{GROUP}changes/"))
    assert "AVG_BY_CIRCLE → AVG undo" in listed


def test_progress_is_given_as_a_fragment(operator: Client) -> None:
    operator.post(f"{GROUP}switch/apply/", fields(operator))
    address = f"{GROUP}changes/{GroupChange.objects.get().pk}/"
    part = operator.get(address, headers={"X-Fragment": "1"}).content.decode()
    assert 'data-state="running"' in part
    assert "<html" not in part


def test_a_refusal_keeps_the_reason_at_the_button(operator: Client) -> None:
    given = fields(operator, token="old")
    answer = operator.post(f"{GROUP}switch/apply/", given)
    assert answer.status_code == 409
    page = text_of(answer)
    assert "The group has changed since the preview" in page
    assert 'value="CHG-7"' in answer.content.decode()
    assert not GroupChange.objects.exists()


def test_overwriting_others_needs_a_tick(operator: Client, sign_in: SignIn) -> None:
    operator.post(f"{GROUP}switch/apply/", fields(operator))
    first = GroupChange.objects.get()
    other = sign_in(Role.ADMIN)
    given = fields(other, "v=1&s=CONSISTENT_HASH&n=20")
    other.post(f"{GROUP}switch/apply/", given)
    undo = f"{GROUP}changes/{first.pk}/undo/"
    answer = operator.post(undo, {"reason": "worse"})
    assert answer.status_code == 409
    assert "admin changed the strategy" in text_of(answer)
    assert 'name="confirmed"' in answer.content.decode()
    answer = operator.post(undo, {"reason": "worse", "confirmed": "yes"})
    assert answer.status_code == 302
    assert ManagedGroup.objects.get().strategy == "AVG"


def test_a_viewer_reads_but_applies_nothing(
    sign_in: SignIn, group: ManagedGroup
) -> None:
    viewer = sign_in(Role.VIEWER)
    page = text_of(viewer.get(f"{GROUP}switch/?{CIRCLE}"))
    assert "Applying needs the role of an operator" in page
    assert viewer.post(f"{GROUP}switch/apply/", {}).status_code == 403
    assert viewer.post(f"{GROUP}changes/1/undo/", {}).status_code == 403


def test_what_cannot_be_applied_says_why(operator: Client) -> None:
    page = text_of(operator.get(f"{GROUP}switch/?{CIRCLE}&q=orders:hz1@broker-a:16"))
    assert "change the topics first" in page
    assert "Apply, " not in page
    refused = unescape(text_of(operator.get(f"{GROUP}switch/?v=1&z=1")))
    assert "unknown field 'z'" in refused


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (CIRCLE, "new AllocateMessageQueueAveragelyByCircle()"),
        ("v=1&s=CONSISTENT_HASH&n=40", "AllocateMessageQueueConsistentHash(40)"),
        ("v=1&s=MACHINE_ROOM&o=hz1", 'setConsumeridcs(Set.of("hz1"))'),
        ("v=1&show=BALANCED", "QueueConfig.apply(consumer"),
        (
            "v=1&s=MACHINE_ROOM_NEARBY&i=AVG&b=@&c=.",
            "new AllocateMachineRoomNearby(",
        ),
    ],
)
def test_groups_of_others_get_their_code(
    sign_in: SignIn, write: Write, query: str, said: str
) -> None:
    write(waiting_for_locks())
    page = unescape(text_of(sign_in(Role.OPERATOR).get(f"{GROUP}switch/?{query}")))
    assert said in page
    assert "strategy_options=" in page
    assert "mqadmin setConsumeMode" in page
    assert "-m POP -q 8" in page
    assert "Apply, " not in page


def test_lines_of_mqadmin_are_for_this_cluster(sign_in: SignIn, write: Write) -> None:
    """RocketMQ's own name of the cluster is in the list; without it a word stands."""
    write(waiting_for_locks())
    client = sign_in(Role.OPERATOR)
    ends = f"-t orders -g {NAME} -m PULL"
    line = "mqadmin setConsumeMode -n '10.20.6.1:9876;10.20.6.2:9876' -c"
    address = f"{GROUP}switch/?{CIRCLE}"
    assert f"{line} CLUSTER {ends}" in unescape(text_of(client.get(address)))
    write(overview())
    page = client.get(address)
    assert f"{line} hangzhou {ends}" in unescape(text_of(page))
    copying = 'data-copy-from="#guide-pull" aria-label="Copy: mqadmin PULL"'
    assert copying in page.content.decode()


def test_the_map_says_since_when_strategies_are_mixed(
    operator: Client, write: Write
) -> None:
    operator.post(f"{GROUP}switch/apply/", fields(operator))
    page = embedded(operator.get(GROUP), "page")
    assert page["change"]["strategy"] == "AVG_BY_CIRCLE"
    state: Any = hosted_group(now_ms())
    state["members"][0]["strategy"] = "AVG_BY_CIRCLE"
    write(state)
    cluster = ManagedGroup.objects.get().cluster
    members = [
        {"client_id": m["client_id"], "strategy": m["strategy"]}
        for m in state["members"]
    ]
    began = GroupChange.objects.get().at
    Epoch.objects.create(
        cluster=cluster,
        group=NAME,
        number=1,
        members=members,
        cause="first_seen",
        began_by=began,
    )
    content = operator.get(GROUP).content.decode()
    assert f'data-since="{round(began.timestamp() * 1000)}"' in content


def test_a_saved_scenario_stands_beside_the_change_made_from_it(
    operator: Client,
) -> None:
    given = {"group": NAME, "query": CIRCLE, "name": "Sale", "shared": "on"}
    answer = operator.post("/clusters/hangzhou/scenarios/save/", given)
    saved = SavedScenario.objects.get()
    assert answer["Location"] == f"{GROUP}whatif/?{CIRCLE}&saved={saved.pk}"
    assert "Sale operator · shared" in text_of(operator.get(answer["Location"]))
    applied = fields(operator, f"{CIRCLE}&saved={saved.pk}")
    operator.post(f"{GROUP}switch/apply/", applied)
    assert GroupChange.objects.get().scenario == saved


def test_scenarios_are_shared_and_deleted_by_their_owner(
    operator: Client, sign_in: SignIn
) -> None:
    save = "/clusters/hangzhou/scenarios/save/"
    operator.post(save, {"group": "", "query": "v=1&q=t:b:4", "name": "New"})
    saved = SavedScenario.objects.get()
    change = f"/clusters/hangzhou/scenarios/{saved.pk}/"
    viewer, admin = sign_in(Role.VIEWER), sign_in(Role.ADMIN)
    assert viewer.post(change, {"do": "delete"}).status_code == 403
    assert admin.post(change, {"do": "delete"}).status_code == 404, "not shared"
    answer = operator.post(change, {"do": "share"})
    assert answer["Location"].startswith("/clusters/hangzhou/whatif/?v=1&q=t%3Ab%3A4")
    assert "New operator · shared" in text_of(viewer.get(answer["Location"]))
    assert operator.post(change, {"do": "burn"}).status_code == 404
    assert operator.post(change, {"do": "delete"}).status_code == 302
    assert not SavedScenario.objects.exists()


def test_what_cannot_be_saved_is_said(operator: Client) -> None:
    given = {"group": NAME, "query": CIRCLE, "name": "x" * 121}
    answer = operator.post("/clusters/hangzhou/scenarios/save/", given, follow=True)
    assert "1 to 120 characters, this one has 121" in text_of(answer)


@pytest.mark.parametrize("query", ["", "v=1", CIRCLE, "v=1&s=MACHINE_ROOM_NEARBY"])
def test_a_group_without_members_previews(
    sign_in: SignIn, write: Write, query: str
) -> None:
    state = waiting_for_locks(kind="offline", mode=None)
    state["members"] = []
    for each in state["queues"]:
        each["owners"] = []
    write(state)
    answer = sign_in(Role.OPERATOR).get(f"{GROUP}switch/?{query}")
    page = unescape(text_of(answer))
    assert answer.status_code == 200
    assert "0 of 16 queues change owner" in page
    assert "strategy_options=" in page


def test_nothing_is_applied_while_a_broker_is_missing(
    operator: Client, write: Write
) -> None:
    given = fields(operator)
    write(without_a_broker(hosted_group(now_ms())))
    page = unescape(text_of(operator.get(f"{GROUP}switch/?{CIRCLE}")))
    assert "hz1@broker-a: no full answer since" in page
    assert "Wait until it answers or is declared gone for good" in page
    assert "Apply, " not in page
    answer = operator.post(f"{GROUP}switch/apply/", given)
    assert answer.status_code == 409
    assert not GroupChange.objects.exists()
    assert ManagedGroup.objects.get().strategy == "AVG"
    rest = operator.get(f"/api/v1{GROUP}switch", {"query": CIRCLE}).json()
    assert (rest["complete"], rest["desired"]) == (False, None)
    assert "no full answer" in rest["refusal"]
    assert rest["notes"][0]["code"] == "incomplete_since"


def test_what_a_missing_broker_hides_is_no_miss(operator: Client, write: Write) -> None:
    operator.post(f"{GROUP}switch/apply/", fields(operator))
    write(without_a_broker(hosted_group(now_ms())))
    change = GroupChange.objects.get()
    page = text_of(operator.get(f"{GROUP}changes/{change.pk}/"))
    assert "for 8 queues nobody reports an owner" in page
    misses = page.partition("Predicted Reported")[2].partition("What was changed")[0]
    assert "hz1@broker-a" not in misses


def test_a_row_that_cannot_be_computed_says_why(operator: Client) -> None:
    page = unescape(text_of(operator.get(f"{GROUP}switch/?v=1&s=MACHINE_ROOM")))
    assert "MACHINE_ROOM cannot be computed for this scenario" in page
    assert "options: rooms" in page
    page = unescape(text_of(operator.get(f"{GROUP}switch/?v=1&show=NOW")))
    assert "there is nothing to do" in page
