from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings as django_settings

from analytics.lake.s3 import S3Settings
from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.settings import ClientTls, ClusterSettings
from dashboard.models import Role, User
from dashboard.settings_page.reads import (
    shown_clusters,
    shown_settings,
    without_password,
)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://:hush@h:1/0", "redis://:***@h:1/0"),
        ("s3://me:hush@bucket/x", "s3://me:***@bucket/x"),
        ("redis://h:1/0", "redis://h:1/0"),
        ("/var/lake", "/var/lake"),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str) -> None:
    assert without_password(url) == shown


def test_every_setting_is_shown_and_no_secret(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.ROCKETSCOPE_REDIS_URL = "redis://:hush@h:1/0"
    postgresql = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "scope",
        "HOST": "db",
        "PORT": "5432",
        "PASSWORD": "hush",
    }
    monkeypatch.setattr(django_settings, "DATABASES", {"default": postgresql})
    rows = {row.key: row.value for row in shown_settings()}
    assert rows["ROCKETSCOPE_REDIS_URL"] == "redis://:***@h:1/0"
    assert rows["ROCKETSCOPE_DATABASE_URL"] == "postgresql://db:5432/scope"
    assert not any("hush" in value for value in rows.values())
    assert settings.SECRET_KEY not in rows.values()


def test_a_lake_on_s3_tells_its_server_and_no_key(settings: Any) -> None:
    rows = {row.key: row.value for row in shown_settings()}
    assert "ROCKETSCOPE_S3_ENDPOINT" not in rows
    assert rows["ROCKETSCOPE_ROLLUP_HOURS_DAYS"] == "400"
    settings.ROCKETSCOPE_LAKE_URL = "s3://bucket/lake"
    given = S3Settings("http://minio:9000", "eu", "me", "hush")
    settings.ROCKETSCOPE_LAKE_S3 = given
    rows = {row.key: row.value for row in shown_settings()}
    assert rows["ROCKETSCOPE_S3_ENDPOINT"] == "http://minio:9000"
    assert rows["ROCKETSCOPE_S3_REGION"] == "eu"
    assert not any("hush" in value for value in rows.values())


def test_clusters_tell_whether_there_is_a_key(db: None, settings: Any) -> None:
    named = ClusterSettings(
        "a", ("h:1",), access_key="me", secret_key="hush", tls=ClientTls()
    )
    settings.ROCKETSCOPE_CLUSTERS = {"a": named}
    sync_clusters({"gone": ClusterSettings("gone", ("h:2",))})
    sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
    known, gone = shown_clusters(User(role=Role.VIEWER))
    assert (known.has_key, known.encryption, known.configured) == (
        True,
        "verified",
        True,
    )
    assert (gone.has_key, gone.encryption, gone.configured) == (False, "off", False)
