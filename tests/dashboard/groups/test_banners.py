"""What a group's page says while something of the group is not known."""

from __future__ import annotations

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
from tests.support.drawing import Drawn

from .conftest import PAGE, Read
from .test_pages import embedded

SINCE = clock(NOW_MS - SINCE_MS)
UNTIL = clock(NOW_MS - SINCE_MS + 120_000)


def banner(page: Drawn, kind: str = "standing") -> str:
    """Return the words of a banner; empty where it is hidden."""
    return page.text(f"[data-{kind}] > span")


def tile(page: Drawn, name: str) -> str:
    """Return what a tile shows, its heading apart."""
    return " ".join(
        page.text(f'[data-tile="{name}"] {part}') for part in ("dd", ".sub")
    ).strip()


def test_one_banner_says_what_is_missing_and_until_when_all_stands_still(
    read: Read, write: Write
) -> None:
    write(broker_missing())
    page = read()
    said = banner(page)
    missing = f"hz1@broker-a has been missing from the name servers since {SINCE}"
    assert said.startswith(f"{missing} (")
    assert "Its 8 queues keep the values of that moment, striped." in said
    assert "Lag at that moment: 44,512." in said
    assert (
        f"Status, findings and epoch are those of {SINCE} until everything is known "
        f"again, or until {UNTIL}."
    ) in said
    assert page.text().count("has been missing") == 1
    assert page.attributes("[data-standing] a", "href") == [f"{PAGE}#known"]


def test_tiles_show_the_fresh_part_and_name_the_old_beside_it(
    read: Read, write: Write
) -> None:
    write(broker_missing())
    page = read()
    assert tile(page, "status") == f"Falling behind as of {SINCE}"
    assert tile(page, "queues") == "16 8 fresh · 8 stale"
    assert tile(page, "lag") == "≥ 44,655 hz1@broker-a had 44,512"
    assert tile(page, "oldest").startswith("≥ 3 m 10 s hz2@broker-b")
    assert tile(page, "in") == "≥ 40/s hz2@broker-b only"
    assert tile(page, "out") == "≥ 17/s hz2@broker-b only"
    reason = "Needs the lag and the owner of every queue"
    assert tile(page, "skew") == f"— {reason} max / mean lag"
    assert "89,167" not in page.text(), "the sum of fresh and old"


def test_rows_of_old_values_are_marked_and_know_no_rate(
    read: Read, write: Write
) -> None:
    write(broker_missing())
    page = read()
    rows = "[data-queues] tbody tr[data-key*='|hz1@broker-a|']"
    assert page.attributes(rows, "class") == ["striped"] * 8
    for row in page.texts(rows):
        assert row.startswith(f"as of {SINCE}")
        assert "last reported" in row
        # Oldest, both rates, in hand and drain.
        assert row.count("— The name servers do not list its broker any more") == 5


def test_the_rules_are_said_to_have_stopped_even_without_findings(
    read: Read, write: Write
) -> None:
    write(broker_missing())
    page = read()
    assert page.text("[data-findings-stopped]") == f"stopped {SINCE}"
    assert page.text("[data-findings-foot]") == (
        f"The rules were last checked at {SINCE}. None has been checked since."
    )
    write(broker_missing(findings=[lock_finding(["orders|hz1@broker-a|4"])]))
    said = read().text("[data-findings]")
    assert f"stopped {SINCE} Queues wait for a lock" in said


def test_what_if_cannot_be_opened_and_says_what_it_needs(
    read: Read, write: Write
) -> None:
    write(broker_missing())
    page = read()
    assert page.text("[data-whatif-why]") == "needs all 16 queues; not known now: 8"
    assert page.attributes("[data-whatif]", "aria-disabled") == ["true"]
    assert page.attributes("[data-whatif]", "href") == [None]
    write(waiting_for_locks())
    page = read()
    assert page.text("[data-whatif-why]") == ""
    assert page.attributes("[data-whatif]", "aria-disabled") == [None]
    assert page.attributes("[data-whatif]", "href") == [f"{PAGE}whatif/"]


