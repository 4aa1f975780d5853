"""Django's settings, read from the environment with the prefix ROCKETSCOPE_.

Reads nothing but the environment, the static files' bytes (for their address) and the
kept secret key. Without ROCKETSCOPE_REDIS_URL the cache and the channel layer live in
the memory of one process: enough for tests and for `manage.py`, not for a running
stack, where the launcher always sets it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from analytics import places

from . import environment, structure
from .assets_digest import digest
from .cached import redis_cache
from .cluster_settings import attached_cluster, clusters, wants_embedded
from .directory_settings import check_packages, directory
from .sign_in_settings import (
    check_second_factor,
    check_ways_in,
    group_rights,
    provider,
    proxy_headers,
)

ROOT: Final = places.ROOT
FILES: Final = places.FILES
HOME: Final = places.home(os.environ)
# How the command is typed where it is shown to people.
COMMAND: Final = places.COMMAND
PREFIX: Final = "ROCKETSCOPE_"
VERSION: Final = "0.1.0"

# Only their owner may read files made from here on: database, logs, lake and state.
ROCKETSCOPE_UMASK = environment.octal(f"{PREFIX}UMASK", 0o077)
os.umask(ROCKETSCOPE_UMASK)

# RocketScope's own settings: one key, one environment variable, one row in the docs.
ROCKETSCOPE_VAR_DIR = Path(
    environment.text(f"{PREFIX}VAR_DIR", str(HOME / "var"))
).resolve()
ROCKETSCOPE_CLUSTERS = clusters(f"{PREFIX}CLUSTERS", f"{PREFIX}EMBEDDED_CLUSTER")
ROCKETSCOPE_WANTS_EMBEDDED = wants_embedded(f"{PREFIX}CLUSTERS")
# What makes settings of a cluster that was attached on a page; see `gateway.present`.
ROCKETSCOPE_ATTACHED_CLUSTER = attached_cluster
# A file that asks for the embedded cluster, set only if something looks for that file.
ROCKETSCOPE_EMBEDDED_REQUEST = environment.text(f"{PREFIX}EMBEDDED_REQUEST")
ROCKETSCOPE_REDIS_URL = environment.redis_url(f"{PREFIX}REDIS_URL")
ROCKETSCOPE_LISTEN = environment.host_port(f"{PREFIX}LISTEN", "127.0.0.1:8300")
ROCKETSCOPE_LAKE_URL = environment.lake(
    f"{PREFIX}LAKE_URL", str(ROCKETSCOPE_VAR_DIR / "lake")
)
ROCKETSCOPE_LAKE_S3 = environment.s3()
# Days that roll-ups are kept, by rung. Samples are kept for two.
ROCKETSCOPE_ROLLUP_DAYS = environment.rising(
    {
        f"{PREFIX}ROLLUP_MINUTES_DAYS": 7,
        f"{PREFIX}ROLLUP_TEN_MINUTES_DAYS": 30,
        f"{PREFIX}ROLLUP_HOURS_DAYS": 400,
    },
    low=2,
    high=3650,
    reason="longer steps are kept at least as long as shorter ones",
)
# Days that rows of the database are kept: what was done, and who owned which queue.
# Reports of the last 30 days read epochs.
ROCKETSCOPE_AUDIT_DAYS = environment.integer(
    f"{PREFIX}AUDIT_DAYS", 400, low=31, high=3650
)
ROCKETSCOPE_EPOCH_DAYS = environment.integer(
    f"{PREFIX}EPOCH_DAYS", 90, low=31, high=3650
)
ROCKETSCOPE_ALERT_DAYS = environment.integer(
    f"{PREFIX}ALERT_DAYS", 90, low=7, high=3650
)
# What the processes that `up` starts may fill: each log, the embedded store, Valkey.
ROCKETSCOPE_LOG_MB = environment.integer(f"{PREFIX}LOG_MB", 20, low=1, high=10_000)
ROCKETSCOPE_EMBEDDED_LOG_MB = environment.integer(
    f"{PREFIX}EMBEDDED_LOG_MB", 1024, low=64, high=1_000_000
)
ROCKETSCOPE_REDIS_MB = environment.integer(
    f"{PREFIX}REDIS_MB", 512, low=64, high=1_000_000
)
ROCKETSCOPE_MESSAGE_MASKS = environment.words(f"{PREFIX}MESSAGE_MASKS")
ROCKETSCOPE_TRACE_TOPIC = environment.text(
    f"{PREFIX}TRACE_TOPIC", "RMQ_SYS_TRACE_TOPIC"
)
ROCKETSCOPE_LISTENERS = environment.words(f"{PREFIX}LISTENERS")
ROCKETSCOPE_MAX_MEMBERS = environment.integer(
    f"{PREFIX}MAX_MEMBERS", 1000, low=0, high=100_000
)
ROCKETSCOPE_SPARK_MASTER = environment.text(f"{PREFIX}SPARK_MASTER", "local[2]")
ROCKETSCOPE_SIGN_IN_LINK_MINUTES: Final = 15
# Days until a session ends: without use, and in any case.
ROCKETSCOPE_SESSION_DAYS = environment.rising(
    {f"{PREFIX}SESSION_IDLE_DAYS": 7, f"{PREFIX}SESSION_DAYS": 30},
    low=1,
    high=365,
    reason="a session in use lasts at least as long as an idle one",
)

DEBUG = environment.flag(f"{PREFIX}DEBUG")
SECRET_KEY = environment.secret(
    f"{PREFIX}SECRET_KEY", path=ROCKETSCOPE_VAR_DIR / "secret_key"
)
ALLOWED_HOSTS = environment.words(
    f"{PREFIX}ALLOWED_HOSTS",
    ",".join(dict.fromkeys(["localhost", "127.0.0.1", "[::1]", ROCKETSCOPE_LISTEN[0]])),
)
# Addresses and networks of proxies; forwarded addresses are believed from nobody else.
ROCKETSCOPE_TRUSTED_PROXIES = environment.networks(f"{PREFIX}TRUSTED_PROXIES")
ROCKETSCOPE_TOKEN_CALLS = environment.integer(
    f"{PREFIX}TOKEN_CALLS", 600, low=1, high=1_000_000
)
ROCKETSCOPE_METRICS_TOKEN = environment.text(f"{PREFIX}METRICS_TOKEN")
ROCKETSCOPE_URL = environment.text(
    f"{PREFIX}URL", "http://{}:{}".format(*ROCKETSCOPE_LISTEN)
)
CSRF_TRUSTED_ORIGINS = environment.words(f"{PREFIX}TRUSTED_ORIGINS")
# Who may sign in: with a password, or whom somebody else signs in, by their groups.
ROCKETSCOPE_OIDC = provider()
ROCKETSCOPE_LDAP = directory()
check_packages(ROCKETSCOPE_LDAP)
ROCKETSCOPE_SIGN_IN_HEADER = proxy_headers(ROCKETSCOPE_TRUSTED_PROXIES)
ROCKETSCOPE_SIGN_IN_GROUPS = group_rights(f"{PREFIX}SIGN_IN_GROUPS")
ROCKETSCOPE_SIGN_IN_PASSWORDS = environment.flag(
    f"{PREFIX}SIGN_IN_PASSWORDS", default=True
)
check_ways_in(
    passwords=(f"{PREFIX}SIGN_IN_PASSWORDS", ROCKETSCOPE_SIGN_IN_PASSWORDS),
    rights=(f"{PREFIX}SIGN_IN_GROUPS", bool(ROCKETSCOPE_SIGN_IN_GROUPS)),
    others={
        f"{PREFIX}OIDC_ISSUER": ROCKETSCOPE_OIDC is not None,
        f"{PREFIX}LDAP_URL": ROCKETSCOPE_LDAP is not None,
        f"{PREFIX}SIGN_IN_HEADER": ROCKETSCOPE_SIGN_IN_HEADER is not None,
    },
)
# Who signs in with a password is asked for a code of their app as well.
ROCKETSCOPE_SIGN_IN_SECOND_FACTOR = environment.choice(
    f"{PREFIX}SIGN_IN_SECOND_FACTOR", "optional", ["off", "optional", "required"]
)
check_second_factor(
    (f"{PREFIX}SIGN_IN_SECOND_FACTOR", ROCKETSCOPE_SIGN_IN_SECOND_FACTOR),
    passwords=(f"{PREFIX}SIGN_IN_PASSWORDS", ROCKETSCOPE_SIGN_IN_PASSWORDS),
)

# Parts
ROCKETSCOPE_EXPORTER = environment.flag(f"{PREFIX}EXPORTER")
ROOT_URLCONF = f"dashboard.config.{'exporter_urls' if ROCKETSCOPE_EXPORTER else 'urls'}"
ASGI_APPLICATION = "dashboard.config.asgi.application"
CELERY_APPLICATION = "dashboard.config.celery.app"
INSTALLED_APPS = structure.INSTALLED_APPS
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "dashboard.config.compression.TextGZipMiddleware",
    "dashboard.frame.answers.ApiMiddleware",
    "dashboard.config.assets.StaticFilesMiddleware",
    "dashboard.accounts.middleware.PrivateMiddleware",
    "dashboard.frame.charsets.Utf8Middleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "dashboard.accounts.proxy_middleware.ProxyMiddleware",
    "dashboard.accounts.second_factor_middleware.SecondFactorMiddleware",
    "dashboard.accounts.middleware.PlaceMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "dashboard.accounts.middleware.TimeZoneMiddleware",
    "dashboard.frame.errors.BusyMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [FILES / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dashboard.frame.context.layout",
            ],
            "builtins": [
                "dashboard.frame.tags",
                "dashboard.frame.table_tags",
                "dashboard.findings.tags",
                "dashboard.overview.tags",
                "dashboard.whatif.tags",
                "dashboard.saved_views.tags",
            ],
            "libraries": {
                "alerts": "dashboard.alerts.tags",
                "audit": "dashboard.audit.tags",
                "brokers": "dashboard.brokers.tags",
                "dead_letters": "dashboard.dead_letters.tags",
                "messages": "dashboard.messages.tags",
                "reports": "dashboard.reports.tags",
                "teams": "dashboard.teams.tags",
                "timeline": "dashboard.timeline.tags",
                "topics": "dashboard.topics.tags",
            },
        },
    }
]

# State
DATABASES = {
    "default": environment.database(
        f"{PREFIX}DATABASE_URL", sqlite_path=ROCKETSCOPE_VAR_DIR / "rocketscope.sqlite3"
    )
}
DEFAULT_AUTO_FIELD = structure.DEFAULT_AUTO_FIELD
CACHES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}
CHANNEL_LAYERS: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}
if ROCKETSCOPE_REDIS_URL:
    CACHES["default"] = redis_cache(ROCKETSCOPE_REDIS_URL)
    # The pub/sub layer keeps sockets open when Redis restarts; the other closes them.
    CHANNEL_LAYERS["default"] = {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [ROCKETSCOPE_REDIS_URL], "prefix": "rs-live"},
    }

# Accounts
AUTH_USER_MODEL = structure.AUTH_USER_MODEL
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign_in"
PASSWORD_HASHERS = ["dashboard.accounts.hashing.BoundedArgon2PasswordHasher"]
_VALIDATION = "django.contrib.auth.password_validation."
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {"NAME": _VALIDATION + "MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": _VALIDATION + "CommonPasswordValidator"},
    {"NAME": _VALIDATION + "UserAttributeSimilarityValidator"},
]
SESSION_ENGINE = "dashboard.accounts.sessions"
SESSION_COOKIE_AGE = ROCKETSCOPE_SESSION_DAYS[1] * 24 * 3600
SESSION_COOKIE_NAME = "rocketscope_session"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "rocketscope_csrf"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "dashboard.frame.errors.csrf_failure"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# Headers. ROCKETSCOPE_HTTPS says that a proxy in front speaks TLS to the browser.
HTTPS = environment.flag(f"{PREFIX}HTTPS")
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
LANGUAGE_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 30 * 24 * 3600 if HTTPS else 0
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}

# Static files carry a digest of all of them in their address, so that browsers may
# keep them for ever and ES modules can import each other by relative path.
STATICFILES_DIRS = [FILES / "static"]
STATIC_URL = "/static/dev/" if DEBUG else f"/static/{digest(FILES / 'static')}/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_MAX_AGE = 0 if DEBUG else 365 * 24 * 3600
WHITENOISE_ALLOW_ALL_ORIGINS = False

# Language and time
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LANGUAGE_CODE = environment.choice(
    f"{PREFIX}LANGUAGE", "en", [code for code, _name in LANGUAGES]
)
LANGUAGE_COOKIE_NAME = "rocketscope_language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_SAMESITE = "Lax"
LOCALE_PATHS = [ROOT / "dashboard" / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = environment.time_zone(f"{PREFIX}TIME_ZONE", "UTC")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}
    },
    "filters": {
        "tokens": {"()": "dashboard.accounts.log.WithoutTokens"},
        "one_line": {"()": "dashboard.accounts.log.OnOneLine"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["tokens", "one_line"],
        }
    },
    "root": {"handlers": ["stderr"], "level": "DEBUG" if DEBUG else "INFO"},
    "loggers": {
        name: {"level": "INFO"}
        for name in ("asyncio", "django", "daphne", "websockets")
    }
    # It tells every glyph of every PDF.
    | {"fontTools": {"level": "WARNING"}},
}

if not ALLOWED_HOSTS:
    raise ImproperlyConfigured(f"{PREFIX}ALLOWED_HOSTS names no host")
