"""Pages of groups as odd as a collector may write them: always an answer, no markup."""

from __future__ import annotations

import math
import re
import time
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from prometheus_client.parser import text_string_to_metric_families

from dashboard.live.documents import GroupState, Overview
from dashboard.models import Role
from tests.dashboard.conftest import SignIn, Write
from tests.support.strange import names
from tests.support.strange.documents import documents, overviews

from .conftest import strange

PAGES = ("group", "group_members", "group_timeline", "group_whatif", "group_check")
REST = ("", "/findings", "/whatif", "/timeline")
LISTS = ("/clusters/hangzhou/", "/clusters/hangzhou/groups/")
NOTHING = re.compile(r"\b(None|NaN|nan|undefined)\b|\[object")
CHINESE = {"accept-language": "zh-hans"}
"""No sentence of this language has a word that Python has for nothing."""


@pytest.fixture
def viewer(sign_in: SignIn) -> Client:
    return sign_in(Role.VIEWER)


def fault_of(answer: Any) -> str | None:
    """Return where a page has markup of a name, or a word of Python's for nothing.

    What scripts read is left out: there, both are data.
    """
    content = answer.content.decode()
    text = re.sub(r"<(script|template)\b.*?</\1>", "", content, flags=re.S)
    for mark in names.MARKUP:
        if mark in text:
            return text[max(0, text.index(mark) - 200) :][:300]
    said = re.sub(r"<[^>]+>", " ", text)
    found = NOTHING.search(said)
    return said[max(0, found.start() - 200) : found.end() + 50] if found else None


@pytest.mark.parametrize("page", PAGES)
@strange(15)
@given(state=documents(cluster="hangzhou"))
def test_every_page_of_a_group_answers(
    viewer: Client, write: Write, page: str, state: GroupState
) -> None:
    write(state)
    address = reverse(page, args=["hangzhou", state["group"]])
    answer = viewer.get(address, headers=CHINESE)
    assert answer.status_code == 200
    assert fault_of(answer) is None


@pytest.mark.parametrize("rest", REST)
@strange(15)
@given(state=documents(cluster="hangzhou"))
def test_every_address_of_a_group_answers(
    viewer: Client, write: Write, rest: str, state: GroupState
) -> None:
    write(state)
    address = reverse("group", args=["hangzhou", state["group"]]).rstrip("/")
    answer = viewer.get(f"/api/v1{address}{rest}")
    # 404: nothing is recorded of a group that no collector has ever met.
    assert answer.status_code in (200, 404 if rest == "/timeline" else 422)
    assert b"NaN" not in answer.content


@pytest.mark.parametrize("page", LISTS)
@strange(15)
@given(listed=overviews(cluster="hangzhou"))
def test_every_list_of_groups_answers(
    viewer: Client, write: Write, page: str, listed: Overview
) -> None:
    write(listed)
    answer = viewer.get(page, headers=CHINESE)
    assert answer.status_code == 200
    assert fault_of(answer) is None


@strange(15)
@given(listed=overviews(cluster="hangzhou"), state=documents(cluster="hangzhou"))
def test_metrics_of_any_documents_can_be_read(
    write: Write, listed: Overview, state: GroupState
) -> None:
    now_ms = round(time.time() * 1000)
    write({**listed, "taken_at": now_ms}, {**state, "taken_at": now_ms})
    for path in ("/metrics", "/metrics/groups", "/metrics/queues?group=*"):
        answer = Client().get(path)
        assert answer.status_code == 200
        families = list(text_string_to_metric_families(answer.content.decode()))
        samples = [sample for family in families for sample in family.samples]
        assert not [each for each in samples if math.isnan(each.value)]
