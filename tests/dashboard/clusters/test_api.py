"""Attaching, testing and removing clusters over REST."""

from __future__ import annotations

import pytest
from django.test import Client

from dashboard.clusters.writes import TESTS_A_MINUTE
from dashboard.models import Cluster, Role
from tests.dashboard.conftest import SignIn

API = "/api/v1/clusters"
TEST = "/api/v1/name-servers/test"
WEST = {"name": "west", "name_servers": ["127.0.0.1:1"]}

pytestmark = pytest.mark.usefixtures("hangzhou", "valkey")


@pytest.fixture
def admin(sign_in: SignIn) -> Client:
    return sign_in(Role.ADMIN)


def post(client: Client, address: str, body: object) -> tuple[int, object]:
    answer = client.post(address, body, content_type="application/json")
    return answer.status_code, answer.json()


def test_a_cluster_is_attached_listed_and_removed(admin: Client) -> None:
    status, made = post(admin, API, WEST)
    assert (status, made) == (201, {**WEST, "read_only": True})
    listed = admin.get(API).json()
    assert [each["name"] for each in listed] == ["hangzhou", "west"]
    body = {"confirm": "west", "reason": "moved"}
    answer = admin.delete(f"{API}/west", body, content_type="application/json")
    assert answer.status_code == 204
    answer = admin.delete(f"{API}/west", body, content_type="application/json")
    assert answer.status_code == 404


def test_what_is_refused_says_why(admin: Client) -> None:
    status, told = post(admin, API, {**WEST, "name": "hangzhou"})
    assert (status, told) == (
        422,
        {"detail": "A cluster “hangzhou” is there already."},
    )


def test_a_test_tells_a_verdict_for_each_address(admin: Client) -> None:
    wish = {**WEST, "name_servers": ["127.0.0.1:1", "169.254.169.254:80"]}
    status, told = post(admin, TEST, wish)
    assert status == 200
    assert told == [
        {"address": "127.0.0.1:1", "verdict": "refused", "brokers": None},
        {"address": "169.254.169.254:80", "verdict": "forbidden", "brokers": None},
    ]
    for _time in range(TESTS_A_MINUTE - 1):
        post(admin, TEST, WEST)
    assert post(admin, TEST, WEST)[0] == 429


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_others_than_admins_are_refused(sign_in: SignIn, role: Role) -> None:
    client = sign_in(role)
    assert post(client, API, WEST)[0] == 403
    assert post(client, TEST, WEST)[0] == 403
    body = {"confirm": "hangzhou", "reason": "r"}
    answer = client.delete(f"{API}/hangzhou", body, content_type="application/json")
    assert answer.status_code == 403
    assert not Cluster.objects.filter(attached=True).exists()
