"""Which variables of the environment a child process is given.

Patterns match whole names. Of RocketScope's secrets they name the keys of S3, what the
database's address contains, and the key that signs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

SYSTEM: Final = (
    r"PATH|HOME|USER|LOGNAME|SHELL|PWD|TERM|HOSTNAME|LANG|LANGUAGE|LC_.+|TZ|TZDIR"
    r"|TMP|TEMP|TMPDIR|XDG_.+|LD_LIBRARY_PATH|LD_PRELOAD|VIRTUAL_ENV|PYTHON.+"
    r"|MALLOC_.+|DJANGO_SETTINGS_MODULE|JAVA_HOME|SSL_CERT_FILE|SSL_CERT_DIR|OPENSSL_.+|.+_CA_BUNDLE"
    r"|(?i:https?_proxy|all_proxy|no_proxy)"
)
"""Where things are, which language is used, and how the network is reached."""

JAVA: Final = r"JAVA_.+|JDK_.+|SPARK_.+|PYSPARK_.+|HADOOP_.+|ROCKETSCOPE_REAL_JAVA"
"""What Java, Spark and Hadoop read."""

S3: Final = r"ROCKETSCOPE_S3_.+|AWS_.+"
"""The lake's keys, ours or those that Amazon's own tools find."""

DATABASE: Final = r"ROCKETSCOPE_DATABASE_URL"
POSTGRESQL: Final = r"PG[A-Z]+"
"""Where the database is, and what PostgreSQL's driver reads by itself."""

SIGNING: Final = r"ROCKETSCOPE_SECRET_KEY"
"""The key that signs sessions and links, and encrypts addresses of channels."""

SENDING: Final = r"ROCKETSCOPE_(VAR_DIR|UMASK|URL|LISTEN|LANGUAGE|TIME_ZONE|DEBUG)"

ANALYTICS: Final = (
    r"ROCKETSCOPE_(VAR_DIR|LAKE_URL|UMASK|SPARK_.+|ROLLUP_.+|TIME_ZONE|DEBUG)"
)


def chosen(environ: Mapping[str, str], *patterns: str) -> dict[str, str]:
    """Return the variables whose names match one of the patterns."""
    wanted = re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
    return {name: value for name, value in environ.items() if wanted.fullmatch(name)}


def analytics_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what the process with Spark needs: the lake, Java, and no database."""
    return chosen(environ, SYSTEM, JAVA, S3, ANALYTICS)


def files_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what the process that makes files needs: the lake and the database."""
    return chosen(environ, SYSTEM, S3, ANALYTICS, DATABASE, POSTGRESQL)


def sender_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what the process that sends alerts needs: the database, and the key."""
    return chosen(environ, SYSTEM, SENDING, SIGNING, DATABASE, POSTGRESQL)
