"""What each child inherits of the supervisor's environment: only what it needs.

Whoever reads a child's environment or its core dump, or exploits a fault in it, gets no
secret that belongs to another. There are three kinds of variables:

- the system's, which say where things are and how to reach them: all children have
  them;
- RocketScope's settings: each process of ours reads them, but secrets among them, told
  by their names, go only to those that use them;
- others, which may be secrets of other programs: kept only where Python modules of the
  user run (ROCKETSCOPE_LISTENERS), since nobody else knows what those need.

| child | secrets of ours | others | because |
| --- | --- | --- | --- |
| state (Valkey), cluster, traffic | none, nor other settings | none | all is on their command line or in their file |
| the template | none, nor other settings | none | others are forked from it, and would hold what it holds |
| web | all | all | signs links, shows metrics, asks clusters, reads lake and database; loads listeners |
| collector | clusters, S3, database, Redis, the key that signs | S3's, PostgreSQL's | asks clusters, writes samples and epochs; hands the key on to its sender |
| its sender of alerts | database, the key that signs | PostgreSQL's | reads messages, and addresses that the key encrypts (`alerting.delivery`) |
| fleet | clusters, database, Redis | all | joins groups; runs the user's listeners |
| analytics | S3, database, Redis | S3's, PostgreSQL's, Java's | writes results to lake and database |
| its Spark process | S3 | S3's, Java's | reads and writes the lake, knows nothing else (`jobs.child`) |
| web's process for files | S3, database | S3's, PostgreSQL's | reads results and lake (`reports.making`) |
| beat | Redis | none | sends ticks |
| manage | database, Redis, the key that signs | PostgreSQL's | migrates, makes the first link |
"""  # noqa: E501 - a table

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from dashboard.jobs.environment import (
    DATABASE,
    JAVA,
    POSTGRESQL,
    S3,
    SIGNING,
    SYSTEM,
    chosen,
)

_SECRET: Final = re.compile(
    r"KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL|REDIS_URL"
    # All of a cluster's keys or none: halves of a pair would be refused. The same goes
    # for what signs people in.
    r"|^ROCKETSCOPE_(?:CLUSTER|OIDC|LDAP|SIGN_IN)_"
)
_OURS: Final = "ROCKETSCOPE_"

_REDIS: Final = r"ROCKETSCOPE_REDIS_URL"
_CLUSTERS: Final = r"ROCKETSCOPE_CLUSTER_.+"
_ANY: Final = r".*"

_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "state": (),
    "cluster": (),
    "traffic": (),
    "template": (),
    "web": (_ANY,),
    "collector": (_CLUSTERS, DATABASE, _REDIS, POSTGRESQL, S3, SIGNING),
    "fleet": (_CLUSTERS, DATABASE, _REDIS, rf"(?!{_OURS}).*"),
    "analytics": (DATABASE, _REDIS, POSTGRESQL, S3, JAVA),
    "beat": (_REDIS,),
    "manage": (DATABASE, _REDIS, POSTGRESQL, SIGNING),
}
_WITHOUT_SETTINGS: Final = frozenset({"state", "cluster", "traffic", "template"})


def inherited(child: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the part of `environ` that a child of that name starts with.

    `fleet-1` counts as `fleet`. A name that is not in the table gets only the system's
    variables.
    """
    kind = re.sub(r"-\d+$", "", child)
    found = chosen(environ, SYSTEM, *_NEEDS.get(kind, ()))
    if kind in _NEEDS and kind not in _WITHOUT_SETTINGS:
        found |= {
            name: value
            for name, value in environ.items()
            if name.startswith(_OURS) and not _SECRET.search(name)
        }
    return found
