"""The shipped nginx.conf in front of real web processes, asked over TLS."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import uvicorn
from websockets.exceptions import InvalidStatus

from dashboard.accounts.throttle import LIMIT
from dashboard.config.limits import BODY_SECONDS, HEAD_SECONDS, MOST_BODY_BYTES
from dashboard.config.web import server_settings
from tests.support.certificates import loopback_certificate
from tests.support.database import rows_of
from tests.support.nginx import HOST, directive, running_nginx
from tests.support.web_processes import Browser, WebProcesses, running_web

# Processes take long to start on a busy machine.
pytestmark = [pytest.mark.embedded, pytest.mark.timeout(1800)]

NEAR: Final = "127.0.0.2"
FORGED: Final = {"X-Forwarded-For": "10.9.9.9", "Forwarded": "for=10.9.9.9"}


@dataclass(slots=True)
class Site:
    web: WebProcesses
    http: int
    https: int
    tls: ssl.SSLContext

    def browser(self, address: str = NEAR) -> Browser:
        return Browser(f"{HOST}:{self.https}", self.https, self.tls, address)

    def signed_in(self, name: str = "vera") -> Browser:
        browser = self.browser()
        assert browser.sign_in(name)
        return browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    certificate, key, tls = loopback_certificate(folder / "tls")
    settings = {
        "ROCKETSCOPE_HTTPS": "1",
        "ROCKETSCOPE_TRUSTED_PROXIES": "127.0.0.1",
        "ROCKETSCOPE_ALLOWED_HOSTS": HOST,
    }
    with (
        running_web(folder, count=2, settings=settings) as web,
        running_nginx(
            folder / "nginx", web=web.ports, certificate=certificate, key=key
        ) as (http, https),
    ):
        web.add_users("vera", "olga", "eve")
        yield Site(web, http, https, tls)


def test_a_person_signs_in_over_tls(site: Site) -> None:
    browser = site.signed_in()
    assert browser.ask("GET", "/account/").status == 200


def test_every_cookie_is_for_tls_alone(site: Site) -> None:
    browser = site.browser()
    before = browser.ask("GET", "/sign-in/")
    after = browser.post("/sign-in/", username="vera", password="correct horse battery")
    assert after.status == 302
    cookies = [
        line for each in (before, after) for line in each.headers.get_all("Set-Cookie")
    ]
    assert {line.partition("=")[0] for line in cookies} == {
        "rocketscope_csrf",
        "rocketscope_session",
    }
    assert all("; Secure" in line for line in cookies)


def test_browsers_are_told_to_stay_with_tls(site: Site) -> None:
    answer = site.browser().ask("GET", "/sign-in/")
    assert answer.headers["Strict-Transport-Security"] == f"max-age={30 * 24 * 3600}"


def test_what_comes_without_tls_is_sent_to_tls(site: Site) -> None:
    answer = Browser(HOST, site.http).ask("GET", "/groups/?q=1")
    assert answer.status == 301
    assert answer.headers["Location"] == f"https://{HOST}/groups/?q=1"


def test_the_audit_has_the_address_of_the_browser(site: Site) -> None:
    assert site.browser().sign_in("olga", headers=FORGED)
    found = rows_of(
        site.web.var_dir,
        "select distinct address from dashboard_auditentry where actor_name = 'olga'",
    )
    assert found == [(NEAR,)]


def test_wrong_passwords_are_counted_by_the_real_address(site: Site) -> None:
    for number in range(LIMIT):
        claimed = {"X-Forwarded-For": f"10.0.0.{number}"}
        assert not site.browser().sign_in("eve", "wrong", headers=claimed)
    assert not site.browser().sign_in("eve")
    assert site.browser("127.0.0.3").sign_in("eve")


def test_the_live_socket_answers(site: Site) -> None:
    with site.signed_in().live() as socket:
        socket.send(json.dumps({"op": "ping"}))
        assert json.loads(socket.recv(timeout=60)) == {"type": "pong"}


@pytest.mark.parametrize(
    "origin", ["https://evil.example", f"https://{HOST}", f"http://{HOST}"]
)
def test_a_socket_of_another_page_is_refused(site: Site, origin: str) -> None:
    browser = site.signed_in()
    with pytest.raises(InvalidStatus) as refused, browser.live(origin):
        pass
    assert refused.value.response.status_code == 403


def test_a_body_beyond_the_bound_is_refused_by_the_proxy(site: Site) -> None:
    headers = {"Content-Length": str(MOST_BODY_BYTES + 1)}
    answer = site.browser().ask("POST", "/sign-in/", b"", headers)
    assert answer.status == 413
    assert b"nginx" in answer.body


def test_the_largest_body_reaches_the_web_process(site: Site) -> None:
    answer = site.browser().ask("POST", "/sign-in/", b"x" * MOST_BODY_BYTES)
    # Refused for its missing token, which is asked for after the body was read.
    assert answer.status == 403
    assert b"nginx" not in answer.body


@pytest.mark.parametrize(
    "path",
    [
        *("/metrics", "//metrics", "/./metrics", "/%6detrics", "/metrics?x=1"),
        *("/metrics/groups", "/metrics/queues?group=*", "/metrics//groups"),
    ],
)
def test_metrics_are_not_reached(site: Site, path: str) -> None:
    answer = site.browser().ask("GET", path)
    assert answer.status == 404
    assert b"rocketscope_" not in answer.body


def test_a_host_that_is_not_ours_is_refused(site: Site) -> None:
    browser = site.browser()
    browser.host = "evil.example"
    assert browser.ask("GET", "/sign-in/").status == 400


def test_the_proxy_waits_longer_than_sockets_are_silent() -> None:
    settings: dict[str, Any] = server_settings("127.0.0.1", 8300, [])
    config = uvicorn.Config("x:y", **settings)
    assert config.ws_ping_interval is not None
    silent = 2 * config.ws_ping_interval
    assert seconds("proxy_read_timeout") > silent
    assert seconds("proxy_send_timeout") > silent


def test_the_proxy_has_the_bounds_of_the_web_process() -> None:
    assert directive("client_max_body_size") == f"{MOST_BODY_BYTES // 2**20}m"
    assert seconds("client_header_timeout") == HEAD_SECONDS
    assert seconds("client_body_timeout") == BODY_SECONDS


def test_caddy_has_them_too() -> None:
    from dashboard.config.web import IDLE_SECONDS

    text = (Path(__file__).parents[2] / "deploy/Caddyfile").read_text("utf-8")
    assert f"max_size {MOST_BODY_BYTES // 2**20}MiB\n" in text
    assert "respond /metrics* 404\n" in text
    kept = int(text.partition("keepalive ")[2].partition("s")[0])
    assert kept < IDLE_SECONDS


def seconds(name: str) -> int:
    return int(directive(name).removesuffix("s"))
