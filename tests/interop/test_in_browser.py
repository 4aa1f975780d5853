"""Every write in a real browser, on a real Apache cluster; mqadmin reads its effect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.support.apache import ApacheCluster
from tests.support.browser import find_chromium
from tests.support.jars import rocketmq_version
from tests.support.java_driver import AdminTool, JavaDriver
from tests.support.product import Product, running_product
from tests.support.waiting import wait_until

from .conftest import Apaches
from .forms import REASON, apply_move, change, move, undo
from .mqadmin_tool import Mqadmin, Queue

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed"),
]

NAME = "apache"
HERE = f"/clusters/{NAME}"
MESSAGES = 12
TWO_QUEUES = {"writeQueueNums": "2", "readQueueNums": "2"}


@pytest.fixture(scope="module")
def cluster(apaches: Apaches) -> ApacheCluster:
    return apaches.cluster(rocketmq_version())


@pytest.fixture(scope="module")
def clients(apaches: Apaches) -> JavaDriver:
    return apaches.java(rocketmq_version())


@pytest.fixture(scope="module")
def product(
    cluster: ApacheCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    """The product, attached to the cluster and open to writing."""
    settings = {
        "ROCKETSCOPE_CLUSTERS": f"{NAME}={cluster.nameserver}",
        "ROCKETSCOPE_CLUSTER_APACHE_WRITES": "on",
    }
    with running_product(tmp_path_factory.mktemp("product"), settings) as running:
        yield running


@pytest.fixture(scope="module")
def page(product: Product) -> Iterator[Page]:
    with product.page() as opened:
        yield opened


@pytest.fixture(scope="module")
def mqadmin(
    cluster: ApacheCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mqadmin]:
    with AdminTool(tmp_path_factory.mktemp("tool")) as running:
        yield Mqadmin(running, cluster.nameserver, cluster.brokers)


def test_a_topic_is_created_changed_put_back_and_deleted(
    page: Page, mqadmin: Mqadmin, name: str
) -> None:
    wanted = {"name": name, "writeQueueNums": "3", "readQueueNums": "3"}
    change(page, f"{HERE}/new/topic/", wanted)
    assert mqadmin.route(name) == dict.fromkeys(("broker-a", "broker-b"), (3, 3, 6))
    change(page, f"{HERE}/topics/{name}/change/", {"readQueueNums": "5", "perm": "4"})
    assert set(mqadmin.route(name).values()) == {(5, 3, 4)}
    undo(page)
    assert set(mqadmin.route(name).values()) == {(3, 3, 6)}
    change(page, f"{HERE}/topics/{name}/delete/", confirm=name)
    assert mqadmin.route(name) == {}


def test_a_group_is_created_changed_put_back_and_deleted(
    page: Page, mqadmin: Mqadmin, name: str
) -> None:
    change(page, f"{HERE}/new/group/", {"name": name, "retryMaxTimes": "5"})
    assert tries(mqadmin, name) == {"broker-a": "5", "broker-b": "5"}
    change(page, f"{HERE}/groups/{name}/settings/", {"retryMaxTimes": "7"})
    assert set(tries(mqadmin, name).values()) == {"7"}
    undo(page)
    assert set(tries(mqadmin, name).values()) == {"5"}
    change(page, f"{HERE}/groups/{name}/delete/", confirm=name)
    assert mqadmin.group(name) == {}


def tries(mqadmin: Mqadmin, group: str) -> dict[str, str]:
    """Return the group's most retries, by broker."""
    return {
        broker: table["retryMaxTimes"] for broker, table in mqadmin.group(group).items()
    }


def test_a_setting_of_a_running_broker_is_changed_and_put_back(
    page: Page, mqadmin: Mqadmin
) -> None:
    before = mqadmin.setting("broker-a", "transactionTimeOut")
    other = mqadmin.setting("broker-b", "transactionTimeOut")
    change(page, f"{HERE}/brokers/broker-a/settings/", {"transactionTimeOut": "7001"})
    assert mqadmin.setting("broker-a", "transactionTimeOut") == "7001"
    assert mqadmin.setting("broker-b", "transactionTimeOut") == other
    undo(page)
    assert mqadmin.setting("broker-a", "transactionTimeOut") == before


def test_a_broker_is_drained_and_opened_again(
    page: Page, mqadmin: Mqadmin, name: str
) -> None:
    change(page, f"{HERE}/new/topic/", {"name": name, "writeQueueNums": "1"})
    change(page, f"{HERE}/brokers/broker-b/writing/", {"writing": "stopped"})
    perms = {broker: each[2] for broker, each in mqadmin.route(name).items()}
    assert perms == {"broker-a": 6, "broker-b": 4}
    undo(page)
    assert {each[2] for each in mqadmin.route(name).values()} == {6}


