"""Dead letters over REST: the same as on the pages, for programs."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from dashboard.models import Role
from tests.dashboard.conftest import SignIn
from tests.support.waiting import wait_until

from .conftest import GROUP, Member, play

pytestmark = pytest.mark.usefixtures("east", "member")

HERE = f"/api/v1/clusters/east/groups/{GROUP}/dead-letters"


def post(client: Client, address: str, body: Any = None) -> Any:
    return client.post(address, body or {}, content_type="application/json")


def test_the_list_has_counts_and_no_bodies(sign_in: SignIn) -> None:
    found = sign_in(Role.VIEWER).get(HERE, {"tag": "red"}).json()
    assert (found["kept"], found["partial"], found["last_hour"]) == (3, False, 3)
    assert sorted(each["keys"] for each in found["letters"]) == ["a-1", "a-2"]
    assert "4111" not in str(found)
    for name in ("begin", "since"):
        wrong = sign_in(Role.VIEWER).get(HERE, {name: "soon"})
        assert wrong.status_code == 422
        assert wrong.json()["detail"].startswith(f"{name}: ")
    levels = sign_in(Role.VIEWER).get(HERE.replace("dead-letters", "retries")).json()
    assert (levels["waiting"], len(levels["levels"])) == (0, 18)


@pytest.mark.parametrize("query", ["begin=2026-13-01", "only=chose"])
def test_a_choice_that_cannot_be_read_is_refused(sign_in: SignIn, query: str) -> None:
    operator = sign_in(Role.OPERATOR)
    refused = operator.get(f"{HERE}/resend", {"query": query})
    assert refused.status_code == 422
    assert query.partition("=")[2] in refused.json()["detail"]
    page = operator.get(f"/clusters/east/groups/{GROUP}/dead-letters/resend/?{query}")
    assert page.status_code == 409
    assert "Resend 3" not in page.content.decode()


def test_a_run_is_previewed_started_followed_and_stopped(
    sign_in: SignIn, member: Member
) -> None:
    operator = sign_in(Role.OPERATOR)
    query = {"query": "f.tag=blue"}
    preview = operator.get(f"{HERE}/resend", query).json()
    assert (preview["count"], preview["resent_before"]) == (1, 0)
    wish = {**query, "token": preview["token"], "target": "group", "reason": "mended"}
    assert post(sign_in(Role.VIEWER), f"{HERE}/resend", wish).status_code == 403
    refused = post(operator, f"{HERE}/resend", {**wish, "token": "x"})
    assert refused.status_code == 409
    seen = len(member.seen)
    run = post(operator, f"{HERE}/resend", wish).json()
    assert (run["state"], run["total"], run["waiting"]) == ("queued", 1, 1)
    play()
    wait_until(lambda: member.keys()[seen:] == ["b-1"])
    one = f"{HERE}/runs/{run['id']}"
    wait_until(lambda: operator.get(one).json()["passed"] == 1)
    assert [each["state"] for each in operator.get(f"{HERE}/runs").json()] == ["done"]
    again = {**wish, "query": "f.tag=blue&again=on"}
    run = post(operator, f"{HERE}/resend", again).json()
    stopped = post(operator, f"{HERE}/runs/{run['id']}/stop")
    assert stopped.json()["state"] == "stopped"
