"""The shipped Caddyfile in front of a real web process, asked over TLS."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from websockets.exceptions import InvalidStatus

from dashboard.config.limits import MOST_BODY_BYTES
from tests.deploy.test_behind_nginx import FORGED, NEAR, Site
from tests.support.caddy import running_caddy
from tests.support.certificates import loopback_certificate
from tests.support.database import rows_of
from tests.support.nginx import HOST
from tests.support.web_processes import Browser, running_web

# Processes take long to start on a busy machine.
pytestmark = [pytest.mark.embedded, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    certificate, key, tls = loopback_certificate(folder / "tls")
    settings = {
        "ROCKETSCOPE_HTTPS": "1",
        "ROCKETSCOPE_TRUSTED_PROXIES": "127.0.0.1",
        "ROCKETSCOPE_ALLOWED_HOSTS": HOST,
    }
    with running_web(folder, count=1, settings=settings) as web:
        (port,) = web.ports
        with running_caddy(
            folder / "caddy", web=port, certificate=certificate, key=key
        ) as (http, https):
            web.add_users("vera", "olga")
            yield Site(web, http, https, tls)


def test_a_person_signs_in_and_the_audit_has_their_address(site: Site) -> None:
    browser = site.browser()
    assert browser.sign_in("olga", headers=FORGED)
    assert browser.ask("GET", "/account/").status == 200
    found = rows_of(
        site.web.var_dir,
        "select distinct address from dashboard_auditentry where actor_name = 'olga'",
    )
    assert found == [(NEAR,)]


def test_what_comes_without_tls_is_sent_to_tls(site: Site) -> None:
    answer = Browser(HOST, site.http).ask("GET", "/groups/?q=1")
    assert answer.status == 308
    assert answer.headers["Location"].startswith(f"https://{HOST}")


def test_the_live_socket_answers_our_own_page_alone(site: Site) -> None:
    browser = site.signed_in()
    with browser.live() as socket:
        socket.send(json.dumps({"op": "ping"}))
        assert json.loads(socket.recv(timeout=60)) == {"type": "pong"}
    with pytest.raises(InvalidStatus) as refused, browser.live("https://evil.example"):
        pass
    assert refused.value.response.status_code == 403


def test_a_body_beyond_the_bound_is_refused(site: Site) -> None:
    headers = {"Content-Length": str(MOST_BODY_BYTES + 1)}
    body = b"x" * (MOST_BODY_BYTES + 1)
    answer = site.browser().ask("POST", "/sign-in/", body, headers)
    # Debian's Caddy 2.6 has cut the body by then, and says that with 502.
    assert answer.status in {413, 502}


def test_the_largest_body_reaches_the_web_process(site: Site) -> None:
    answer = site.browser().ask("POST", "/sign-in/", b"x" * MOST_BODY_BYTES)
    # Refused for its missing token, which is asked for after the body was read.
    assert answer.status == 403


@pytest.mark.parametrize(
    "path",
    [
        *("/metrics", "//metrics", "/./metrics", "/%6detrics", "/metrics?x=1"),
        *("/metrics/groups", "/metrics/queues?group=*", "/metrics//groups"),
    ],
)
def test_metrics_are_not_reached(site: Site, path: str) -> None:
    answer = site.browser().ask("GET", path)
    assert b"rocketscope_" not in answer.body
    assert answer.status in {403, 404}
