from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import Cluster, LabRun, Role
from tests.dashboard.conftest import SignIn

pytestmark = pytest.mark.django_db

STEPS = [
    {
        "key": "joined",
        "params": {"member": "c1", "group": "LAB_F5_1_group", "client_id": "h@c1"},
        "at_ms": 1000,
    },
    {
        "key": "division",
        "params": {
            "topic": "LAB_F5_1",
            "after": "c1 joined",
            "division": "c1 0-1; c2 nothing",
            "parts": {"c1": [0, 1], "c2": []},
            "idle": ["c2"],
            "unowned": [2],
            "shared": [],
        },
        "at_ms": 2500,
    },
]


@pytest.fixture
def embedded(settings: Any) -> Cluster:
    settings.ROCKETSCOPE_REDIS_URL = ""
    return Cluster.objects.create(name="embedded", embedded=True)


def run_of(cluster: Cluster, **values: Any) -> LabRun:
    fields = {"asked_at": timezone.now(), "asked_by_name": "olga", "lab": "F5"}
    return LabRun.objects.create(cluster=cluster, **{**fields, **values})


def test_the_list_shows_every_lab_with_a_button(
    embedded: Cluster, sign_in: SignIn
) -> None:
    page = sign_in(Role.OPERATOR).get("/labs/").content.decode()
    for name in ("F1", "F2b", "F3b", "F4b", "F8"):
        assert f'data-start="{name}"' in page
    assert 'name="p-queues"' in page


def test_labs_stand_under_themes_with_a_drawing_and_their_last_result(
    embedded: Cluster, sign_in: SignIn
) -> None:
    claims = [{"key": "x", "params": {}, "seen": seen} for seen in (True, False)]
    run_of(embedded, state="done", claims=claims)
    page = sign_in(Role.OPERATOR).get("/labs/").content.decode()
    assert page.count('<svg class="lab-drawing"') == 11
    lab = page.partition('id="lab-F5"')[2].partition("</section>")[0]
    assert "1 of 2 seen" in lab
    assert page.count("Not played yet.") == 10


def test_strangers_sign_in_and_viewers_only_watch(
    embedded: Cluster, sign_in: SignIn, client: Any
) -> None:
    assert client.get("/labs/").status_code == 302
    viewer = sign_in(Role.VIEWER)
    page = viewer.get("/labs/").content.decode()
    assert "data-start" not in page
    assert page.count("Starting a lab needs the role of an operator.") == 11
    assert viewer.post("/labs/F5/start/").status_code == 403
    run = run_of(embedded)
    assert viewer.get(f"/labs/runs/{run.pk}/").status_code == 200
    assert viewer.post(f"/labs/runs/{run.pk}/cancel/").status_code == 403


def test_without_the_embedded_cluster_the_page_says_why(sign_in: SignIn) -> None:
    Cluster.objects.create(name="production")
    operator = sign_in(Role.OPERATOR)
    page = operator.get("/labs/").content.decode()
    assert "on the embedded cluster only, which does not run yet" in page
    assert "data-start" not in page
    assert operator.post("/labs/F5/start/").status_code == 404


def test_a_start_leads_to_its_run(embedded: Cluster, sign_in: SignIn) -> None:
    answer = sign_in(Role.OPERATOR).post(
        "/labs/F5/start/", {"p-queues": "3", "linger": "0.5"}
    )
    run = LabRun.objects.get()
    assert answer["Location"] == f"/labs/runs/{run.pk}/"
    assert (run.parameters, run.linger_s) == ({"queues": 3}, 0.5)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"p-queues": "many"}, "queues is “many”, expected a whole number"),
        ({"p-queues": "2"}, "queues is 2, allowed 3 to 256"),
        ({"linger": "long"}, "linger is “long”, expected a number of seconds"),
        ({"linger": "nan"}, "linger_s is nan, allowed 0 to 30"),
    ],
)
def test_a_refusal_is_said_on_the_list(
    embedded: Cluster, sign_in: SignIn, fields: dict[str, str], words: str
) -> None:
    page = sign_in(Role.OPERATOR).post("/labs/F5/start/", fields, follow=True)
    assert words in page.content.decode()
    assert not LabRun.objects.exists()


def test_what_every_member_holds_is_not_held_twice(
    embedded: Cluster, sign_in: SignIn
) -> None:
    params = {"topic": "T", "after": "c2 joined", "division": "c1 0-1; c2 0-1"}
    params |= {"parts": {"c1": [0, 1], "c2": [0, 1]}, "idle": []}
    steps = [{"key": "broadcast", "params": params, "at_ms": 1000}]
    run = run_of(embedded, lab="F4", state="running", steps=steps)
    page = sign_in(Role.VIEWER).get(f"/labs/runs/{run.pk}/").content.decode()
    picture = page[page.index("data-divided") : page.index("data-steps")]
    assert picture.count('<rect class="held"') == 4
    assert "No owner" not in picture
    assert "T is not divided; each member holds all its queues: c1 0-1" in page


def test_a_run_is_told_with_its_division_and_group(
    embedded: Cluster, sign_in: SignIn
) -> None:
    run = run_of(embedded, state="running", seen_at=timezone.now(), steps=STEPS)
    page = sign_in(Role.OPERATOR).get(f"/labs/runs/{run.pk}/").content.decode()
    assert "c1 joins group LAB_F5_1_group as client h@c1." in page
    assert "At rest, LAB_F5_1 is divided: c1 0-1; c2 nothing." in page
    assert "/clusters/embedded/groups/LAB_F5_1_group/" in page
    assert page.count('class="held"') == 2
    assert page.count('class="held-none"') == 1
    assert f"/labs/runs/{run.pk}/cancel/" in page


def test_a_fragment_is_the_part_that_moves(embedded: Cluster, sign_in: SignIn) -> None:
    run = run_of(embedded, state="running", seen_at=timezone.now(), steps=STEPS)
    answer = sign_in(Role.VIEWER).get(
        f"/labs/runs/{run.pk}/", headers={"X-Fragment": "1", "Accept-Language": "zh"}
    )
    page = answer.content.decode()
    assert "<html" not in page
    assert "稳定后，LAB_F5_1 的分配为：c1 0-1; c2 无。" in page


def test_the_end_says_what_was_seen_and_what_not(
    embedded: Cluster, sign_in: SignIn
) -> None:
    claims = [
        {"key": "F5.rule", "params": {"count": 11}, "seen": True},
        {"key": "F5.idle", "params": {}, "seen": False},
    ]
    run = run_of(embedded, state="done", claims=claims, finding="idle_members")
    page = sign_in(Role.OPERATOR).get(f"/labs/runs/{run.pk}/").content.decode()
    assert "All 11 divisions are contiguous blocks" in page
    assert "not seen" in page
    assert "not all seen" in page
    assert "members without a queue" in page
    assert "Start again" in page


def test_a_run_whose_worker_has_gone_says_so(
    embedded: Cluster, sign_in: SignIn
) -> None:
    long_ago = timezone.now() - timezone.timedelta(minutes=5)
    run = run_of(embedded, state="running", seen_at=long_ago)
    operator = sign_in(Role.OPERATOR)
    assert "its worker has gone" in operator.get("/labs/").content.decode()
    page = operator.get(f"/labs/runs/{run.pk}/").content.decode()
    assert "its worker has gone" in page


def test_an_unknown_run_is_not_found(embedded: Cluster, sign_in: SignIn) -> None:
    assert sign_in(Role.VIEWER).get("/labs/runs/99/").status_code == 404
