from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from analytics.lake.retention import GivenUp
from dashboard.gateway.settings import ClientTls, ClusterSettings
from dashboard.jobs.unread import note_given_up
from dashboard.models import Role
from dashboard.wording.numbers import clock
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import (
    NOW_MS,
    group_state,
    looked_at,
    member,
    overview,
    overview_row,
)
from tests.dashboard.missing import SINCE_MS, overview_missing, overview_unnamed

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
    assert f"hz2@broker-c has not answered since {clock(NOW_MS - 96_000)}" in page
    assert "2 groups are known only in part. Their sums are marked ≥" in page
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


def rows_of(answer: Any) -> dict[str, str]:
    """Return what each row of the list says, by group."""
    found = re.findall(
        r'<tr data-key="([^"]+)"[^>]*>(.*?)</tr>', answer.content.decode(), re.S
    )
    return {name: " ".join(re.sub(r"<[^>]+>", " ", row).split()) for name, row in found}


def test_each_broker_in_trouble_says_what_and_since_when(
    viewer: Client, write: Write
) -> None:
    write(overview_missing())
    answer = viewer.get(HOME)
    page = text_of(answer)
    silent, missing = clock(NOW_MS - 40_000), clock(NOW_MS - SINCE_MS)
    assert f"hz2@broker-b 5.3.1 no answer since {silent}" in page
    assert f"hz2@broker-c 5.3.1 missing since {missing}" in page
    assert f"hz2@broker-b has not answered since {silent}" in page
    assert "unlisted by 2 of 2 name servers" in page
    assert page.count("has been missing from the name servers") == 1
    assert 'data-answered="1" data-brokers="3"' in answer.content.decode()


def test_a_broker_that_one_name_server_does_not_list_says_so(
    viewer: Client, write: Write
) -> None:
    made = overview_missing()
    made["brokers"][1].update(state="answered", since=None, answered=True)
    made["nameservers"][0]["unlisted"] = ["hz2@broker-b"]
    write(made)
    page = text_of(viewer.get(HOME))
    assert re.search(
        r"hz2@broker-b 5.3.1 answered took .* unlisted by 1 of 2 name servers hz2@",
        page,
    )


def test_a_group_known_in_part_says_as_of_when_and_marks_its_sums(
    viewer: Client, write: Write
) -> None:
    write(overview_missing())
    rows = rows_of(viewer.get(HOME))
    time = clock(NOW_MS - SINCE_MS)
    half = rows["payment-events"]
    assert half.startswith(f"Falling behind as of {time} payment-events")
    assert "≥ 313,886 ≥ 1 m 11 s" in half
    assert "≥ 331 ≥ 330 12 96" in half
    assert "as of" not in rows["order-settlement"]
    assert "≥" not in rows["order-settlement"]
    # It looks healthy, and stands above those that are.
    order = list(rows)
    assert order.index("service-11") < order.index("search-index")


def test_a_part_is_never_said_to_be_of_all_brokers(
    viewer: Client, write: Write
) -> None:
    made = overview_unnamed()
    write(made)
    page = text_of(viewer.get(HOME))
    assert "Lag ≥ 639,996 2 groups in part" in page
    assert "In 36,400 /s all brokers" in page
    made["groups"][2].update(complete=False)
    write(made)
    page = text_of(viewer.get(HOME))
    assert "In ≥ 36,400 /s 1 group in part" in page


def test_a_cluster_without_name_servers_says_so_since_when(
    viewer: Client, write: Write
) -> None:
    made = overview_unnamed()
    write(made)
    page = text_of(viewer.get(HOME))
    since = clock(NOW_MS - 61_000)
    assert "No name server answers." in page
    assert f"10.20.6.1:9876 has not answered since {since}: cannot connect" in page
    assert "what the brokers themselves report is fresh" in page
    made["nameservers"][1].update(answered=True, error=None)
    del made["nameservers"][0]["since"]
    write(made)
    page = text_of(viewer.get(f"{HOME}groups/"))
    assert "No name server answers." not in page
    assert "10.20.6.1:9876 does not answer : cannot connect within 3.0 s." in page
    assert "Brokers and routes are known from the others." in page


def test_more_brokers_than_one_can_read_of_are_counted(
    viewer: Client, write: Write
) -> None:
    made = overview_missing()
    silent = made["brokers"][1]
    made["brokers"] = [{**silent, "name": f"broker-{n}"} for n in range(5)]
    write(made)
    page = text_of(viewer.get(HOME))
    assert page.count("has not answered since") == 3
    assert "2 more brokers are in trouble." in page