@pytest.fixture(scope="module")
def consumed(page: Page, clients: JavaDriver, mqadmin: Mqadmin) -> str:
    """A topic whose messages a group of the same name has consumed; it is offline."""
    name = "browsed"
    change(page, f"{HERE}/new/topic/", {"name": name, **TWO_QUEUES})
    clients.produce(name, MESSAGES, key="k", orderly="true")
    clients.start_consumer(name, group=name, topic=name)
    # A listener that has been called has not yet acknowledged.
    wait_until(lambda: sum(mqadmin.offsets(name, name).values()) == MESSAGES)
    clients.stop_consumer(name)
    return name


def test_offsets_are_moved_cloned_and_put_back(
    page: Page, mqadmin: Mqadmin, consumed: str
) -> None:
    before = mqadmin.offsets(consumed, consumed)
    assert sum(before.values()) == MESSAGES
    move(page, NAME, consumed, f"to=earliest&topic={consumed}")
    assert set(mqadmin.offsets(consumed, consumed).values()) == {0}
    page.get_by_role("link", name="Undo, with a preview").click()
    apply_move(page, consumed)
    assert mqadmin.offsets(consumed, consumed) == before
    copy = f"{consumed}-copy"
    change(page, f"{HERE}/new/group/", {"name": copy})
    move(page, NAME, copy, f"to=group&from={consumed}&topic={consumed}")
    assert mqadmin.offsets(copy, consumed) == before


def test_a_message_is_sent_and_sent_again(
    page: Page, mqadmin: Mqadmin, consumed: str
) -> None:
    page.goto(f"{HERE}/messages/send/?topic={consumed}")
    form = page.locator("main form")
    form.locator("[name=keys]").fill("sent-here")
    form.locator("[name=body]").fill('{"n": 1}')
    form.locator("[name=reason]").fill("checked by a test")
    form.get_by_role("button", name="Send").click()
    expect(page.locator("main")).to_contain_text("sent-here")
    until_found(page, mqadmin, consumed, 1)
    page.get_by_role("link", name="Resend").click()
    again = page.locator("form", has=page.locator("[name=topic_to]"))
    again.locator("[name=reason]").fill("checked by a test")
    again.get_by_role("button").click()
    expect(page.locator("main")).to_contain_text("ORIGIN_MESSAGE_ID")
    until_found(page, mqadmin, consumed, 2)


def until_found(page: Page, mqadmin: Mqadmin, topic: str, count: int) -> None:
    """Wait for a broker's index, which follows its log with some delay."""
    for _ in range(100):
        if len(found := mqadmin.with_key(topic, "sent-here")) == count:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"not {count} messages: {found}")


def test_one_client_consumes_a_message_again(
    page: Page, mqadmin: Mqadmin, clients: JavaDriver, consumed: str
) -> None:
    group = f"{consumed}-again"
    clients.start_consumer(group, group=group, topic=consumed)
    before = sum(high for _low, high in mqadmin.ends(consumed).values())
    clients.wait_until(lambda: len(clients.messages(group)) == before)
    page.goto(f"{HERE}/messages/?by=key&topic={consumed}&key=k3")
    page.locator("main tbody tr a").first.click()
    page.get_by_role("link", name="Resend").click()
    page.locator("select[name=group]").select_option(group)
    page.get_by_role("button", name="List its clients").click()
    form = page.locator("form", has=page.locator("[name=client]"))
    form.locator("[name=reason]").fill("checked by a test")
    form.get_by_role("button").click()
    expect(page.locator("body")).to_contain_text("CR_SUCCESS")
    clients.wait_until(lambda: len(clients.messages(group)) == before + 1)
    clients.stop_consumer(group)


def test_a_cluster_is_attached_and_removed(
    page: Page, mqadmin: Mqadmin, cluster: ApacheCluster, tmp_path: Path
) -> None:
    before = mqadmin.left_at_rest(tmp_path / "before")
    page.goto("/attach/")
    page.locator("[name=name]").fill("again")
    page.locator("[name=name_servers]").fill(cluster.nameserver)
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator(".probes .ok")).to_have_count(1)
    page.get_by_role("button", name="Attach").click()
    page.wait_for_url(lambda url: "attach" not in url)
    page.goto("/clusters/again/")
    expect(page.locator(".page-head")).to_contain_text("again")
    page.goto("/clusters/again/remove/")
    page.locator("[name=confirm]").fill("again")
    page.locator("[name=reason]").fill(REASON)
    page.get_by_role("button", name="Remove the cluster").click()
    page.wait_for_url(lambda url: "remove" not in url)
    assert page.request.get("/clusters/again/").status == 404
    assert mqadmin.left(tmp_path / "after") == before