def test_each_broker_in_trouble_has_its_own_words(read: Read, write: Write) -> None:
    write(many_troubles())
    page = read()
    said = banner(page)
    assert f"broker-b has not answered since {clock(NOW_MS - 3_000)}" in said
    assert "Its queue keeps the value of that moment, striped." in said
    assert "Nothing was ever known about one of its queues." in said
    assert "broker-c answers in part." in said
    assert "1 more broker is listed under “What we know”." in said
    assert "broker-d" not in said
    assert "Status and findings are judged by the queues that are known." in said
    assert tile(page, "status") == "Healthy judged on 3 of 8 queues"
    assert tile(page, "members") == "2 1 missing"
    assert tile(page, "queues") == "8 3 fresh · 4 stale · 1 never known"
    assert tile(page, "lag") == "≥ 9,100 2 brokers had 16,800"


def test_a_slave_is_said_to_answer_in_its_masters_place(
    read: Read, write: Write
) -> None:
    since = NOW_MS - 90_000
    one = queue(BROKERS[0], 0, owners=["a"])
    brokers = [troubled(BROKERS[0], "slave", since), answering(BROKERS[1])]
    write(group_state([member(0)], [one], brokers=brokers, complete=False))
    said = banner(read())
    assert f"a slave has answered in its place since {clock(since)}" in said
    assert "striped" not in said


def test_an_unlisted_broker_that_answers_is_not_called_old(
    read: Read, write: Write
) -> None:
    brokers = [troubled(BROKERS[0], "missing", NOW_MS, answered=True)]
    one = queue(BROKERS[0], 0, owners=["a"])
    write(group_state([member(0)], [one], brokers=brokers, complete=False))
    said = banner(read())
    assert "It still answers, so the values of its queues are fresh." in said


def test_where_nothing_is_known_the_reason_stands_for_the_number(
    read: Read, write: Write
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
    page = read()
    assert tile(page, "lag") == "— No answer in time hz1@broker-a had 5,600"
    for name in ("oldest", "in", "out"):
        assert tile(page, name).startswith("— No answer in time")


def test_an_age_that_nobody_can_tell_says_why(read: Read, write: Write) -> None:
    write(messages_lost())
    said = tile(read(), "oldest")
    assert said.startswith("— The committed offset is below the broker")


def test_a_group_known_in_part_for_no_named_reason_says_so(
    read: Read, write: Write
) -> None:
    write(waiting_for_locks(complete=False))
    said = banner(read())
    assert said.startswith("Not everything about this group is known now.")


def test_a_whole_group_says_nothing_of_all_this(read: Read, write: Write) -> None:
    write(waiting_for_locks())
    page = read()
    assert banner(page) == banner(page, "fault") == ""
    assert page.attributes("main .striped", "class") == []
    assert "≥" not in page.text()


def test_a_document_of_an_older_version_still_names_who_is_silent(
    read: Read, write: Write
) -> None:
    state = waiting_for_locks()
    state["brokers"][1].update(answered=False, age_ms=61_000)
    write(state)
    said = banner(read())
    assert f"hz2@broker-b has not answered since {clock(NOW_MS - 61_000)}" in said


def test_a_fault_of_ours_is_shown_as_ours_with_what_still_works(
    read: Read, write: Write
) -> None:
    write(waiting_for_locks(fault="KeyError: '<left>'"))
    page = read()
    said = banner(page, "fault")
    assert "A fault of RocketScope, not of the group: KeyError:" in said
    assert "<left>" in said
    assert f"This page shows what was known at {clock(NOW_MS)}." in said
    assert "other groups and the cluster" in said
    assert tile(page, "status") == f"No owner as of {clock(NOW_MS)}"
    assert banner(page) == ""


def test_names_with_braces_are_shown_as_they_are(read: Read, write: Write) -> None:
    name = "{time}{left}"
    made = group_state(
        [member(0)],
        [old_queue(name, 0, NOW_MS)],
        brokers=[troubled(name, "missing", NOW_MS)],
        complete=False,
    )
    write(made)
    said = banner(read())
    assert said.startswith(f"{name} has been missing from the name servers since")


@pytest.mark.parametrize(
    "tab", ["members/", "timeline/", "whatif/", "whatif/check/", "changes/"]
)
def test_the_banner_stands_on_every_tab(read: Read, write: Write, tab: str) -> None:
    write(broker_missing(now_ms(), managed=tab == "changes/"))
    page = read(tab)
    assert "hz1@broker-a has been missing" in banner(page)
    assert page.attributes("[data-standing] a", "href") == [f"{PAGE}#known"]


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


def test_in_chinese_too(read: Read, write: Write) -> None:
    write(broker_missing())
    said = banner(read(language="zh-hans"))
    assert said.startswith(f"hz1@broker-a 自 {SINCE} 起未被 NameServer 列出（")
    assert "当时的堆积：44,512。" in said