def test_a_lake_that_cannot_be_written_is_told(viewer: Client, write: Write) -> None:
    write(overview())
    assert "lake" not in text_of(viewer.get(HOME))
    fault = {"error": "OSError: [Errno 28] No space left", "pending_rows": 12_340}
    write(overview(lake=fault | {"dropped_rows": 0}))
    page = text_of(viewer.get(HOME))
    assert "Samples cannot be written to the lake. OSError: [Errno 28] No space" in page
    assert "12,340 rows wait in memory" in page
    assert "dropped" not in page
    write(overview(lake=fault | {"dropped_rows": 1}))
    assert "1 row was dropped, because memory is full." in text_of(viewer.get(HOME))


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


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"kind": "broadcasting"}, "Queues of this group have no single owner"),
        ({"kind": "shared_pop"}, "Queues of this group have no single owner"),
        (
            {"kind": "offline", "status": {"level": "crit", "word": "no_members"}},
            "No member of the group is online",
        ),
        ({"lag": 0}, "Nothing waits, so there is nothing to compare"),
        ({"lag": 9}, "Needs the lag and the owner of every queue"),
    ],
)
def test_a_skew_that_is_not_known_has_its_reason(
    viewer: Client, write: Write, changes: dict[str, Any], why: str
) -> None:
    write(overview(groups=[overview_row("price-feed", **{"skew": None, **changes})]))
    content = viewer.get(f"{HOME}groups/?columns=skew").content.decode()
    row = content[content.index('data-key="price-feed"') :]
    assert f'title="{why}">—' in row.partition("</tr>")[0]
    told = viewer.get(f"{HOME}groups/?columns=skew&format=csv")
    lines = b"".join(told.streaming_content).decode()  # type: ignore[attr-defined]
    assert f"skew: {why}" in lines.replace('"', "")


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
    assert "Nothing matches “&lt;b&gt;&quot;foo”." in page
    assert "Clear filter" in page
    empty = text_of(viewer.get(HOME, {"q": "settlement", "level": "warn"}))
    assert "Nothing matches “settlement”" in empty


def test_a_cluster_without_groups_says_when_they_come(
    viewer: Client, write: Write
) -> None:
    document = overview()
    document["groups"] = []
    write(document)
    assert "Not known: hz2@broker-c does not answer" in text_of(viewer.get(HOME))
    document = looked_at()
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
    assert "2 Many messages are retried" in text_of(answer)
    assert "/groups/billing/#findings" in answer.content.decode()


def test_mere_facts_leave_the_row_as_it_is(sign_in: SignIn, write: Write) -> None:
    marks = [{"key": "idle_members", "level": "info"}]
    write(overview(groups=[overview_row("billing", findings=marks, idle=2)]))
    page = text_of(sign_in(Role.VIEWER).get("/clusters/hangzhou/groups/"))
    assert "2 idle members" in page


@pytest.mark.parametrize(
    ("tls", "encryption", "told"),
    [
        (None, "off", "off"),
        (ClientTls(), "verified", "on, verified"),
        (ClientTls(verify=False), "unverified", "on, not verified"),
    ],
)
def test_a_cluster_that_is_not_verified_says_so(
    viewer: Client,
    write: Write,
    *,
    hangzhou: ClusterSettings,
    settings: Any,
    tls: ClientTls | None,
    encryption: str,
    told: str,
) -> None:
    write(overview())
    settings.ROCKETSCOPE_CLUSTERS = {"hangzhou": replace(hangzhou, tls=tls)}
    is_marked = encryption == "unverified"
    assert ("TLS, not verified" in text_of(viewer.get(HOME))) is is_marked
    assert f" {told} " in text_of(viewer.get("/settings/"))
    (row,) = viewer.get("/api/v1/clusters").json()
    assert row["tls"] == encryption


def test_members_that_are_not_known_in_part_are_a_sum_of_at_least(
    viewer: Client, write: Write
) -> None:
    document = overview()
    write(document)
    assert "Members ≥" not in text_of(viewer.get(HOME))
    document["totals"]["members_partial"] = True
    write(document)
    assert f"Members ≥ {document['totals']['members']} online" in text_of(
        viewer.get(HOME)
    )


def test_the_list_is_a_file_too(viewer: Client, write: Write) -> None:
    row = overview_row("price-feed", lag=7, lag_partial=True, rate_in=None)
    write(overview(groups=[row]))
    answer = viewer.get(f"{HOME}groups/", {"format": "csv", "columns": "lag,in"})
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert b"".join(answer).decode().splitlines() == [  # type: ignore[arg-type]
        "group,lag,in,unknown,at_least",
        "price-feed,7,,,lag",
    ]
