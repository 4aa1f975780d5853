"""Names that a broker, a client or a stranger chose, wherever they are shown."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from prometheus_client.parser import text_string_to_metric_families

from dashboard.accounts.attempts import record_refusal
from dashboard.models import JobRun, Role
from dashboard.models.audit import SIGN_IN, record
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import (
    NOW_MS,
    _broker,
    group_state,
    lock_finding,
    member,
    now_ms,
    overview,
    overview_row,
    queue,
)
from tests.dashboard.reports.finished import finished_run, two_epochs
from tests.dashboard.reports.test_pages import gathered

MARKUP = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
)
NAMES = (
    *MARKUP,
    "{{7*7}}{% now 'Y' %}",
    "javascript:alert(1)",
    "=HYPERLINK(1)",
    "@x",
    "\u202egnp.exe",
    "a\0b",
    "\r\nSet-Cookie: a=b",
    "n" * 10_000,
)
FORMULAS = (
    "=HYPERLINK(1)",
    "@x",
    "+1",
    "-1",
    "\tx",
    "\r=x",
    "\n=x",
    " =x",
    "＝1",
)
PAGES = (
    "group",
    "group_queues",
    "group_findings",
    "group_members",
    "group_timeline",
    "group_whatif",
    "group_check",
    "group_switch",
    "group_changes",
)
REST = ("", "/findings", "/whatif")
LABELS = {
    *("cluster", "group", "topic", "broker", "queue", "client_id", "source"),
    *("finding", "level", "worker"),
}
FORMATS = ("csv", "xlsx", "html", "pdf", "parquet")


def poisoned(name: str) -> list[Any]:
    """Return documents in which every name that others choose is `name`."""
    client_id = f"{name}@1"
    strange = member(
        0,
        client_id=client_id,
        label=name,
        address=name,
        language=name,
        version=name,
        strategy=name,
        subscriptions=[{"topic": name, "expression": name}],
    )
    finding = lock_finding([f"{name}|{name}|0"])
    finding["values"]["holder"] = name
    finding["evidence"] = [("last_owner", [name])]
    finding["members"] = [client_id]
    state = group_state(
        [strange, member(1)],
        [queue(name, 0, topic=name, owners=[client_id]), queue(name, 1, topic=name)],
        group=name[:255],
        strategy={"name": name, "source": "reported"},
        brokers=[{"name": name, "answered": False, "age_ms": 300}],
        findings=[finding],
    )
    row = overview_row(
        name[:255],
        topics=[name],
        strategy={"name": name, "source": "reported"},
    )
    broken = _broker(name, cluster=name, address=name, version=name)
    broken |= {"answered": False, "error": name}
    return [state, overview(NOW_MS, groups=[row], brokers=[broken])]


def assert_text_only(content: str, name: str) -> None:
    """Fail if a name has become part of a page; scripts read their data as JSON."""
    assert not any(mark in content for mark in MARKUP[:3]), name
    assert MARKUP[3] not in re.sub(r"(?s)<script\b.*?</script>", "", content), name
    assert not re.search(r"""(href|src|action)=["']?javascript:""", content), name
    assert "49{%" not in content, name


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name)[:30])
def test_a_name_is_text_on_every_page_of_a_group(
    sign_in: SignIn, write: Write, name: str
) -> None:
    write(*poisoned(name))
    client = sign_in(Role.ADMIN)
    for page in PAGES:
        answer = client.get(reverse(page, args=["hangzhou", name[:255]]))
        assert answer.status_code == 200, page
        assert "a" not in answer.cookies
        assert_text_only(answer.content.decode(), page)


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name)[:30])
def test_a_name_is_text_in_every_list_and_fragment(
    sign_in: SignIn, write: Write, name: str
) -> None:
    write(*poisoned(name))
    client = sign_in(Role.ADMIN)
    for page in ("/clusters/hangzhou/", "/clusters/hangzhou/groups/"):
        for headers in ({}, {"X-Fragment": "1"}):
            answer = client.get(page, headers=headers)
            assert answer.status_code == 200
            assert_text_only(answer.content.decode(), page)


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name)[:30])
def test_a_name_is_a_value_of_a_label_in_metrics(write: Write, name: str) -> None:
    write(*({**document, "taken_at": now_ms()} for document in poisoned(name)))
    for path, label, value in (
        ("/metrics", "broker", name),
        ("/metrics/groups", "group", name[:255]),
        ("/metrics/queues?group=*", "topic", name),
    ):
        answer = Client().get(path)
        assert answer.status_code == 200
        # Browsers show it as text, whatever is in it.
        assert answer["Content-Type"].startswith("text/plain")
        assert answer["X-Content-Type-Options"] == "nosniff"
        families = text_string_to_metric_families(answer.content.decode())
        labels = [sample.labels for family in families for sample in family.samples]
        assert {key for each in labels for key in each} <= LABELS
        assert value in {each.get(label) for each in labels}


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name)[:30])
def test_a_name_is_data_in_every_answer_of_the_api(
    sign_in: SignIn, write: Write, name: str
) -> None:
    write(*poisoned(name))
    client = sign_in(Role.VIEWER)
    group = reverse("group", args=["hangzhou", name[:255]]).rstrip("/")
    paths = [f"/api/v1{group}{rest}" for rest in REST]
    for path in [*paths, "/api/v1/clusters/hangzhou/overview"]:
        answer = client.get(path)
        assert answer.status_code in {200, 422}, path
        assert answer["Content-Type"].startswith("application/json"), path
        assert answer["X-Content-Type-Options"] == "nosniff"
        answer.json()


