"""The settings as an operator may see them: every key, no secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.utils.translation import gettext as _

from dashboard.gateway.clusters import encryption_of
from dashboard.gateway.settings import Encryption
from dashboard.models import Cluster, User


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """One key, the value in use, and what it is for."""

    key: str
    value: str
    purpose: str


@dataclass(frozen=True, slots=True)
class ShownCluster:
    """A cluster as the settings page lists it: whether it has a key, not which."""

    name: str
    name_servers: Sequence[str]
    configured: bool
    embedded: bool
    encryption: Encryption
    why_read_only: str
    has_key: bool


def shown_clusters(user: User) -> Sequence[ShownCluster]:
    """Return the clusters that a user sees, also past ones, with their settings."""
    return [_cluster(cluster) for cluster in Cluster.objects.seen_by(user)]


def shown_settings() -> Sequence[ShownSetting]:
    """Return the settings in use, with passwords in URLs replaced by stars."""
    host, port = settings.ROCKETSCOPE_LISTEN
    database: dict[str, Any] = settings.DATABASES["default"]
    rows = [
        ("LISTEN", f"{host}:{port}", _("address of the pages")),
        (
            "ALLOWED_HOSTS",
            ", ".join(settings.ALLOWED_HOSTS),
            _("host names it answers to"),
        ),
        ("VAR_DIR", settings.ROCKETSCOPE_VAR_DIR, _("where it keeps its files")),
        ("DATABASE_URL", _database(database), _("users, audit, epochs, desired state")),
        (
            "REDIS_URL",
            without_password(settings.ROCKETSCOPE_REDIS_URL) or _("none"),
            _("queues, current state, live updates"),
        ),
        (
            "LAKE_URL",
            without_password(str(settings.ROCKETSCOPE_LAKE_URL)),
            _("samples and roll-ups"),
        ),
        *_s3(),
        *_retention(),
        (
            "LISTENERS",
            ", ".join(settings.ROCKETSCOPE_LISTENERS) or _("none"),
            _("modules with listeners of your own"),
        ),
        ("SPARK_MASTER", settings.ROCKETSCOPE_SPARK_MASTER, _("where analytics run")),
        (
            "LANGUAGE",
            settings.LANGUAGE_CODE,
            _("for browsers that ask for no other language"),
        ),
        ("URL", settings.ROCKETSCOPE_URL, _("address of the pages, for links")),
        ("TIME_ZONE", settings.TIME_ZONE, _("for users who have chosen none")),
        ("HTTPS", _on_off(settings.HTTPS), _("a proxy in front speaks TLS")),
        ("DEBUG", _on_off(settings.DEBUG), _("for work on RocketScope itself")),
    ]
    return [
        ShownSetting(settings.PREFIX + key, str(value), purpose)
        for key, value, purpose in rows
    ]


def _s3() -> Sequence[tuple[str, str, str]]:
    given = settings.ROCKETSCOPE_LAKE_S3
    if not settings.ROCKETSCOPE_LAKE_URL.startswith("s3"):
        return []
    return [
        ("S3_ENDPOINT", given.endpoint or "Amazon", _("server of the lake's bucket")),
        ("S3_REGION", given.region, _("region of the lake's bucket")),
    ]


def _retention() -> Sequence[tuple[str, int, str]]:
    purposes = {
        "ROLLUP_MINUTES_DAYS": _("days that steps of a minute are kept"),
        "ROLLUP_TEN_MINUTES_DAYS": _("days that steps of ten minutes are kept"),
        "ROLLUP_HOURS_DAYS": _("days that steps of an hour are kept"),
    }
    days = settings.ROCKETSCOPE_ROLLUP_DAYS
    return [
        *(
            (key, number, purpose)
            for (key, purpose), number in zip(purposes.items(), days, strict=True)
        ),
        (
            "AUDIT_DAYS",
            settings.ROCKETSCOPE_AUDIT_DAYS,
            _("days that the audit and changes of groups are kept"),
        ),
        (
            "EPOCH_DAYS",
            settings.ROCKETSCOPE_EPOCH_DAYS,
            _("days that timelines go back"),
        ),
    ]


def without_password(url: str) -> str:
    """Replace the password of a URL, if it has one, with three stars."""
    parts = urlsplit(url)
    if not parts.password:
        return url
    user, _at, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    return urlunsplit(parts._replace(netloc=f"{name}:***@{host}"))


def _cluster(cluster: Cluster) -> ShownCluster:
    given = cluster.settings_now
    return ShownCluster(
        name=cluster.name,
        name_servers=cluster.name_servers,
        configured=cluster.configured,
        embedded=cluster.embedded,
        encryption=encryption_of(cluster.name),
        why_read_only=cluster.why_read_only,
        has_key=bool(given and given.access_key),
    )


def _database(database: dict[str, Any]) -> str:
    if database["ENGINE"].endswith("sqlite3"):
        return f"sqlite:///{database['NAME']}"
    host = ":".join(filter(None, (database["HOST"], database["PORT"])))
    return f"postgresql://{host}/{database['NAME']}"


def _on_off(value: bool) -> str:
    return _("on") if value else _("off")
