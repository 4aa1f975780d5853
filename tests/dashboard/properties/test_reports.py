"""Reports of groups and members of any name are shown, and can be taken along."""

from __future__ import annotations

import pytest

from dashboard.gateway.settings import ClusterSettings
from dashboard.models import Role
from tests.dashboard.conftest import SignIn
from tests.dashboard.reports.conftest import lake
from tests.dashboard.reports.finished import finished_run
from tests.support.strange import names

from .test_pages import CHINESE, fault_of

__all__ = ["lake"]

FIGURES = ("lag", "queues", "strategies", "members")


@pytest.mark.parametrize("group", ["", names.ODD[4]])
def test_reports_of_odd_names_are_shown(
    sign_in: SignIn,
    hangzhou: ClusterSettings,
    lake: object,
    group: str,
) -> None:
    listed = (group,) if group else names.ODD
    run = finished_run(lake, group=group, groups=listed, consumers=names.ODD)  # type: ignore[arg-type]
    viewer = sign_in(Role.VIEWER)
    page = viewer.get(f"/reports/{run.pk}/", headers=CHINESE)
    assert page.status_code == 200
    assert fault_of(page) is None
    for figure in FIGURES:
        answer = viewer.get(f"/reports/{run.pk}/figures/{figure}/", headers=CHINESE)
        assert answer.status_code in (200, 404), figure
        assert b"NaN" not in b"".join(answer), figure