@pytest.mark.parametrize("kind", ["csv", "members"])
def test_no_name_is_a_formula_in_a_comparison(
    sign_in: SignIn, write: Write, kind: str
) -> None:
    client = sign_in(Role.VIEWER)
    for name in FORMULAS:
        write(*poisoned(name))
        path = reverse("group_whatif_export", args=["hangzhou", name])
        answer = client.get(path, {"format": kind})
        assert answer.status_code == 200
        assert_no_formula(answer.content)


@pytest.fixture
def run(hangzhou: object, settings: Any, tmp_path: Path) -> JobRun:
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    two_epochs()
    names = (*FORMULAS, *MARKUP, "a\0b", "\u202ex")
    return finished_run(
        tmp_path, group=MARKUP[0], groups=names, consumers=names, steps=2
    )


@pytest.mark.parametrize("form", FORMATS)
def test_a_name_breaks_no_file_of_a_report(
    sign_in: SignIn, run: JobRun, form: str
) -> None:
    answer = sign_in(Role.VIEWER).get(f"/reports/{run.pk}/report.{form}")
    assert answer.status_code == 200
    disposition = answer["Content-Disposition"]
    assert re.fullmatch(r'attachment; filename="[\w.-]+"', disposition)
    content = gathered(answer)
    match form:
        case "csv":
            assert_no_formula(content)
        case "html":
            assert_text_only(content.decode(), form)
        case "pdf":
            assert content.startswith(b"%PDF")
            assert b"/JavaScript" not in content
            assert b"/URI" not in content
        case "xlsx":
            assert_no_formula_cell(content)
        case "parquet":
            assert content.startswith(b"PAR1")


def test_a_name_is_text_on_the_page_of_a_report(sign_in: SignIn, run: JobRun) -> None:
    client = sign_in(Role.ADMIN)
    for page in ("", "figures/lag/table/", "figures/strategies/table/", "status/"):
        answer = client.get(f"/reports/{run.pk}/{page}")
        assert answer.status_code == 200, page
        assert_text_only(answer.content.decode(), page)
    assert_text_only(client.get("/reports/").content.decode(), "list")


def test_a_name_that_was_typed_at_sign_in_is_text_in_the_audit(
    sign_in: SignIn,
) -> None:
    for name in (*NAMES, *FORMULAS):
        record_refusal(SIGN_IN, name, "10.0.0.1")
        record(None, "x", target=name, reason=name, details={name: name})
    client: Client = sign_in(Role.ADMIN)
    assert_text_only(client.get("/audit/").content.decode(), "audit")
    assert_no_formula(gathered(client.get("/audit/audit.csv")))
    lines = gathered(client.get("/audit/audit.jsonl")).splitlines()
    assert len(lines) == 2 * len((*NAMES, *FORMULAS)) - 2


def assert_no_formula(content: bytes) -> None:
    """Fail if a spreadsheet would run a cell of a CSV file; numbers are no formulas."""
    for row in csv.reader(io.StringIO(content.decode(), newline="")):
        for cell in row:
            is_number = re.fullmatch(r"-?[\d.]+(e-?\d+)?", cell)
            assert is_number or not re.match(r"\s*[=+\-@＝＋－＠]|[\t\r\n]", cell), cell


def assert_no_formula_cell(content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        for name in book.namelist():
            assert "externalLink" not in name
            if name.startswith("xl/worksheets/"):
                text = book.read(name).decode()
                assert "HYPERLINK" not in "".join(re.findall(r"<f>.*?</f>", text))
                assert "<hyperlink" not in text
