"""Asks an OpenID Connect provider who somebody is, through Authlib.

Authorization code with PKCE (S256), `state` and `nonce`. What has to be remembered
between leaving for the provider and coming back is the caller's to keep: it belongs to
one browser. Whatever the provider says wrongly, or does not say, lets nobody in.
"""

from __future__ import annotations

import hmac
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.django_client import DjangoOAuth2App, OAuth
from django.conf import settings
from joserfc.errors import JoseError
from requests import RequestException

from .outside import Person, Provider

TIMEOUT_SECONDS: Final = (3.0, 5.0)
"""To connect, and for each part of an answer."""
KNOWN_SECONDS: Final = 3600.0
"""How long the provider's addresses and keys are believed without asking again."""
AT_ONCE: Final = 8
"""Conversations with the provider; anybody may start one."""
LONGEST_SUBJECT: Final = 255
MOST_HINT_CHARS: Final = 3000
"""Of an ID token in an address; a longer one is left out."""
LEEWAY_SECONDS: Final = 60
_ALGORITHMS: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
    | {"ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
)
"""Those that only the provider can sign with: neither `none` nor a shared secret."""

_places = threading.BoundedSemaphore(AT_ONCE)


class ProviderAwayError(Exception):
    """The provider does not answer, or not in a way that makes sense."""


class ProviderRefusedError(Exception):
    """What came back does not show who somebody is; the message is for the log."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """Where a browser is sent to, and what it has to bring back."""

    address: str
    kept: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Arrival:
    """Who has come back, and the token that ends their session at the provider."""

    person: Person
    id_token: str


def leave(return_address: str) -> Leaving:
    """Return the provider's address for a browser that wants to sign in.

    Raise ProviderAwayError.
    """
    with _conversation():
        begun = _client().create_authorization_url(return_address)
    kept = {name: str(begun[name]) for name in ("state", "nonce", "code_verifier")}
    return Leaving(str(begun["url"]), {**kept, "redirect_uri": return_address})


def arrive(kept: Mapping[str, str], given: Mapping[str, str]) -> Arrival:
    """Return who came back: `kept` is what `leave` gave, `given` the address's query.

    Raise ProviderRefusedError, or ProviderAwayError.
    """
    state = given.get("state", "")
    if not state or not hmac.compare_digest(
        state.encode(errors="replace"), kept["state"].encode()
    ):
        raise ProviderRefusedError("the state is not this browser's")
    if error := given.get("error"):
        raise ProviderRefusedError(
            f"{error[:80]}: {given.get('error_description', '')[:200]}"
        )
    if not given.get("code"):
        raise ProviderRefusedError("the address has no code")
    with _conversation():
        return _asked(kept, given["code"])


def farewell(id_token: str, return_address: str) -> str:
    """Return the address that ends a session at the provider; empty if it has none.

    Raise ProviderAwayError.
    """
    with _conversation():
        client = _client()
        if not client.load_server_metadata().get("end_session_endpoint"):
            return ""
        ending = client.create_logout_url(
            post_logout_redirect_uri=return_address,
            id_token_hint=id_token if len(id_token) <= MOST_HINT_CHARS else None,
            client_id=client.client_id,
        )
    return str(ending["url"])


def _asked(kept: Mapping[str, str], code: str) -> Arrival:
    client = _client()
    token = client.fetch_access_token(
        redirect_uri=kept["redirect_uri"],
        code=code,
        code_verifier=kept["code_verifier"],
    )
    if not token.get("id_token"):
        raise ProviderRefusedError("there is no ID token")
    issuer = client.load_server_metadata()["issuer"]
    claims: dict[str, Any] = client.parse_id_token(
        token,
        nonce=kept["nonce"],
        claims_options={
            "iss": {"essential": True, "values": [issuer]},
            "aud": {"essential": True, "value": client.client_id},
            "sub": {"essential": True},
        },
        leeway=LEEWAY_SECONDS,
    )
    wanted = _provider().groups_claim
    groups = _groups(claims, wanted)
    metadata = client.load_server_metadata()
    if groups is None and metadata.get("userinfo_endpoint"):
        further = client.userinfo(token=token)
        if further.get("sub") != claims["sub"]:
            raise ProviderRefusedError("the user info is about somebody else")
        claims = {**further, **claims}
        groups = _groups(claims, wanted)
    subject = str(claims["sub"])
    if not subject.isprintable() or len(subject) > LONGEST_SUBJECT:
        raise ProviderRefusedError(f"sub is not a name: {subject[:80]!r}")
    named = (claims.get(name) for name in ("preferred_username", "email", "sub"))
    name = next(each for each in named if isinstance(each, str) and each)
    person = Person(issuer, subject, name, groups or frozenset())
    return Arrival(person, str(token["id_token"]))


def _groups(claims: Mapping[str, Any], name: str) -> frozenset[str] | None:
    """Return the groups of a claim, None without one; dots lead into objects."""
    value: Any = claims.get(name)
    if value is None and "." in name:
        value = claims
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
    if value is None:
        return None
    values = value if isinstance(value, list) else [value]
    return frozenset(each for each in values if isinstance(each, str))


class _Client(DjangoOAuth2App):  # type: ignore[misc]
    """Authlib's, which believes only what is safe of what a provider says of itself."""

    def load_server_metadata(self) -> dict[str, Any]:
        known = self.server_metadata
        if time.time() - known.get("_loaded_at", 0) < KNOWN_SECONDS:
            return dict(known)
        known.clear()
        said = super().load_server_metadata()
        wanted = _provider().issuer
        if str(said.get("issuer")).rstrip("/") != wanted.rstrip("/"):
            issuer = said.get("issuer")
            known.clear()
            raise ProviderAwayError(f"{wanted} says that it is {issuer!r}")
        algorithms = said.get("id_token_signing_alg_values_supported") or ["RS256"]
        said["id_token_signing_alg_values_supported"] = [
            each for each in algorithms if each in _ALGORITHMS
        ]
        return dict(said)


def _provider() -> Provider:
    provider = settings.ROCKETSCOPE_OIDC
    if provider is None:
        raise ProviderAwayError("no provider is set up")
    return provider


def _client() -> _Client:
    return _client_of(_provider())


@lru_cache(maxsize=4)
def _client_of(provider: Provider) -> _Client:
    well_known = f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration"
    registered: _Client = OAuth().register(
        "provider",
        client_cls=_Client,
        client_id=provider.client_id,
        client_secret=provider.client_secret,
        server_metadata_url=well_known,
        client_kwargs={
            "scope": " ".join(provider.scopes),
            "code_challenge_method": "S256",
            "default_timeout": TIMEOUT_SECONDS,
            "verify": _authorities(provider),
        },
    )
    return registered


def _authorities(provider: Provider) -> str | bool:
    """Return where the trusted authorities are: of the setting, else the system's."""
    if provider.authorities is not None:
        return str(provider.authorities)
    usual = ssl.get_default_verify_paths()
    return usual.cafile or usual.capath or True


@contextmanager
def _conversation() -> Iterator[None]:
    """Hold one of the places, and tell what went wrong in two kinds of errors."""
    if not _places.acquire(blocking=False):
        raise ProviderAwayError(f"{AT_ONCE} browsers are waiting for it already")
    try:
        yield
    except (RequestException, RuntimeError) as error:
        raise ProviderAwayError(str(error)[:300]) from error
    except (AuthlibBaseError, JoseError) as error:
        raise ProviderRefusedError(str(error)[:300]) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProviderAwayError(
            f"an answer makes no sense: {type(error).__name__} {str(error)[:200]}"
        ) from error
    finally:
        _places.release()
