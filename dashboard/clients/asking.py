"""Asks one client for its thread stacks, never twice at once.

Making stacks stops a client's threads for a moment and holds a thread of its broker, so
a second question for the same client is refused while the first may still be running.
Web runs in several processes, perhaps on several machines, so the mark is a key in the
cache that only one of them can set. It ends by itself when the process that set it is
gone. A question that ran out of time may still be with the client: its mark stays until
the broker has given up as well.

What came back is kept for ten minutes under a token, so that looking at it again, or
downloading it, asks nobody.
"""

from __future__ import annotations

import secrets
import zlib
from dataclasses import dataclass
from typing import Final, cast

import orjson
import redis
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard.gateway.asking import ClusterAnswerError, settings_of
from dashboard.gateway.client_info import ask_client
from dashboard.live.names import asked_key, stack_key
from dashboard.live.state import live_state
from rmqcore.errors import RequestTimeoutError

MARK_SECONDS: Final = 30
"""Longer than a question takes, and than a broker waits after it was given up."""
KEPT_SECONDS: Final = 600
MAX_CHARACTERS: Final = 4_000_000

_RELEASE: Final = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
"""


class ClientBusyError(Exception):
    """The client is being asked already; the message says so."""


class NoStacksError(Exception):
    """The client answered without stacks; the message says why."""


@dataclass(frozen=True, slots=True)
class Stacks:
    """Thread stacks as a client wrote them. `at` is ms since the epoch."""

    client_id: str
    group: str
    at: int
    text: str
    cut: bool


def take_stacks(cluster: str, group: str, client_id: str) -> str:
    """Ask a client for its stacks and return the token under which they are kept.

    Raise ClientBusyError while it is being asked, RmqError if it cannot be reached, and
    redis.RedisError if the cache is away: without it nothing would keep two apart.
    """
    client, key, mark = live_state().client, asked_key(cluster, client_id), _token()
    if not client.set(key, mark, nx=True, ex=MARK_SECONDS):
        raise ClientBusyError(
            _("“%(id)s” is being asked for its thread stacks already.")
            % {"id": client_id}
        )
    try:
        info = ask_client(settings_of(cluster), group, client_id, stacks=True)
    except (ClusterAnswerError, RequestTimeoutError):
        raise  # the client may still be at it
    except BaseException:
        _release(client, key, mark)
        raise
    _release(client, key, mark)
    if not info.stacks:
        raise NoStacksError(
            _("“%(id)s” sent no thread stacks; clients in Java do.") % {"id": client_id}
        )
    return _keep(client, cluster, group, client_id, info.stacks)


def kept_stacks(cluster: str, client_id: str, token: str) -> Stacks | None:
    """Return the stacks kept under a token; None when they have gone."""
    packed = live_state().client.get(stack_key(cluster, token))
    if packed is None:
        return None
    found = orjson.loads(zlib.decompress(cast("bytes", packed)))
    stacks = Stacks(**found)
    return stacks if stacks.client_id == client_id else None


def _keep(
    client: redis.Redis, cluster: str, group: str, client_id: str, text: str
) -> str:
    token = _token()
    stacks = {
        "client_id": client_id,
        "group": group,
        "at": round(timezone.now().timestamp() * 1000),
        "text": text[:MAX_CHARACTERS],
        "cut": len(text) > MAX_CHARACTERS,
    }
    packed = zlib.compress(orjson.dumps(stacks), 1)
    client.set(stack_key(cluster, token), packed, ex=KEPT_SECONDS)
    return token


def _release(client: redis.Redis, key: str, mark: str) -> None:
    client.eval(_RELEASE, 1, key, mark)


def _token() -> str:
    return secrets.token_urlsafe(18)
