from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from analytics.lake.retention import GivenUp
from dashboard.jobs.unread import note_given_up
from dashboard.models import Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import group_state, member, overview, overview_row

HOME = "/clusters/hangzhou/"


@pytest.fixture
def viewer(sign_in: SignIn) -> Client:
    return sign_in(Role.VIEWER)


def text_of(answer: Any) -> str:
    """Return what one reads: no tags, white space as one blank."""
    plain = re.sub(
        r"<(script|template)\b.*?</\1>", "", answer.content.decode(), flags=re.S
    )
    return " ".join(re.sub(r"<[^>]+>", " ", plain).split())


def test_the_overview_says_what_is_worst_and_what_is_not_known(
    viewer: Client, write: Write
) -> None:
    write(overview())
    page = text_of(viewer.get(HOME))
    assert "3 need a look · 3 unknown" in page
    assert "Lag ≥ 639,996" in page
    assert "2 of 3 brokers answered." in page
    assert "2 groups have queues on hz2@broker-c." in page
    assert "did not answer request 43 within 3.0 s" in page
    assert page.index("order-settlement") < page.index("search-index")
    assert (
        "No owner order-settlement orders 4 of 16 queues without owner 161,898" in page
    )


def test_a_group_with_a_slash_in_its_name_is_listed_and_opens(
    viewer: Client, write: Write
) -> None:
    write(overview(groups=[overview_row("team/service")]))
    address = "/clusters/hangzhou/groups/team%252Fservice/"
    assert f'href="{address}"' in viewer.get(HOME).content.decode()
    write(group_state([member(0)], [], group="team/service"))
    page = viewer.get(address)
    assert page.context["state"]["group"] == page.context["group"] == "team/service"
    document = viewer.get("/api/v1/clusters/hangzhou/groups/team%252Fservice")
    assert document.json()["group"] == "team/service"


def test_a_lake_that_cannot_be_written_is_told(viewer: Client, write: Write) -> None:
    write(overview())
    assert "lake" not in text_of(viewer.get(HOME))
    fault = {"error": "OSError: [Errno 28] No space left", "pending_rows": 12_340}
    write(overview(lake=fault | {"dropped_rows": 0}))
    page = text_of(viewer.get(HOME))
    assert "Samples cannot be written to the lake. OSError: [Errno 28] No space" in page
    assert "12,340 rows wait in memory" in page
    assert "given up" not in page
    write(overview(lake=fault | {"dropped_rows": 1}))
    assert "1 row was given up, because memory is full." in text_of(viewer.get(HOME))


def test_a_collector_that_is_late_is_told(viewer: Client, write: Write) -> None:
    write(overview())
    assert "late" not in text_of(viewer.get(HOME))
    write(overview(late={"late_ms": 12_300, "skipped": 2, "held_ms": 8_000}))
    page = text_of(viewer.get(HOME))
    assert "The collector is late. Its last sweep began 12 s after its time." in page
    assert "2 sweeps before it were left out. It stood still for up to 8.0 s." in page
    write(overview(late={"late_ms": 40, "skipped": 1, "held_ms": 300}))
    page = text_of(viewer.get(HOME))
    assert "The collector is late. 1 sweep before it was left out. Its machine" in page


def test_samples_that_roll_ups_lack_are_told(viewer: Client, write: Write) -> None:
    write(overview())
    assert "Roll-ups" not in text_of(viewer.get(HOME))
    first = 1_773_360_000_000  # 2026-03-13 00:00 UTC
    lost = [GivenUp("hangzhou", 37, first, first + 36 * 60_000)]
    note_given_up(lost, first + 50 * 3_600_000)
    page = text_of(viewer.get(HOME))
    assert "Roll-ups lack samples. 37 files, written 2026-03-13 00:00 to" in page
    assert "2026-03-13 00:36, were deleted before a roll-up had read them" in page


def test_unknown_is_a_dash_with_its_reason_and_never_zero(
    viewer: Client, write: Write
) -> None:
    write(overview(groups=[overview_row("price-feed", lag=None, oldest_ms=None)]))
    content = viewer.get(HOME).content.decode()
    row = content[content.index('data-key="price-feed"') :]
    assert re.findall(r'title="([^"]+)">—', row)[:2] == ["Not known", "Not known"]


