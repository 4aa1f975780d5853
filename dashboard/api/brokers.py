"""Brokers over REST: a person's word that a missing one is gone for good."""

from __future__ import annotations

from typing import Any, NoReturn

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from ninja import Router
from ninja.errors import HttpError

from dashboard.models import Cluster, User
from dashboard.services.brokers import (
    BrokerError,
    NoStateError,
    UnknownBrokerError,
    say_gone,
)

from .schemas import GoneIn, GoneOut, Problem

router = Router()
ERRORS: dict[int, Any] = dict.fromkeys((401, 403, 404, 409, 503), Problem)


@router.post(
    "/clusters/{cluster}/brokers/{broker}/gone", response={200: GoneOut, **ERRORS}
)
def broker_gone(
    request: HttpRequest, cluster: str, broker: str, body: GoneIn
) -> dict[str, Any]:
    """Take a missing broker as gone for good from the next sweep on."""
    actor = request.user
    assert isinstance(actor, User)  # noqa: S101 - django_auth let nobody else pass
    if not Cluster.objects.filter(name=cluster, configured=True).exists():
        _refuse(404, f"no cluster {cluster!r} is configured")
    try:
        gone = say_gone(actor, cluster, broker, body.reason)
    except PermissionDenied as error:
        _refuse(403, str(error))
    except UnknownBrokerError as error:
        _refuse(404, str(error))
    except NoStateError as error:
        _refuse(503, str(error))
    except BrokerError as error:
        _refuse(409, str(error))
    return {"broker": broker, "at": gone.at, "by": gone.by, "reason": gone.reason}


def _refuse(status: int, detail: str) -> NoReturn:
    raise HttpError(status, detail)
