"""Pages reach every row of a list, also of one that shows only its newest rows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from dashboard.gateway.settings import ClusterSettings
from dashboard.models import Cluster, LabRun, ResendRun, Role
from tests.dashboard.conftest import SignIn

CLUSTER = "/api/v1/clusters/hangzhou"


@pytest.mark.parametrize(
    ("path", "unasked"),
    [("/labs/runs", 50), ("/groups/billing/dead-letters/runs", 10)],
)
def test_pages_reach_past_the_newest(
    sign_in: SignIn, hangzhou: ClusterSettings, path: str, unasked: int
) -> None:
    cluster, count = Cluster.objects.get(name=hangzhou.name), unasked + 3
    for number in range(count):
        at = timezone.now() - timedelta(minutes=number)
        LabRun.objects.create(cluster=cluster, lab="F1", state="done", asked_at=at)
        ResendRun.objects.create(
            cluster=cluster,
            group="billing",
            target="group",
            rate=1,
            state="done",
            at=at,
        )
    client = sign_in(Role.VIEWER)

    def ids(query: str) -> list[int]:
        rows: list[dict[str, Any]] = client.get(f"{CLUSTER}{path}{query}").json()
        return [row["id"] for row in rows]

    newest, whole = ids(""), ids("?limit=100")
    assert len(newest) == unasked
    assert len(whole) == count
    assert newest == whole[:unasked]
    assert ids(f"?limit=2&offset={unasked}") == whole[unasked : unasked + 2]
    assert ids(f"?offset={unasked}") == whole[unasked:]
