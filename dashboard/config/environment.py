"""Typed readers of environment variables, the only door for settings.

Every reader names the key, the value it saw and what would be allowed, because the
person who reads the message is starting the program and sees nothing else. A key that
is unset or empty gives the default: `.env` files tend to keep empty lines.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Collection, Mapping
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured

from analytics.errors import LakeError
from analytics.lake.s3 import SCHEMES, S3Settings, split_address
from analytics.switches import read_switch

_LONGEST_SECRET = 4096
_MOST_WAL_BYTES = 64 * 1024 * 1024
CONNECTION_SECONDS = 60
"""How long a thread keeps its connection to the database for the next request."""
_POSTGRESQL_PARTS = ("host", "hostaddr", "port", "user", "password", "dbname")
_POSTGRESQL_CHOICES = {
    "sslmode": ("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
}


def text(key: str, default: str = "") -> str:
    return os.environ.get(key, "").strip() or default


def flag(key: str, default: bool = False) -> bool:
    try:
        return read_switch(key, text(key), default)
    except ValueError as error:
        raise ImproperlyConfigured(str(error)) from None


def integer(key: str, default: int, *, low: int, high: int) -> int:
    """Read a whole number within `low`..`high`, both included."""
    value = text(key)
    if not value:
        return default
    try:
        number = int(value)
    except ValueError:
        raise ImproperlyConfigured(
            f"{key}={value!r} is not a whole number between {low} and {high}"
        ) from None
    if not low <= number <= high:
        raise ImproperlyConfigured(f"{key}={number} is not between {low} and {high}")
    return number


def octal(key: str, default: int) -> int:
    """Read a file mode as `umask` spells it: `077`, `027`."""
    value = text(key)
    if not value:
        return default
    if not re.fullmatch(r"0?[0-7]{3}", value):
        raise ImproperlyConfigured(f"{key}={value!r} is not a mask such as 077 or 027")
    return int(value, 8)


def rising(
    defaults: Mapping[str, int], *, low: int, high: int, reason: str
) -> tuple[int, ...]:
    """Read whole numbers of which none may be less than the one before it."""
    found: list[tuple[str, int]] = []
    for key, default in defaults.items():
        number = integer(key, default, low=low, high=high)
        for before, least in found[-1:]:
            if number < least:
                raise ImproperlyConfigured(
                    f"{key}={number} is less than {before}={least}: {reason}"
                )
        found.append((key, number))
    return tuple(number for _key, number in found)


def choice(key: str, default: str, allowed: Collection[str]) -> str:
    value = text(key, default)
    if value not in allowed:
        raise ImproperlyConfigured(
            f"{key}={value!r} is not one of {', '.join(sorted(allowed))}"
        )
    return value


def words(key: str, default: str = "") -> list[str]:
    """Read a comma-separated list; empty members are dropped."""
    return [part.strip() for part in text(key, default).split(",") if part.strip()]


def networks(key: str) -> list[str]:
    """Read addresses and networks such as `10.0.0.5,10.1.0.0/16`."""
    found = words(key)
    for value in found:
        try:
            ip_network(value)
        except ValueError:
            raise ImproperlyConfigured(
                f"{key}: {value!r} is neither an address nor a network such as "
                "10.1.0.0/16"
            ) from None
    return found


def host_port(key: str, default: str) -> tuple[str, int]:
    return split_host_port(text(key, default), key=key)


def split_host_port(value: str, *, key: str) -> tuple[str, int]:
    """Split `host:port`, `[v6]:port` included; `key` is named in the error."""
    host, colon, port = value.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isascii() or not port.isdigit():
        raise ImproperlyConfigured(f"{key}: {value!r} is not host:port")
    if not 0 < int(port) < 65536:
        raise ImproperlyConfigured(f"{key}: port {port} is not between 1 and 65535")
    return host, int(port)


def redis_url(key: str) -> str:
    value = text(key)
    if value and urlsplit(value).scheme not in {"redis", "rediss", "unix"}:
        raise ImproperlyConfigured(
            f"{key}={_without_password(value)!r} does not start with redis://, "
            "rediss:// or unix://"
        )
    return value


def database(key: str, *, sqlite_path: Path) -> dict[str, object]:
    """Read a database URL: empty or `sqlite:///path`, or `postgresql://…`.

    The host may be the folder of a Unix socket, escaped as libpq has it
    (`%2Fvar%2Frun%2Fpostgresql`). What follows a `?` goes to PostgreSQL's driver
    (`sslmode`, `sslrootcert`, …); a name that libpq does not know is refused.
    """
    value = text(key)
    if not value:
        return _sqlite(sqlite_path)
    parts = urlsplit(value)
    if parts.scheme == "sqlite":
        if parts.query:
            raise ImproperlyConfigured(
                f"{key}: SQLite has no parameters, found {parts.query!r}"
            )
        return _sqlite(Path(unquote(parts.path)))
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(
            f"{key}={_without_password(value)!r} does not start with postgresql:// "
            "or sqlite:///"
        )
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise ImproperlyConfigured(
            f"{key}={_without_password(value)!r} names no database after the host"
        )
    options = _postgresql_options(key, parts.query)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": _host(parts),
        "PORT": str(_port(key, value) or ""),
        "CONN_MAX_AGE": CONNECTION_SECONDS,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }


def lake(key: str, default: str) -> str:
    """Read where the lake is: a folder, or an address that names a bucket."""
    value = text(key, default)
    if urlsplit(value).scheme in SCHEMES:
        try:
            split_address(value)
        except LakeError as error:
            raise ImproperlyConfigured(f"{key}: {error}") from None
    return value


def s3() -> S3Settings:
    """Read how a lake on S3 is reached; analytics reads the same by itself."""
    try:
        return S3Settings.from_environ(os.environ)
    except LakeError as error:
        raise ImproperlyConfigured(str(error)) from None


def time_zone(key: str, default: str) -> str:
    value = text(key, default)
    try:
        ZoneInfo(value)
    except (ValueError, ZoneInfoNotFoundError):
        raise ImproperlyConfigured(
            f"{key}={value!r} is not a time zone: use a name such as Asia/Shanghai"
        ) from None
    return value


def secret(key: str, *, path: Path) -> str:
    """Read a secret from the environment or from `path`, or create it there.

    The file has mode 0600 and appears whole, by exactly one process; whoever loses
    the race reads the winner's.
    """
    if value := text(key):
        return value
    if not path.exists():
        try:
            _keep_secret(path, secrets.token_urlsafe(50))
        except OSError as error:
            raise ImproperlyConfigured(
                f"{path.parent} cannot be written to ({error.strerror}): choose "
                "another place with ROCKETSCOPE_VAR_DIR"
            ) from None
    kept = path.read_text("ascii")[:_LONGEST_SECRET].strip()
    if len(kept) < 32:
        raise ImproperlyConfigured(
            f"{path} holds {len(kept)} characters, at least 32 are needed: remove the "
            f"file to have a new one made, or set {key}"
        )
    return kept


def _keep_secret(path: Path, made: str) -> None:
    """Link a finished file into place: a link, unlike a rename, never replaces."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(
        os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w"
    ) as file:
        file.write(made)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _sqlite(path: Path) -> dict[str, object]:
    """WAL and immediate transactions: readers never wait, writers queue up."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "CONN_MAX_AGE": CONNECTION_SECONDS,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 10,  # seconds a writer waits for another
            # What a long reader made grow is cut off at the next checkpoint.
            "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
            f"PRAGMA journal_size_limit={_MOST_WAL_BYTES};",
        },
    }


def _postgresql_options(key: str, query: str) -> dict[str, str]:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    options = dict(parse_qsl(query, keep_blank_values=True))
    for name, value in options.items():
        try:
            conninfo_to_dict(make_conninfo(**{name: value}))
        except ProgrammingError:
            raise ImproperlyConfigured(
                f"{key}: PostgreSQL's driver has no parameter {name!r}"
            ) from None
        allowed = _POSTGRESQL_CHOICES.get(name)
        if allowed is not None and value not in allowed:
            raise ImproperlyConfigured(
                f"{key}: {name}={value!r} is not one of {', '.join(allowed)}"
            )
        if name in _POSTGRESQL_PARTS:
            raise ImproperlyConfigured(
                f"{key}: {name} belongs before the question mark, as in "
                "postgresql://user:password@host:port/name"
            )
    return options


def _host(parts: SplitResult) -> str:
    """Return the host, which `parts.hostname` would turn into lower case."""
    place = parts.netloc.rpartition("@")[2]
    if place.startswith("["):
        return place[1:].partition("]")[0]
    return unquote(place.partition(":")[0])


def _port(key: str, value: str) -> int | None:
    try:
        return urlsplit(value).port
    except ValueError:
        raise ImproperlyConfigured(
            f"{key}={_without_password(value)!r}: the port is not between 0 and 65535"
        ) from None


def _without_password(url: str) -> str:
    return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", url)