def test_what_is_read_is_what_the_tool_prints(
    page: Page, mqadmin: Mqadmin, consumed: str
) -> None:
    ends = mqadmin.ends(consumed)
    for _ in range(600):
        topic = sweeps(page, f"topics/{consumed}")
        if ends_of(topic) == ends:
            break
        page.wait_for_timeout(100)
    assert ends_of(topic) == ends
    assert {
        each["name"]: (each["read"], each["write"], each["perm"])
        for each in topic["brokers"]
    } == mqadmin.route(consumed)
    # Brokers tell the name server of new topics a little later, such as of the retry
    # topics of groups that other tests have started.
    printed = set(mqadmin.say("topicList").split())
    wait_until(
        lambda: printed <= {each["topic"] for each in sweeps(page, "topics")["topics"]},
        f"these are listed: {printed}",
    )
    query = quote(f"to=earliest&topic={consumed}")
    plan = read(page, f"groups/{consumed}/offsets?query={query}")
    assert {
        # The tool prints 0 where nothing is committed.
        (each["broker"], each["queue_id"]): each["committed"] or 0
        for each in plan["queues"]
    } == mqadmin.offsets(consumed, consumed)
    found = read(page, f"messages?by=key&topic={consumed}&key=k3")["messages"]
    assert {each["id"] for each in found} == mqadmin.with_key(consumed, "k3")
    by_id = mqadmin.say("queryMsgById", "-t", consumed, "-i", found[0]["offset_id"])
    assert f"{found[0]['queue']}" in re.findall(r"^Queue ID: +(\d+)", by_id, re.M)
    assert f"{found[0]['offset']}" in re.findall(r"^Queue Offset: +(\d+)", by_id, re.M)
    for each in sweeps(page, "brokers")["brokers"]:
        status = mqadmin.say("brokerStatus", "-b", mqadmin.brokers[each["name"]])
        (version,) = re.findall(r"^brokerVersionDesc *: *(\S+)", status, re.M)
        assert each["figures"]["version"] == version


def ends_of(topic: Any) -> dict[Queue, tuple[int, int]]:
    """Return the ends of the queues of a topic, as its document has them."""
    return {
        (broker["name"], queue): (low, high)
        for broker in topic["brokers"]
        for queue, low, high in zip(
            broker["ids"], broker["min"], broker["max"], strict=True
        )
    }


def read(page: Page, place: str) -> Any:
    """Return what a program reads about the cluster."""
    answer = page.request.get(f"/api/v1{HERE}/{place}")
    assert answer.status == 200, (place, answer.text())
    return answer.json()


def sweeps(page: Page, place: str) -> Any:
    """Return what a program reads once a sweep has seen it."""
    for _ in range(600):
        if page.request.get(f"/api/v1{HERE}/{place}").status == 200:
            break
        page.wait_for_timeout(100)
    return read(page, place)


def test_reading_leaves_nothing_behind(
    page: Page, mqadmin: Mqadmin, clients: JavaDriver, consumed: str, tmp_path: Path
) -> None:
    before = mqadmin.left_at_rest(tmp_path / "before")
    with page.expect_response(lambda each: "/tail/step/" in each.url):
        page.goto(f"{HERE}/messages/tail/?topic={consumed}")
    clients.produce(consumed, MESSAGES, key="tail")
    expect(page.locator("[data-tail-rows] tr")).to_have_count(MESSAGES)
    for asked in ("by=key&key=k3", "by=time", "by=newest", "by=oldest"):
        page.goto(f"{HERE}/messages/?topic={consumed}&{asked}")
        expect(page.locator("main tbody tr").first).to_be_visible()
    page.locator("main tbody tr a").first.click()
    expect(page.get_by_role("heading", name="Who consumed it")).to_be_visible()
    for place in (f"groups/{consumed}/", f"topics/{consumed}/", "brokers/"):
        page.goto(f"{HERE}/{place}")
        expect(page.locator("h1")).to_be_visible()
    visited = visit(page, {consumed})
    assert len(visited) >= 20
    assert {link: status for link, status in visited.items() if status != 200} == {}
    assert mqadmin.left(tmp_path / "after") == before


def visit(page: Page, names: set[str]) -> dict[str, int]:
    """Ask for every kind of page of the cluster that links lead to, with its status.

    Of pages that exist once for each group, topic or broker, one is asked for: those of
    the names given where there are some.
    """
    visited: dict[str, int] = {}
    seen: set[str] = set()
    waiting = [f"{HERE}/"]
    while waiting:
        link = waiting.pop(0)
        path = link.partition("?")[0]
        kind = re.sub(r"/(topics|groups|brokers|clients)/[^/]+/", r"/\1/*/", path)
        if kind in seen:
            continue
        seen.add(kind)
        answer = page.request.get(link)
        visited[link] = answer.status
        links = re.findall(rf'href="({HERE}/[^"#]*)', answer.text())
        waiting += sorted(
            map(unescape, links), key=lambda each: names.isdisjoint(each.split("/"))
        )
    return visited
