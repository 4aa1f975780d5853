"""What a reader of a group's pages sees, as scripts draw it from the document."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone, translation

from dashboard.findings.said import say_finding
from dashboard.live.documents import GroupState
from dashboard.models import Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import (
    BROKERS,
    NOW_MS,
    group_state,
    large_group,
    lock_finding,
    member,
    now_ms,
    overview,
    overview_row,
    queue,
    shared_client_ids,
    waiting_for_locks,
)
from tests.dashboard.findings.fared import fared
from tests.dashboard.missing import (
    broker_missing,
    many_troubles,
    old_queue,
    shared_ids,
)
from tests.support.drawing import Drawing

from .conftest import PAGE, Read

QUEUES = "[data-queues] tbody tr"
MEMBERS = "[data-members] tbody tr"


def test_the_page_says_who_holds_what_and_what_waits(read: Read, write: Write) -> None:
    write(waiting_for_locks())
    page = read()
    assert page.texts("[data-tags] .tag") == [
        "CLUSTERING",
        "orderly",
        "AVG · reported by 3 of 3",
    ]
    assert page.texts(".stat") == [
        "Status No owner 4 of 16 queues",
        "Members 3",
        "Queues 16 12 owned · 4 waiting",
        "Lag 161,898 ▲ +270/s",
        "Oldest message 4 m 16 s hz1@broker-a / 6",
        "In 3,312/s",
        "Out 3,042/s",
        "Skew 3.0× max / mean lag",
    ]
    rows = page.texts(QUEUES)
    assert len(rows) == 16
    assert rows[0].startswith("No owner hz2@broker-b / 4 No owner expects C 7,916 42 s")
    assert rows[4].startswith(
        "Falling behind hz1@broker-a / 6 B 10.20.4.18 reported 128,440 4 m 16 s"
    )
    assert page.text("[data-topics]") == "orders"


def test_the_page_reads_in_chinese(read: Read, write: Write) -> None:
    write(waiting_for_locks())
    page = read(language="zh-hans")
    assert page.texts(".stat")[1] == "成员 3"
    assert page.texts(QUEUES)[4].startswith("堆积增长 hz1@broker-a / 6 B 10.20.4.18")


def test_rows_come_worst_first_and_small_lags_stand_still(
    read: Read, write: Write
) -> None:
    lags = [3, 0, 99, 7, 900, 5_000]
    queues = [queue(BROKERS[0], n, lag=lag) for n, lag in enumerate(lags)]
    for each in queues:
        each["owners"] = [member(0)["client_id"]]
    queues[1]["owners"] = []
    write(group_state([member(0)], queues))
    keys = read().attributes(QUEUES, "data-key")
    assert [str(key)[-1] for key in keys] == ["1", "5", "4", "0", "2", "3"]


def test_old_values_come_last_with_whom_they_were_known_to_belong(
    read: Read, write: Write
) -> None:
    write(broker_missing())
    page = read()
    striped = [css == "striped" for css in page.attributes(QUEUES, "class")]
    assert striped == [False] * 8 + [True] * 8
    rows = page.texts(QUEUES)
    assert "5,612" in rows[0]
    assert "hz1@broker-a / 4 B 10.20.4.18 last reported 5,623" in rows[8]


def test_what_members_say_of_a_queue_is_fresh_though_its_broker_is_away(
    read: Read, write: Write
) -> None:
    one = old_queue(BROKERS[0], 0, NOW_MS, owners=["then"])
    one["owners"], one["owner_source"] = [member(0)["client_id"]], "reported"
    write(group_state([member(0)], [one]))
    assert "A 10.20.4.17 reported" in read().texts(QUEUES)[0]


def test_an_owner_that_is_no_member_is_named_by_its_id(
    read: Read, write: Write
) -> None:
    write(group_state([member(0)], [queue(BROKERS[0], 0, owners=["gone@1"])]))
    assert "· gone@1 reported" in read().texts(QUEUES)[0]


def test_a_queue_of_two_connections_with_one_client_id_has_one_owner(
    read: Read, write: Write
) -> None:
    write(shared_ids())
    assert "A 10.20.4.17 reported" in read().texts(QUEUES)[0]


@pytest.mark.parametrize(
    ("changes", "column", "reason"),
    [
        ({"lag_ms": None, "unknown": {"lag_ms": "not_asked"}}, 6, "Not asked for"),
        (
            {"lag": None, "unknown": {"lag": "nothing_committed"}},
            4,
            "The group has never committed an offset for this queue",
        ),
        ({"rate_in": None}, 7, "A second sample is needed"),
        (
            {"pulled": None, "unknown": {"committed": "nothing_committed"}},
            9,
            "The group has never committed an offset for this queue",
        ),
    ],
)
def test_a_dash_carries_the_reason_that_is_known(
    read: Read, write: Write, changes: dict[str, object], column: int, reason: str
) -> None:
    write(group_state([member(0)], [queue(BROKERS[0], 0, **changes)]))
    page = read()
    cell = f"{QUEUES} td:nth-child({column})"
    assert page.text(cell) == f"— {reason}"
    assert page.attributes(f"{cell} .unknown", "title") == [reason]


def test_messages_in_hand_are_pulled_and_not_committed(
    read: Read, write: Write
) -> None:
    queues = [
        queue(BROKERS[0], 0, pulled=50, committed=40),
        queue(BROKERS[0], 1, pulled=30, committed=40),
    ]
    write(group_state([member(0)], queues))
    assert read().texts(f"{QUEUES} td:nth-child(9)") == ["10", "0"]


def test_how_long_ago_a_queue_moved(read: Read, write: Write) -> None:
    at = now_ms()
    moved = queue(BROKERS[0], 0, moved_at=at - 260_000_000)
    write(group_state([member(0)], [moved], taken_at=at))
    assert read().texts(f"{QUEUES} td:nth-child(11)") == ["3 d 0 h ago"]


def test_a_group_without_lag_has_no_oldest_queue(read: Read, write: Write) -> None:
    write(group_state([member(0)], [queue(BROKERS[0], 0, lag=0, lag_ms=0)]))
    assert read().text('[data-tile="oldest"] .sub') == ""


def test_a_large_group_shows_its_worst_rows_first(read: Read, write: Write) -> None:
    write(large_group(480, 60, group="order-settlement"))
    page = read()
    assert len(page.texts(QUEUES)) == 100
    assert page.text("[data-all-queues]") == "Show all 480 queues"


def test_members_are_listed_with_what_they_report(read: Read, write: Write) -> None:
    state = waiting_for_locks()
    state["members"][2].update(
        idle="no_queues", strategy=None, language=None, version=None
    )
    write(state)
    page = read("members/")
    rows = page.texts(MEMBERS)
    assert rows[0].startswith(
        "A 10.20.4.17 10.20.4.17@4100#88012345678901 10.20.4.17:51234 6 1,528"
    )
    assert rows[0].endswith("orders * JAVA 5.3.1")
    assert rows[2].endswith("idle: the strategy gives it no queue")
    assert page.text('[data-tile="members"] .sub') == "1 idle"
    assert "reported by 2 of 3" in page.text("[data-tags]")
    assert page.text("[data-nobody]") == ""


def test_connections_of_one_client_id_are_members_of_their_own(
    read: Read, write: Write
) -> None:
    write(shared_client_ids())
    page = read("members/")
    rows, client_id = page.texts(MEMBERS), member(0)["client_id"]
    for place, address in enumerate(("51234", "51999")):
        assert (
            f"10.20.4.17 · connection {place + 1} of 2 {client_id} "
            f"10.20.4.17:{address} 2 200 "
        ) in rows[place]
    keys = page.attributes(MEMBERS, "data-key")
    assert len(set(keys)) == len(keys) == 3


@pytest.mark.parametrize(
    ("kind", "queues", "lag"),
    [
        ("shared_pop", "Queues of this group have no single owner", None),
        ("mixed", "Members report different values", None),
        ("assigned_by_hand", "Not asked for", None),
        ("broadcasting", "1", "Kept in files of the members"),
    ],
)
def test_members_without_queues_of_their_own_claim_none(
    read: Read, write: Write, kind: str, queues: str, lag: str | None
) -> None:
    held = queue(BROKERS[0], 0, owners=[member(0)["client_id"]])
    write(group_state([member(0)], [held], kind=kind))
    cells = read("members/").texts(f"{MEMBERS} td")
    assert queues in cells[2]
    for cell in cells[3:5]:
        assert (lag or queues) in cell


def test_queues_assigned_by_hand_are_counted_where_members_told(
    read: Read, write: Write
) -> None:
    one = member(0, reported_at=1_700_000_000_000)
    held = queue(BROKERS[0], 0, owners=[one["client_id"]])
    write(group_state([one], [held], kind="assigned_by_hand"))
    assert "10.20.4.17:51234 1 100" in read("members/").texts(MEMBERS)[0]


def test_a_member_says_since_when_its_listener_has_not_returned(
    read: Read, write: Write
) -> None:
    busy = member(0, managed=True, busy_since=1_700_000_000_000)
    write(group_state([busy, member(1, managed=True)], [queue(BROKERS[0], 0)]))
    first, second = read("members/").texts(MEMBERS)
    assert "listener busy since 2023-11-14 22:13:20" in first
    assert "listener busy" not in second


@pytest.mark.parametrize("tab", ["", "queues/", "findings/", "timeline/", "whatif/"])
@pytest.mark.parametrize("state", [broker_missing, many_troubles])
def test_no_tab_shows_how_a_script_names_what_it_does_not_have(
    read: Read, write: Write, state: Callable[[int], GroupState], tab: str
) -> None:
    write({**state(now_ms()), "group": "order-settlement"})
    assert read(tab).text("h1") == "order-settlement"


def test_what_if_of_a_part_sums_what_it_knows(read: Read, write: Write) -> None:
    write(broker_missing(now_ms()))
    bars = read("whatif/").texts("[data-before] .bar-value")
    assert bars[0].startswith("≥ ")


def test_a_group_of_nobody_says_so(read: Read, write: Write) -> None:
    write(group_state([], [queue(BROKERS[0], 0)], kind="offline"))
    assert read("members/").text("[data-nobody]") == "Nobody is online in this group."


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("shared_pop", "members share every queue (POP)"),
        ("assigned_by_hand", "assigned their queues by hand"),
        ("offline", "Nobody is online in this group"),
    ],
)
def test_groups_without_single_owners_are_explained_and_not_blamed(
    read: Read, write: Write, kind: str, sentence: str
) -> None:
    queues = [queue(BROKERS[0], n, owner_source=None) for n in range(4)]
    members = [] if kind == "offline" else [member(0)]
    write(group_state(members, queues, kind=kind))
    page = read()
    assert sentence in page.text("[data-kind]")
    assert "waiting" not in page.text("[data-tiles]")


@pytest.mark.parametrize(("role", "offered"), [(Role.VIEWER, 0), (Role.OPERATOR, 1)])
def test_operators_may_remove_the_members_that_we_host(
    sign_in: SignIn, browser: Drawing, write: Write, role: Role, offered: int
) -> None:
    state = waiting_for_locks(managed=True)
    # Other members of the same group run elsewhere: nobody here can stop them.
    state["members"][1]["managed"] = True
    write(state)
    page = browser.draw(sign_in(role), f"{PAGE}members/")
    assert page.texts("[data-remove]") == ["Remove"] * offered


def test_findings_stand_beside_the_map(read: Read, write: Write) -> None:
    write(waiting_for_locks(findings=[lock_finding(["orders|hz1@broker-a|4"])]))
    page = read()
    said = page.text("[data-findings]")
    assert said.startswith("Findings 1 Queues wait for a lock to expire since ")
    assert "10.20.4.19@11 is gone and did not release its locks" in said
    assert "Waiting for 42 s" in said
    assert "within 80 s" in said


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_page_says_of_a_finding_what_rest_says(
    read: Read, write: Write, language: str
) -> None:
    finding = lock_finding(["orders|hz2@broker-b|4"])
    finding["at_least"], finding["as_of"] = ["queues", "last_owner"], NOW_MS - 9_000
    write(waiting_for_locks(findings=[finding]))
    page = read(language=language)
    with translation.override(language), timezone.override("UTC"):
        said = say_finding(finding)
    assert page.text(".finding h3") == f"{said.title} {said.since} {said.as_of}"
    assert page.text(".finding p") == said.text
    assert page.text(".finding .advice") == said.advice
    names = zip(page.texts(".finding dt"), page.texts(".finding dd"), strict=True)
    assert tuple(names) == said.evidence


def test_without_findings_their_panel_is_hidden(read: Read, write: Write) -> None:
    write(waiting_for_locks())
    page = read()
    assert page.text("[data-findings]") == ""
    assert page.text("[data-findings-tab]") == "Findings"
    alone = read("findings/").text("[data-findings]")
    assert alone == "Findings No rule finds anything wrong with this group."


@pytest.mark.parametrize("level", ["crit", "warn", "info"])
def test_the_badge_of_the_tab_has_the_colour_of_the_worst_finding(
    read: Read, write: Write, level: str
) -> None:
    finding = {**lock_finding(["orders|hz1@broker-a|4"]), "level": level}
    write(waiting_for_locks(findings=[finding]))
    for tab in ("", "whatif/"):
        (css,) = read(tab).attributes("[data-findings-tab] .badge", "class")
        assert str(css).split()[1:] == ([f"badge-{level}"] if level != "info" else [])


def test_rules_that_found_nothing_are_told_apart_from_those_not_checked(
    read: Read, write: Write
) -> None:
    carried = lock_finding(["orders|hz1@broker-a|4"])
    carried["as_of"] = NOW_MS
    found = lock_finding(["orders|hz1@broker-a|4"])
    write(waiting_for_locks(findings=[found, carried], rules=fared()))
    page = read()
    assert page.texts("[data-rules] p")[:2] == [
        "The rule “The commit went back” failed, which is a fault of RocketScope: "
        "KeyError: 'offset'",
        "17 other rules found nothing.",
    ]
    assert page.texts("[data-rules] summary") == [
        "Not checked, needs broker-a, broker-b: 2",
        "Not checked, the group has not been watched for long enough: 1",
    ]
    # Folded, so not rendered: the text is there for whoever opens it.
    assert "The lag grows · All members have left" in page.content.decode()


def test_the_oldest_age_is_the_lists_while_the_document_has_none(
    read: Read, write: Write
) -> None:
    state = waiting_for_locks()
    for each in state["queues"]:
        each["lag_ms"], each["unknown"]["lag_ms"] = None, "not_asked"
    state["totals"]["oldest_ms"], state["totals"]["oldest_partial"] = None, True
    write(state, overview(groups=[overview_row("order-settlement", oldest_ms=256_000)]))
    assert (
        read()
        .text('[data-tile="oldest"]')
        .startswith("Oldest message ≥ 4 m 16 s as of ")
    )
