from __future__ import annotations

import pytest
from django.test import Client

from dashboard.models import Role
from tests.dashboard.conftest import SignIn
from tests.dashboard.overview.test_pages import text_of


@pytest.fixture
def viewer(sign_in: SignIn) -> Client:
    return sign_in(Role.VIEWER)


def test_the_settings_page_shows_clusters_and_values(
    viewer: Client, hangzhou: object
) -> None:
    page = text_of(viewer.get("/settings/"))
    assert "hangzhou 10.20.6.1:9876, 10.20.6.2:9876 off none configured" in page
    assert "ROCKETSCOPE_LISTEN 127.0.0.1:8300" in page


def test_the_link_to_users_is_for_admins(sign_in: SignIn) -> None:
    address = b'href="/account/users/"'
    assert address in sign_in(Role.ADMIN).get("/settings/").content
    assert address not in sign_in(Role.OPERATOR).get("/settings/").content
