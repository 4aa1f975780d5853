"""An OpenID Connect provider on loopback that says whatever a test wants it to say."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.test import Client
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from joserfc.jws import JWSRegistry

CLIENT_ID = "rocketscope"
CLIENT_SECRET = "hush"
START = "/sign-in/provider/"
RETURN = "/sign-in/provider/return/"


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class LoopbackProvider:
    """What it says; a test changes an attribute before it is asked."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.key = RSAKey.generate_key(2048, {"kid": "1"})
        self.signed_with: Any = self.key
        self.header: dict[str, Any] = {"alg": "RS256", "kid": "1"}
        self.claims: dict[str, Any] = {
            "sub": "subject-1",
            "preferred_username": "olga",
            "groups": ["admins"],
        }
        self.user_info: dict[str, Any] = {"sub": "subject-1"}
        self.metadata: dict[str, Any] = {}
        self.status: dict[str, int] = {}
        self.asked: dict[str, str] = {}
        """The query with which a browser last came."""
        self.requests: list[str] = []
        self.answers = Event()
        """Cleared by a test in which it never answers."""
        self.answers.set()

    def id_token(self) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": self.asked.get("nonce"),
            **self.claims,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        if self.header["alg"] == "none":
            parts = (json.dumps(part).encode() for part in (self.header, claims))
            return ".".join(map(b64, parts)) + "."
        registry = JWSRegistry(algorithms=[self.header["alg"]])
        return jwt.encode(self.header, claims, self.signed_with, registry=registry)

    def answer(self, path: str, form: Mapping[str, str]) -> tuple[int, Any]:
        self.requests.append(path)
        self.answers.wait()
        status = self.status.get(path, 200)
        if path == "/.well-known/openid-configuration":
            at = {
                name: f"{self.issuer}{place}"
                for name, place in {
                    "authorization_endpoint": "/authorize",
                    "token_endpoint": "/token",
                    "jwks_uri": "/keys",
                    "userinfo_endpoint": "/userinfo",
                    "end_session_endpoint": "/end",
                }.items()
            }
            algorithms = {"id_token_signing_alg_values_supported": ["RS256", "none"]}
            said = {"issuer": self.issuer, **at, **algorithms, **self.metadata}
            return status, said
        if path == "/keys":
            return status, {"keys": [self.key.as_dict(private=False)]}
        if path == "/userinfo":
            return status, self.user_info
        if path == "/token" and status == 200:
            verifier = form.get("code_verifier", "").encode()
            if b64(hashlib.sha256(verifier).digest()) != self.asked["code_challenge"]:
                return 400, {"error": "invalid_grant"}
            return 200, {
                "access_token": "a",
                "token_type": "Bearer",
                "id_token": self.id_token(),
            }
        return status, {"error": "server_error"}

    def start(self, client: Client, next_: str = "") -> dict[str, str]:
        """Send a browser here, and return the query with which it comes."""
        answer = client.get(START, {"next": next_} if next_ else {})
        assert answer.status_code == 302, answer.content
        self.asked = dict(parse_qsl(urlsplit(answer["Location"]).query))
        return self.asked

    def sign_in(self, client: Client, next_: str = "", **query: str) -> Any:
        """Send a browser here and back; `query` is said in place of what is right."""
        asked = self.start(client, next_)
        return client.get(RETURN, {"code": "c", "state": asked["state"], **query})


@contextmanager
def loopback_provider() -> Iterator[LoopbackProvider]:
    """Serve one until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._answer(dict(parse_qsl(body)))

        def _answer(self, form: Mapping[str, str]) -> None:
            status, said = provider.answer(urlsplit(self.path).path, form)
            body = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(body)

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = LoopbackProvider(f"http://127.0.0.1:{server.server_port}")
    serving = Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield provider
    finally:
        provider.answers.set()
        server.shutdown()
        server.server_close()
        serving.join()


def shared_secret() -> OctKey:
    """Return the key that whoever knows the client's secret could sign with."""
    return OctKey.import_key(CLIENT_SECRET.encode().ljust(32, b"."))
