"""What a newcomer can do on the embedded cluster, and when it is not said."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from dashboard.frame.first_steps import ADD, MOST_GROUPS, PLAY
from dashboard.models import Cluster, Role, User
from dashboard.models.audit import record
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import looked_at, overview_row
from tests.dashboard.overview.test_pages import text_of

ALL, HOME = "/clusters/", "/clusters/embedded/"
TITLE = "Three steps on the demo cluster"
BEHIND = {"level": "warn", "word": "falling_behind"}


def demo(*others: Any) -> Any:
    """Return the demo as a sweep meets it once its groups have shown what they do."""
    rows = [
        overview_row("demo-orderly", managed=True, orderly=True, status=BEHIND),
        overview_row("demo-slow", managed=True, orderly=False, status=BEHIND),
        overview_row("demo-consumers", managed=True, orderly=False),
        *others,
    ]
    return looked_at(cluster="embedded", groups=rows)


@pytest.fixture
def embedded(write: Write, hangzhou: object) -> None:
    Cluster.objects.update(configured=False)
    Cluster.objects.create(
        name="embedded", name_servers=["h:1"], embedded=True, attached=True
    )
    write(demo())


def steps_of(client: Client, address: str = HOME) -> str:
    """Return the part of the page with the steps, empty without them."""
    found = re.search(
        r'<section class="panel gap first-steps".*?</section>',
        client.get(address).content.decode(),
        re.S,
    )
    return found[0] if found else ""


@pytest.mark.usefixtures("embedded")
@pytest.mark.parametrize("address", [ALL, HOME])
def test_three_steps_lead_to_a_group_a_consumer_and_a_lab(
    sign_in: SignIn, address: str
) -> None:
    steps = steps_of(sign_in(Role.OPERATOR), address)
    assert TITLE in steps
    assert re.findall(r'href="([^"]+)"', re.sub(r"<use [^>]+>", "", steps)) == [
        "/clusters/embedded/groups/demo-consumers/",
        "/clusters/embedded/groups/demo-slow/#map-title",
        "/labs/#lab-F7",
    ]
    assert "demo-slow falls behind." in steps, "not the orderly one, which it helps not"


@pytest.mark.usefixtures("embedded")
def test_a_viewer_reads_why_the_last_two_are_for_others(sign_in: SignIn) -> None:
    steps = steps_of(sign_in(Role.VIEWER))
    assert "/groups/demo-consumers/" in steps
    assert steps.count(" disabled>") == 2
    assert "Adding a consumer needs the role of an operator." in steps
    assert "Starting a lab needs the role of an operator." in steps
    assert "/labs/" not in steps


@pytest.mark.usefixtures("embedded")
def test_a_group_that_keeps_up_is_named_where_none_is_behind(
    sign_in: SignIn, write: Write
) -> None:
    write(looked_at(cluster="embedded", groups=[overview_row("mine", managed=True)]))
    assert "above the map of mine:" in steps_of(sign_in(Role.OPERATOR))


@pytest.mark.usefixtures("embedded")
def test_the_steps_go_once_the_reader_has_added_and_played(sign_in: SignIn) -> None:
    operator = sign_in(Role.OPERATOR)
    user = User.objects.get(username=Role.OPERATOR.value)
    record(None, PLAY, cluster="embedded", target="F7")
    record(user, PLAY, cluster="prod", target="F7")
    assert "(done)" not in steps_of(operator), "others did, or elsewhere"
    record(user, ADD, cluster="embedded", target="demo-slow")
    assert steps_of(operator).count("(done)") == 1
    record(user, PLAY, cluster="embedded", target="F7")
    assert not steps_of(operator)
    assert not steps_of(operator, ALL)


@pytest.mark.usefixtures("embedded")
def test_they_are_only_shown_while_there_is_little_to_see(
    sign_in: SignIn, write: Write
) -> None:
    operator = sign_in(Role.OPERATOR)
    write(demo(*(overview_row(f"g{number}") for number in range(MOST_GROUPS - 3))))
    assert TITLE in steps_of(operator)
    write(demo(*(overview_row(f"g{number}") for number in range(MOST_GROUPS - 2))))
    assert not steps_of(operator)
    assert not steps_of(operator, ALL)


@pytest.mark.usefixtures("embedded")
def test_a_cluster_that_is_not_known_in_full_comes_before_them(
    sign_in: SignIn,
) -> None:
    operator = sign_in(Role.OPERATOR)
    Cluster.objects.create(name="prod", name_servers=["h:1"], attached=True)
    assert not steps_of(operator, ALL)
    assert TITLE in steps_of(operator), "on the demo's own page they stay"


def test_other_clusters_have_no_such_steps(sign_in: SignIn, write: Write) -> None:
    write(looked_at(groups=[overview_row("one", managed=True)]))
    page = text_of(sign_in(Role.OPERATOR).get("/clusters/hangzhou/"))
    assert TITLE not in page
