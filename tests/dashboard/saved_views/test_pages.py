"""Views of lists: kept by anybody, shared by operators, bounded, and audited."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from dashboard.models import AuditEntry, Role, SavedView, User
from dashboard.saved_views import writes
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import overview, waiting_for_locks
from tests.dashboard.overview.test_pages import text_of

LIST = "/clusters/hangzhou/groups/"
QUERY = "level=crit&sort=-lag"


@pytest.fixture(autouse=True)
def documents(write: Write) -> None:
    write(overview(), waiting_for_locks())


def save(client: Client, name: str = "Night shift", **fields: str) -> Any:
    form = {"path": LIST, "query": f"{QUERY}&page=3", "name": name, **fields}
    return client.post("/views/save/", form)


def test_a_view_is_saved_offered_beside_its_list_and_marked_while_shown(
    sign_in: SignIn,
) -> None:
    viewer = sign_in(Role.VIEWER)
    assert save(viewer)["Location"] == f"{LIST}?{QUERY}"
    page = viewer.get(LIST).content.decode()
    assert 'href="?level=crit&amp;sort=-lag"' in page
    shown = viewer.get(f"{LIST}?sort=-lag&level=crit").content.decode()
    assert 'sort=-lag" aria-current="true"' in shown
    same_list = viewer.get("/clusters/hangzhou/").content.decode()
    assert "Night shift" in same_list
    other_list = viewer.get("/clusters/hangzhou/topics/").content.decode()
    assert "Night shift" not in other_list
    assert not AuditEntry.objects.exists(), "what one keeps for oneself is no change"


def test_the_same_name_replaces_the_view(sign_in: SignIn) -> None:
    viewer = sign_in(Role.VIEWER)
    save(viewer)
    save(viewer, query="q=order")
    assert [each.query for each in SavedView.objects.all()] == ["q=order"]


def test_a_view_is_renamed_and_deleted_by_its_owner_alone(sign_in: SignIn) -> None:
    viewer = sign_in(Role.VIEWER)
    save(viewer)
    pk = SavedView.objects.get().pk
    stranger = sign_in(Role.OPERATOR)
    assert stranger.post(f"/views/{pk}/delete/").status_code == 404
    viewer.post(f"/views/{pk}/rename/", {"name": " Day  shift "})
    assert SavedView.objects.get().name == "Day shift"
    save(viewer)
    told = viewer.post(f"/views/{pk}/rename/", {"name": "Night shift"}, follow=True)
    assert "You already keep a view “Night shift” of this list." in text_of(told)
    viewer.post(f"/views/{pk}/delete/")
    assert [each.name for each in SavedView.objects.all()] == ["Night shift"]


def test_operators_share_views_and_every_change_of_a_shared_one_is_audited(
    sign_in: SignIn,
) -> None:
    operator, viewer = sign_in(Role.OPERATOR), sign_in(Role.VIEWER)
    save(operator, shared="on")
    pk = SavedView.objects.get().pk
    assert "Night shift" in text_of(viewer.get(LIST))
    assert viewer.get("/api/v1/views").json()[0]["owner"] == "operator"
    assert viewer.post(f"/views/{pk}/rename/", {"name": "x"}).status_code == 403
    assert viewer.post(f"/views/{pk}/delete/").status_code == 403
    operator.post(f"/views/{pk}/rename/", {"name": "Day shift"})
    operator.post(f"/views/{pk}/share/")
    operator.post(f"/views/{pk}/share/")
    assert "Day shift" not in text_of(viewer.get(LIST))
    operator.post(f"/views/{pk}/share/", {"shared": "on"})
    sign_in(Role.ADMIN).post(f"/views/{pk}/delete/")
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == [
        "view.save",
        "view.rename",
        "view.unshare",
        "view.share",
        "view.delete",
    ]


def test_a_viewer_shares_nothing(sign_in: SignIn) -> None:
    assert save(sign_in(Role.VIEWER), shared="on").status_code == 403
    assert not SavedView.objects.exists()


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"name": " "}, "A name has 1 to 60 characters, this one has 0."),
        ({"name": "x" * 61}, "this one has 61."),
        ({"query": f"q={'x' * 2000}"}, "at most 2000 are kept."),
        ({"query": "&".join(f"a{n}=1" for n in range(101))}, "Max number of fields"),
        ({"path": "//elsewhere.example/"}, "is no page with a list."),
        ({"path": f"/clusters/{'x' * 1000}/groups/"}, "is no page with a list."),
    ],
)
def test_what_cannot_be_kept_is_refused_with_the_limit(
    sign_in: SignIn, fields: dict[str, str], told: str
) -> None:
    viewer = sign_in(Role.VIEWER)
    answer = save(viewer, **fields)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/")
    assert answer["Location"][1] != "/"
    assert told in text_of(viewer.get("/views/"))
    assert not SavedView.objects.exists()


def test_a_person_keeps_so_many_views_and_no_more(
    sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes, "MAX_VIEWS", 1)
    viewer = sign_in(Role.VIEWER)
    save(viewer)
    told = save(viewer, "another")
    assert told["Location"].startswith(LIST)
    assert "You already keep 1 views" in text_of(viewer.get("/views/"))
    save(viewer)
    assert SavedView.objects.count() == 1


def test_views_go_with_the_account(sign_in: SignIn) -> None:
    save(sign_in(Role.OPERATOR), shared="on")
    User.objects.get(username="operator").delete()
    assert not SavedView.objects.exists()
