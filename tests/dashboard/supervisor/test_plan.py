from dataclasses import replace
from pathlib import Path

from dashboard.supervisor import plan
from dashboard.supervisor.plan import Surroundings


def surroundings(port: int | None) -> Surroundings:
    return Surroundings("127.0.0.1", 8300, Path("/v"), "redis://r:1/0", port, 96)


def test_without_clusters_the_embedded_one_is_planned() -> None:
    found = surroundings(9876)
    settings = plan.environment(found)
    assert settings["ROCKETSCOPE_EMBEDDED_CLUSTER"] == "127.0.0.1:9876"
    cluster = plan.embedded_cluster(found)
    assert cluster is not None
    assert cluster.argv[cluster.argv.index("--store-mb") + 1] == "96"
    assert {"orders:16", "payments:8"} <= set(cluster.argv)


def test_each_demo_topic_has_traffic_of_its_own() -> None:
    producers = plan.demo_traffic(surroundings(9876))
    topics = [each.argv[each.argv.index("--topic") + 1] for each in producers]
    assert topics == list(plan.DEMO_TOPICS)
    assert all("127.0.0.1:9876" in each.argv for each in producers)


def test_with_clusters_given_nothing_is_embedded() -> None:
    found = surroundings(None)
    assert "ROCKETSCOPE_EMBEDDED_CLUSTER" not in plan.environment(found)
    assert plan.embedded_cluster(found) is None
    assert plan.demo_traffic(found) == []


def test_pages_are_told_where_to_ask_for_the_embedded_cluster() -> None:
    assert "ROCKETSCOPE_EMBEDDED_REQUEST" not in plan.environment(surroundings(None))
    found = replace(surroundings(None), embedded_request=Path("/v/embedded.wanted"))
    settings = plan.environment(found)
    assert settings["ROCKETSCOPE_EMBEDDED_REQUEST"] == "/v/embedded.wanted"


def test_every_process_has_few_heaps_and_gives_back_what_it_freed() -> None:
    for port in (None, 9876):
        assert plan.environment(surroundings(port)).items() >= plan.MALLOC.items()


def test_the_page_of_deployment_names_what_the_plan_sets() -> None:
    page = (Path(__file__).parents[3] / "docs/deployment.md").read_text()
    assert all(f"{name}={value}" in page for name, value in plan.MALLOC.items())


def test_two_fleet_workers_one_collector_one_beat() -> None:
    names = [spec.name for spec in plan.workers()]
    assert names == ["collector", "fleet-1", "fleet-2", "beat"]


def test_analytics_yields_to_the_rest() -> None:
    assert plan.analytics().nice > 0
    assert all(spec.nice == 0 for spec in plan.workers())


def test_names_are_unique() -> None:
    found = surroundings(9876)
    specs = [plan.web(found), plan.analytics(), *plan.workers()]
    specs += filter(None, [plan.embedded_cluster(found)])
    specs += plan.demo_traffic(found)
    assert len({spec.name for spec in specs}) == len(specs)
