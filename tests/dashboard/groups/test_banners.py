"""What a group's page says while something of the group is not known."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from dashboard.models import Role
from dashboard.wording.numbers import clock
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import (
    BROKERS,
    NOW_MS,
    group_state,
    lock_finding,
    member,
    messages_lost,
    now_ms,
    queue,
    waiting_for_locks,
)
from tests.dashboard.missing import (
    SINCE_MS,
    answering,
    broker_missing,
    many_troubles,
    name_server,
    old_queue,
    overview_missing,
    troubled,
)
from tests.dashboard.overview.test_pages import text_of

from .test_pages import embedded

PAGE = "/clusters/hangzhou/groups/order-settlement/"
SINCE = clock(NOW_MS - SINCE_MS)
UNTIL = clock(NOW_MS - SINCE_MS + 120_000)


@pytest.fixture
def viewer(sign_in: SignIn) -> Client:
    return sign_in(Role.VIEWER)


def banner(answer: Any, kind: str = "standing") -> str:
    """Return the words of a banner; empty where it is hidden."""
    content = answer.content.decode()
    found = re.search(rf"<div [^>]*data-{kind}( hidden)?>(.*?)</div>", content, re.S)
    assert found is not None
    return "" if found[1] else " ".join(re.sub(r"<[^>]+>", "", found[2]).split())


def tile(answer: Any, name: str) -> str:
    """Return what a tile shows, its heading apart."""
    content = answer.content.decode()
    found = re.search(
        rf'data-tile="{name}"><dt>.*?</dt>(.*?)</div></div>', content, re.S
    )
    assert found is not None
    return " ".join(re.sub(r"<[^>]+>", " ", found[1]).split())


def test_one_banner_says_what_is_missing_and_until_when_all_stands_still(
    viewer: Client, write: Write
) -> None:
    write(broker_missing())
    answer = viewer.get(PAGE)
    said = banner(answer)
    missing = f"hz1@broker-a has been missing from the name servers since {SINCE}"
    assert said.startswith(f"{missing} (")
    assert "Its 8 queues keep the values of that moment, striped." in said
    assert "Lag at that moment: 44,512." in said
    assert (
        f"Status, findings and epoch stand still at {SINCE} until all is known again, "
        f"or until {UNTIL}."
    ) in said
    assert text_of(answer).count("has been missing") == 1
    assert f'href="{PAGE}#known"' in answer.content.decode()


def test_tiles_show_the_fresh_part_and_name_the_old_beside_it(
    viewer: Client, write: Write
) -> None:
    write(broker_missing())
    answer = viewer.get(PAGE)
    assert tile(answer, "status") == f"Falling behind as of {SINCE}"
    assert tile(answer, "queues") == "16 8 fresh · 8 stale"
    assert tile(answer, "lag") == "≥ 44,655 hz1@broker-a had 44,512"
    assert tile(answer, "oldest").startswith("≥ 3 m 10 s hz2@broker-b")
    assert tile(answer, "in") == "≥ 40 /s hz2@broker-b only"
    assert tile(answer, "out") == "≥ 17 /s hz2@broker-b only"
    reason = "Needs the lag and the owner of every queue"
    assert tile(answer, "skew") == f"— {reason} max / mean lag"
    assert "89,167" not in text_of(answer), "the sum of fresh and old"


def test_rows_of_old_values_are_marked_and_know_no_rate(
    viewer: Client, write: Write
) -> None:
    write(broker_missing())
    content = viewer.get(PAGE).content.decode()
    rows = re.findall(
        r'<tr data-key="[^"]*\|hz1@broker-a\|\d"(.*?)</tr>', content, re.S
    )
    assert len(rows) == 8
    for row in rows:
        assert row.startswith(' class="striped"')
        assert f"as of {SINCE}" in row
        assert "last reported" in row
        # Oldest, both rates, in hand and drain.
        assert (
            row.count('title="The name servers do not list its broker any more"') == 5
        )


def test_the_rules_are_said_to_have_stopped_even_without_findings(
    viewer: Client, write: Write
) -> None:
    write(broker_missing())
    page = text_of(viewer.get(PAGE))
    assert f"stopped {SINCE}" in page
    assert (
        f"The rules were last checked at {SINCE}. None has been checked since." in page
    )
    write(broker_missing(findings=[lock_finding(["orders|hz1@broker-a|4"])]))
    assert f"stopped {SINCE} Queues wait for a lock" in text_of(viewer.get(PAGE))


@pytest.mark.parametrize(("level", "red"), [("crit", True), ("warn", False)])
def test_the_badge_of_the_tab_is_red_only_for_a_critical_finding(
    viewer: Client, write: Write, level: str, red: bool
) -> None:
    finding = {**lock_finding(["orders|hz1@broker-a|4"]), "level": level}
    write(waiting_for_locks(findings=[finding]))
    tabs = viewer.get(PAGE).content.decode().partition('class="tabs"')[2]
    assert ("badge-crit" in tabs.partition("</nav>")[0]) is red


def test_what_if_cannot_be_opened_and_says_what_it_needs(
    viewer: Client, write: Write
) -> None:
    write(broker_missing())
    content = viewer.get(PAGE).content.decode()
    assert "needs all 16 queues; 8 are not known now" in content
    assert re.search(r'<a class="button button-main[^>]*aria-disabled="true">', content)
    write(waiting_for_locks())
    content = viewer.get(PAGE).content.decode()
    assert "aria-disabled" not in content
    assert f'href="{PAGE}whatif/">What if' in content


def test_each_broker_in_trouble_has_its_own_words(viewer: Client, write: Write) -> None:
    write(many_troubles())
    answer = viewer.get(PAGE)
    said = banner(answer)
    assert f"broker-b has not answered since {clock(NOW_MS - 3_000)}" in said
    assert "Its queue keeps the value of that moment, striped." in said
    assert "Of one of its queues nothing was ever known." in said
    assert "broker-c answers in part." in said
    assert "1 more broker is listed under “What we know”." in said
    assert "broker-d" not in said
    assert "Status and findings are judged on the queues that are known." in said
    assert tile(answer, "status") == "Healthy judged on 3 of 8 queues"
    assert tile(answer, "members") == "2 1 missing"
    assert tile(answer, "queues") == "8 3 fresh · 4 stale · 1 never known"
    assert tile(answer, "lag") == "≥ 9,100 2 brokers had 16,800"


def test_a_slave_is_said_to_answer_in_its_masters_place(
    viewer: Client, write: Write
) -> None:
    since = NOW_MS - 90_000
    one = queue(BROKERS[0], 0, owners=["a"])
    brokers = [troubled(BROKERS[0], "slave", since), answering(BROKERS[1])]
    write(group_state([member(0)], [one], brokers=brokers, complete=False))
    said = banner(viewer.get(PAGE))
    assert f"a slave has answered in its place since {clock(since)}" in said
    assert "striped" not in said


def test_an_unlisted_broker_that_answers_is_not_called_old(
    viewer: Client, write: Write
) -> None:
    brokers = [troubled(BROKERS[0], "missing", NOW_MS, answered=True)]
    one = queue(BROKERS[0], 0, owners=["a"])
    write(group_state([member(0)], [one], brokers=brokers, complete=False))
    said = banner(viewer.get(PAGE))
    assert "It still answers, so the values of its queues are fresh." in said


def test_where_nothing_is_known_the_reason_stands_for_the_number(
    viewer: Client, write: Write
) -> None:
    made = group_state(
        [member(0)],
        [old_queue(BROKERS[0], 0, NOW_MS - SINCE_MS, reason="no_answer")],
        brokers=[troubled(BROKERS[0], "silent", NOW_MS - SINCE_MS, last_lag=5_600)],
        complete=False,
    )
    unknown = dict.fromkeys(("lag", "oldest_ms", "rate_in", "rate_out", "skew"))
    made["totals"].update(
        **unknown, lag_partial=True, oldest_partial=True, rate_partial=True
    )  # type: ignore[typeddict-item]
    write(made)
    answer = viewer.get(PAGE)
    assert tile(answer, "lag") == "— No answer in time hz1@broker-a had 5,600"
    for name in ("oldest", "in", "out"):
        assert tile(answer, name).startswith("— No answer in time")


def test_an_age_that_nobody_can_tell_says_why(viewer: Client, write: Write) -> None:
    write(messages_lost())
    said = tile(viewer.get(PAGE), "oldest")
    assert said.startswith("— The committed offset is below the broker")


def test_a_group_known_in_part_for_no_named_reason_says_so(
    viewer: Client, write: Write
) -> None:
    write(waiting_for_locks(complete=False))
    said = banner(viewer.get(PAGE))
    assert said.startswith("Not everything of this group is known now.")


def test_a_whole_group_says_nothing_of_all_this(viewer: Client, write: Write) -> None:
    write(waiting_for_locks())
    answer = viewer.get(PAGE)
    assert banner(answer) == banner(answer, "fault") == ""
    assert b'striped"' not in answer.content
    assert "≥" not in text_of(answer)


def test_a_document_of_an_older_version_still_names_who_is_silent(
    viewer: Client, write: Write
) -> None:
    state = waiting_for_locks()
    state["brokers"][1].update(answered=False, age_ms=61_000)
    write(state)
    said = banner(viewer.get(PAGE))
    assert f"hz2@broker-b has not answered since {clock(NOW_MS - 61_000)}" in said


def test_a_fault_of_ours_is_shown_as_ours_with_what_still_works(
    viewer: Client, write: Write
) -> None:
    write(waiting_for_locks(fault="KeyError: '<left>'"))
    answer = viewer.get(PAGE)
    said = banner(answer, "fault")
    assert "A fault of RocketScope, not of the group: KeyError:" in said
    assert "&lt;left&gt;" in said
    assert f"This page shows what was known at {clock(NOW_MS)}." in said
    assert "other groups and the cluster" in said
    assert tile(answer, "status") == f"No owner as of {clock(NOW_MS)}"
    assert banner(answer) == ""


def test_names_with_braces_are_shown_as_they_are(viewer: Client, write: Write) -> None:
    name = "{time}{left}"
    made = group_state(
        [member(0)],
        [old_queue(name, 0, NOW_MS)],
        brokers=[troubled(name, "missing", NOW_MS)],
        complete=False,
    )
    write(made)
    said = banner(viewer.get(PAGE))
    assert said.startswith(f"{name} has been missing from the name servers since")


@pytest.mark.parametrize("tab", ["members/", "timeline/"])
def test_the_banner_stands_on_every_tab(viewer: Client, write: Write, tab: str) -> None:
    write(broker_missing(now_ms()))
    answer = viewer.get(PAGE + tab)
    assert "hz1@broker-a has been missing" in banner(answer)
    assert f'href="{PAGE}#known"' in answer.content.decode()


def test_the_page_knows_of_name_servers_only_while_something_is_missing(
    viewer: Client, write: Write
) -> None:
    made = broker_missing()
    del made["nameservers"]
    write(made, overview_missing())
    servers = embedded(viewer.get(PAGE), "page")["nameservers"]
    assert [each["unlisted"] for each in servers] == [["hz2@broker-c"]] * 2
    write(broker_missing(nameservers=[name_server(1)]))
    assert embedded(viewer.get(PAGE), "page")["nameservers"] is None
    write(waiting_for_locks())
    assert embedded(viewer.get(PAGE), "page")["nameservers"] is None


@pytest.mark.parametrize(
    ("role", "may"), [(Role.VIEWER, False), (Role.OPERATOR, True), (Role.ADMIN, True)]
)
def test_operators_may_say_that_a_broker_is_gone(
    sign_in: SignIn, write: Write, role: Role, may: bool
) -> None:
    write(broker_missing())
    assert embedded(sign_in(role).get(PAGE), "page")["operator"] is may


def test_in_chinese_too(viewer: Client, write: Write) -> None:
    write(broker_missing())
    answer = viewer.get(PAGE, headers={"accept-language": "zh-hans"})
    said = banner(answer)
    assert said.startswith(f"hz1@broker-a 自 {SINCE} 起未被 name server 列出（")
    assert "当时的堆积：44,512。" in said
