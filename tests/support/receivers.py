"""Receivers of messages on loopback: a mail server and a web server with a hook."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope

from .ports import LOOPBACK, free_port

STOP_SECONDS: Final = 10


class Mailbox:
    """A mail server that keeps what it accepts: subject and text of each mail."""

    def __init__(self) -> None:
        self.mails: list[tuple[str, str]] = []
        self._server = Controller(self, hostname=LOOPBACK, port=free_port())

    @property
    def address(self) -> str:
        """What Apprise takes to send to it."""
        port = self._server.port
        people = "from=rocketscope@example.org&to=on-call@example.org"
        return f"mailto://{LOOPBACK}:{port}?{people}&mode=insecure"

    async def handle_DATA(  # noqa: N802 - the name that aiosmtpd calls
        self, _server: Any, _session: Any, envelope: Envelope
    ) -> str:
        """Take a mail."""
        assert isinstance(envelope.content, bytes)
        mail = message_from_bytes(envelope.content, policy=policy.default)
        body = mail.get_body(("plain",))
        text = body.get_content() if body is not None else ""
        self.mails.append((str(mail["subject"]), text))
        return "250 taken"

    def start(self) -> None:
        """Begin to listen."""
        self._server.start()

    def stop(self) -> None:
        """Stop listening."""
        self._server.stop()


class Hook:
    """A web server that keeps the JSON posted to it; it can refuse, or hang."""

    def __init__(self) -> None:
        self.posts: list[dict[str, Any]] = []
        self.refusals = 0
        """So many posts are refused with 503 before one is taken."""
        self.let_go = threading.Event()
        """Posts are answered only while it is set."""
        self.let_go.set()
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                posted = json.loads(self.rfile.read(length))
                hook.let_go.wait()
                refused = hook.refusals > 0
                if refused:
                    hook.refusals -= 1
                else:
                    hook.posts.append(posted)
                self.send_response(503 if refused else 200)
                self.end_headers()

            def log_message(self, *_args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def address(self) -> str:
        """What Apprise takes to post to it."""
        return f"json://{LOOPBACK}:{self._server.server_address[1]}/hook"

    @property
    def titles(self) -> list[str]:
        """The titles of what was posted."""
        return [post["title"] for post in self.posts]

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening."""
        self.let_go.set()
        self._server.shutdown()
        self._thread.join(STOP_SECONDS)
        self._server.server_close()


@contextmanager
def running_receivers() -> Iterator[tuple[Mailbox, Hook]]:
    """Run both."""
    mailbox, hook = Mailbox(), Hook()
    mailbox.start()
    hook.start()
    try:
        yield mailbox, hook
    finally:
        hook.stop()
        mailbox.stop()
