"""Messages over REST: the same as on the pages, for programs."""

from __future__ import annotations

import base64

import pytest

from dashboard.models import AuditEntry, Role
from tests.dashboard.conftest import SignIn

from .conftest import BODY

pytestmark = pytest.mark.usefixtures("east")

HERE = "/api/v1/clusters/east/messages"
PLACE = {"topic": "orders", "broker": "broker-a", "queue": 0, "offset": 3}


def test_a_search_answers_without_bodies(sign_in: SignIn) -> None:
    asked = {"by": "key", "topic": "orders", "key": "k-3"}
    found = sign_in(Role.VIEWER).get(HERE, asked).json()
    assert [row["keys"] for row in found["messages"]] == ["k-3"] * 4
    assert (found["cut_short"], found["failed"]) == ([], {})
    assert "4111" not in str(found)


@pytest.mark.parametrize("names", [("begin", "end"), ("since", "until")])
def test_a_refusal_names_a_time_as_it_was_given(
    sign_in: SignIn, names: tuple[str, str]
) -> None:
    asked = {"by": "time", "topic": "orders", names[0]: "soon", names[1]: ""}
    answer = sign_in(Role.VIEWER).get(HERE, asked)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{names[0]}: ")


def test_a_queue_has_two_names(sign_in: SignIn) -> None:
    viewer = sign_in(Role.VIEWER)
    place = {**PLACE, "queue_id": PLACE["queue"]}
    del place["queue"]
    found = [viewer.get(f"{HERE}/one", each).json() for each in (PLACE, place)]
    assert found[0] == found[1]
    assert found[0]["offset"] == 3


def test_one_message_with_what_became_of_it(sign_in: SignIn) -> None:
    found = sign_in(Role.VIEWER).get(f"{HERE}/one", PLACE).json()
    assert (found["offset"], found["body_bytes"]) == (3, len(BODY))
    assert (found["consumed"], found["problem"]) == ([], "")


def test_a_body_needs_its_right_and_is_recorded(sign_in: SignIn) -> None:
    def look(role: Role) -> tuple[int, dict[str, object]]:
        answer = sign_in(role).post(
            f"{HERE}/body", PLACE, content_type="application/json"
        )
        return answer.status_code, answer.json()

    assert look(Role.VIEWER)[0] == 403
    status, told = look(Role.OPERATOR)
    assert (status, told["masked_by"]) == (200, [])
    assert told["base64"] == base64.b64encode(BODY).decode()
    assert AuditEntry.objects.filter(action="message.look").count() == 1


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"by": "key", "topic": "orders"}, 422),
        ({"by": "newest", "topic": "nowhere"}, 424),
        ({"by": "id", "id": "none"}, 422),
    ],
)
def test_a_search_that_cannot_be_made_says_why(
    sign_in: SignIn, asked: dict[str, str], status: int
) -> None:
    answer = sign_in(Role.VIEWER).get(HERE, asked)
    assert answer.status_code == status
    assert answer.json()["detail"]


def test_a_message_that_is_not_there(sign_in: SignIn) -> None:
    answer = sign_in(Role.VIEWER).get(f"{HERE}/one", {**PLACE, "offset": 10**6})
    assert answer.status_code == 404