def test_the_list_is_filtered_sorted_and_cut_on_the_server(
    viewer: Client, write: Write
) -> None:
    rows = [overview_row(f"group-{n:03}", lag=n) for n in range(120)]
    write(overview(groups=rows))
    page = text_of(viewer.get(HOME, {"sort": "-lag", "page": "2"}))
    assert "51-100 of 120" in page
    assert "group-069" in page
    assert "group-070" not in page
    found = text_of(viewer.get(HOME, {"q": "group-11"}))
    assert "1-10 of 10" in found


def test_a_filter_that_finds_nothing_says_so(viewer: Client, write: Write) -> None:
    write(overview())
    page = viewer.get(HOME, {"q": '<b>"foo'}).content.decode()
    assert "No groups match “&lt;b&gt;&quot;foo”." in page
    assert "Clear filter" in page
    empty = text_of(viewer.get(HOME, {"q": "settlement", "level": "warn"}))
    assert "No groups match “settlement”" in empty


def test_a_cluster_without_groups_says_when_they_come(
    viewer: Client, write: Write
) -> None:
    document = overview()
    document["groups"] = []
    write(document)
    assert "no consumer groups yet" in text_of(viewer.get(HOME))


def test_a_failed_sweep_is_told_above_the_last_known_state(
    viewer: Client, write: Write
) -> None:
    write(overview(error="name server 10.20.6.1:9876 refuses connections"))
    page = text_of(viewer.get(HOME))
    assert "The last sweep failed. name server 10.20.6.1:9876 refuses" in page
    assert "order-settlement" in page


def test_nothing_collected_yet(viewer: Client, write: Write) -> None:
    answer = viewer.get(HOME)
    assert answer.status_code == 200
    assert "Nothing has been collected yet" in text_of(answer)


def test_a_cache_that_is_away(viewer: Client, hangzhou: object) -> None:
    assert "cannot be read" in text_of(viewer.get(HOME))


def test_no_cluster_yet_says_how_to_name_one(viewer: Client) -> None:
    answer = viewer.get("/")
    assert "ROCKETSCOPE_CLUSTERS=" in text_of(answer)
    assert "./rocketscope up" in text_of(answer)


def test_an_unknown_cluster_is_named(viewer: Client, hangzhou: object) -> None:
    answer = viewer.get("/clusters/nowhere/")
    assert answer.status_code == 404
    assert "No cluster “nowhere” is configured." in text_of(answer)


@pytest.mark.parametrize("address", [HOME, f"{HOME}groups/"])
def test_a_fragment_is_the_list_without_its_frame(
    viewer: Client, write: Write, address: str
) -> None:
    write(overview())
    answer = viewer.get(address, headers={"x-fragment": "1"})
    content = answer.content.decode()
    assert "<html" not in content
    assert 'data-seq="11"' in content
    assert "order-settlement" in content
    assert "X-Fragment" in answer["Vary"]


def test_a_stranger_gets_no_fragment(write: Write) -> None:
    answer = Client().get(HOME, headers={"x-fragment": "1"})
    assert (answer.status_code, answer.content) == (401, b"")


def test_every_row_leads_to_its_group(viewer: Client, write: Write) -> None:
    write(overview(groups=[overview_row("a%b|c"), overview_row("x" * 255)]))
    content = viewer.get(HOME).content.decode()
    assert 'href="/clusters/hangzhou/groups/a%25b%7Cc/"' in content
    assert f'title="{"x" * 255}"' in content


def test_the_worst_finding_of_a_group_stands_in_its_row(
    sign_in: SignIn, write: Write
) -> None:
    marks = [
        {"key": "retries", "level": "warn"},
        {"key": "broadcasting", "level": "info"},
    ]
    status = {"level": "warn", "word": "retries"}
    write(overview(groups=[overview_row("billing", findings=marks, status=status)]))
    answer = sign_in(Role.VIEWER).get("/clusters/hangzhou/groups/")
    assert "Retries billing" in text_of(answer)
    assert "2 Many messages come back" in text_of(answer)
    assert "/groups/billing/#findings" in answer.content.decode()


def test_mere_facts_leave_the_row_as_it_is(sign_in: SignIn, write: Write) -> None:
    marks = [{"key": "idle_members", "level": "info"}]
    write(overview(groups=[overview_row("billing", findings=marks, idle=2)]))
    page = text_of(sign_in(Role.VIEWER).get("/clusters/hangzhou/groups/"))
    assert "2 idle members" in page
