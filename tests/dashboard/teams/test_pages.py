"""Teams on pages, in the list of groups, on a group's page and over REST."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.test import Client

from dashboard.models import AuditEntry, GroupNote, Ownership, Role, Team, User
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import overview, waiting_for_locks
from tests.dashboard.overview.test_pages import rows_of, text_of

LIST = "/clusters/hangzhou/groups/"
GROUP = f"{LIST}order-settlement/"
API = "/api/v1/clusters/hangzhou"


@pytest.fixture(autouse=True)
def documents(write: Write) -> None:
    write(overview(), waiting_for_locks())


@pytest.fixture
def orders(db: None) -> Team:
    team = Team.objects.create(
        name="Orders", contact="https://chat.example.org/o", note="9 to 18"
    )
    Ownership.objects.create(team=team, cluster="hangzhou", groups="order-*")
    return team


def test_an_admin_makes_a_team_and_gives_it_groups_and_members(
    sign_in: SignIn,
) -> None:
    admin = sign_in(Role.ADMIN)
    assert "There is no team yet." in text_of(admin.get("/teams/"))
    fields = {"name": "Payments", "contact": "pay@example.org", "note": "<b>x</b>"}
    page = admin.post("/teams/new/", fields)["Location"]
    admin.post(f"{page}groups/", {"cluster": "hangzhou", "groups": "pay*"})
    admin.post(f"{page}groups/", {"cluster": "", "groups": "refunds"})
    admin.post(f"{page}members/", {"member": "admin"})
    answer = admin.get(page)
    assert 'href="mailto:pay@example.org"' in answer.content.decode()
    assert "&lt;b&gt;x&lt;/b&gt;" in answer.content.decode()
    assert "you are in it" in text_of(answer)
    assert "pay* hangzhou" in text_of(answer)
    assert "refunds every cluster" in text_of(answer)
    row = Ownership.objects.get(groups="refunds")
    admin.post(f"{page}groups/", {"remove": row.pk})
    admin.post(f"{page}members/", {"remove": "admin"})
    admin.post(f"{page}change/", {**fields, "name": "Pay"})
    team = Team.objects.get()
    assert (team.name, team.members.count()) == ("Pay", 0)
    assert [each.groups for each in team.ownerships.all()] == ["pay*"]
    assert text_of(admin.post(f"{page}delete/", follow=True)).count("is deleted") == 1


def test_what_cannot_be_kept_is_said_at_its_form_and_nothing_typed_is_lost(
    sign_in: SignIn, orders: Team
) -> None:
    admin = sign_in(Role.ADMIN)
    answer = admin.post("/teams/new/", {"name": "Orders", "contact": "#o"})
    assert answer.status_code == 422
    assert "There is already a team “Orders”." in text_of(answer)
    assert 'value="#o"' in answer.content.decode()
    answer = admin.post(f"/teams/{orders.pk}/members/", {"member": "nobody"})
    assert "There is no user “nobody”." in text_of(answer)
    assert 'value="nobody"' in answer.content.decode()
    other = Team.objects.create(name="Payments")
    sent = {"cluster": "hangzhou", "groups": "order-*"}
    answer = admin.post(f"/teams/{other.pk}/groups/", sent)
    assert answer.status_code == 422
    assert "“order-*” belongs to the team “Orders”." in text_of(answer)


def test_the_list_of_groups_names_the_team_and_keeps_ones_own(
    sign_in: SignIn, orders: Team
) -> None:
    viewer = sign_in(Role.VIEWER)
    page = viewer.get(LIST)
    assert f'href="/teams/{orders.pk}/" title="Orders"' in page.content.decode()
    assert "My groups" not in text_of(page), "the reader is in no team"
    orders.members.add(User.objects.get(username="viewer"))
    page = viewer.get(LIST)
    own = [name for name in rows_of(page) if name.startswith("order-")]
    assert f"My groups {len(own)}" in text_of(page)
    assert 'href="?only=mine"' in page.content.decode()
    for query in ("only=mine", "f.team=Orders"):
        assert list(rows_of(viewer.get(f"{LIST}?{query}"))) == own
    both = viewer.get(f"{LIST}?only=mine&q=settle").content.decode()
    assert '<input type="hidden" name="only" value="mine">' in both
    assert 'aria-checked="true" href="?q=settle"' in both
    nothing = viewer.get(f"{LIST}?f.team=Nobody")
    assert "Nothing matches these filters." in text_of(nothing)


def test_no_column_of_teams_is_shown_before_one_owns_groups(sign_in: SignIn) -> None:
    viewer = sign_in(Role.VIEWER)
    assert ">Team</a>" not in viewer.get(LIST).content.decode()
    assert ">Team</a>" in viewer.get(f"{LIST}?columns=team").content.decode()


def test_team_and_contact_are_in_the_file_of_the_list(
    sign_in: SignIn, orders: Team
) -> None:
    asked = f"{LIST}?columns=team,contact&format=csv"
    answer: Any = sign_in(Role.VIEWER).get(asked)
    lines = csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode()))
    found = {line["group"]: line for line in lines}
    assert found["order-settlement"]["team"] == "Orders"
    assert found["order-settlement"]["contact"] == orders.contact
    assert found["invoice-pdf"]["team"] == ""
    assert found["invoice-pdf"]["unknown"] == "team: No team owns this group"


def test_a_saved_view_keeps_the_filters(sign_in: SignIn, orders: Team) -> None:
    viewer = sign_in(Role.VIEWER)
    sent = {"path": LIST, "query": "only=mine&f.team=Orders", "name": "Ours"}
    saved = viewer.post("/views/save/", sent)
    assert saved["Location"] == f"{LIST}?f.team=Orders&only=mine"


def test_a_groups_page_says_who_answers_for_it(sign_in: SignIn, orders: Team) -> None:
    GroupNote.objects.create(
        cluster="hangzhou", group="order-settlement", text="Pays\n<sellers>"
    )
    page = sign_in(Role.VIEWER).get(GROUP).content.decode()
    assert f'<a href="/teams/{orders.pk}/">Orders</a>' in page
    assert f'<a href="{orders.contact}" rel="noopener noreferrer">' in page
    assert "Pays<br>&lt;sellers&gt;" in page
    assert "/note/" not in page
    assert "/owner/" not in page
    members = sign_in(Role.VIEWER).get(f"{GROUP}members/").content.decode()
    assert f'<a class="tag" href="/teams/{orders.pk}/"' in members


def test_a_contact_that_would_run_a_script_is_plain_text(
    sign_in: SignIn, orders: Team
) -> None:
    Team.objects.update(contact="javascript:alert(1)")
    for path in (GROUP, "/teams/", f"/teams/{orders.pk}/", f"{LIST}?columns=contact"):
        page = sign_in(Role.VIEWER).get(path).content.decode()
        assert "javascript:alert(1)" in page
        assert 'href="javascript' not in page


def test_an_operator_of_the_group_writes_its_note_on_its_page(
    sign_in: SignIn, orders: Team
) -> None:
    operator = sign_in(Role.OPERATOR)
    page = operator.get(GROUP).content.decode()
    assert f'action="{GROUP}note/"' in page
    assert "/owner/" not in page
    assert operator.post(f"{GROUP}note/", {"note": "x"})["Location"] == GROUP
    assert GroupNote.objects.get().text == "x"
    assert operator.post(f"{GROUP}owner/", {"team": orders.pk}).status_code == 403
    answer = operator.post(f"{GROUP}note/", {"note": "x" * 2001}, follow=True)
    assert "The note has 2001 characters, at most 2000 are kept." in text_of(answer)


def test_an_admin_chooses_the_team_of_a_group_on_its_page(
    sign_in: SignIn, orders: Team
) -> None:
    admin = sign_in(Role.ADMIN)
    team = Team.objects.create(name="Payments")
    admin.post(f"{GROUP}owner/", {"team": team.pk})
    page = admin.get(GROUP).content.decode()
    assert f'<option value="{team.pk}" selected>Payments</option>' in page
    admin.post(f"{GROUP}owner/", {"team": ""})
    assert "selected>Payments" not in admin.get(GROUP).content.decode()
    assert admin.post(f"{GROUP}owner/", {"team": "999"}).status_code == 404
    assert admin.post(f"{GROUP}owner/", {"team": "x"}).status_code == 404
    said = text_of(admin.get("/audit/"))
    assert "Give the group order-settlement to a team" in said


def test_whoever_sees_one_cluster_sees_nothing_of_others(orders: Team) -> None:
    Ownership.objects.create(team=orders, cluster="hidden", groups="secret-*")
    hidden = Team.objects.create(name="Hidden")
    Ownership.objects.create(team=hidden, cluster="hidden", groups="x")
    user = User.objects.create_user("ming", role="")
    user.grants.create(role=Role.VIEWER, cluster="hangzhou")
    client = Client()
    client.force_login(user)
    listed = text_of(client.get("/teams/"))
    assert "Orders" in listed
    assert "Hidden" not in listed
    assert "secret" not in listed
    assert "secret" not in text_of(client.get(f"/teams/{orders.pk}/"))
    assert client.get(f"/teams/{hidden.pk}/").status_code == 404
    assert client.get(f"/api/v1/teams/{hidden.pk}").status_code == 404
    (shown,) = client.get("/api/v1/teams").json()
    assert shown["groups"] == [{"cluster": "hangzhou", "groups": "order-*"}]


def test_teams_are_read_and_written_over_rest(sign_in: SignIn) -> None:
    admin, viewer = sign_in(Role.ADMIN), sign_in(Role.VIEWER)
    team = {
        "name": "Orders",
        "contact": "#o",
        "note": "",
        "members": ["viewer"],
        "groups": [{"cluster": "hangzhou", "groups": "order-*"}],
    }
    made = admin.post("/api/v1/teams", team, "application/json")
    assert made.status_code == 201
    pk = made.json()["pk"]
    (seen,) = viewer.get("/api/v1/teams").json()
    assert seen == {**team, "pk": pk, "mine": True}
    again = admin.post("/api/v1/teams", team, "application/json")
    assert again.status_code == 409
    changed = {**team, "members": [], "note": "x"}
    answer = admin.put(f"/api/v1/teams/{pk}", changed, "application/json")
    assert answer.json() == {**changed, "pk": pk, "mine": False}
    wrong = admin.put(
        f"/api/v1/teams/{pk}", {**team, "members": ["no"]}, "application/json"
    )
    assert (wrong.status_code, wrong.json()["detail"]) == (
        422,
        "There is no user “no”.",
    )
    assert admin.delete(f"/api/v1/teams/{pk}").status_code == 204
    assert admin.delete(f"/api/v1/teams/{pk}").status_code == 404


def test_documents_of_groups_name_the_team_and_can_be_chosen_by_it(
    sign_in: SignIn, orders: Team
) -> None:
    mark = {"pk": orders.pk, "name": "Orders", "contact": orders.contact}
    viewer, operator = sign_in(Role.VIEWER), sign_in(Role.OPERATOR)
    sent = operator.put(
        f"{API}/groups/order-settlement/note", {"note": "x"}, "application/json"
    )
    assert sent.json() == {"note": "x"}
    document = viewer.get(f"{API}/groups/order-settlement").json()
    assert (document["team"], document["note"]) == (mark, "x")
    whole = viewer.get(f"{API}/overview").json()
    teams = {row["group"]: row["team"] for row in whole["groups"]}
    assert (teams["order-settlement"], teams["invoice-pdf"]) == (mark, None)
    own = [name for name, team in teams.items() if team]
    chosen = viewer.get(f"{API}/overview?team=Orders").json()
    assert [row["group"] for row in chosen["groups"]] == own
    assert chosen["totals"] == whole["totals"]
    assert viewer.get(f"{API}/overview?mine=true").json()["groups"] == []
    orders.members.add(User.objects.get(username="viewer"))
    mine = viewer.get(f"{API}/overview?mine=true").json()["groups"]
    assert [row["group"] for row in mine] == own
    assert AuditEntry.objects.filter(action="group.note").exists()
