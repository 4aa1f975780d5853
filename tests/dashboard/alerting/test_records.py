"""Alerts are open once, told once, and grouped by what explains them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import DatabaseError

from dashboard.alerting import records
from dashboard.alerting.engine import Explained
from dashboard.alerting.records import end_all_but, keep_up, load_open, write_news
from dashboard.alerting.rules import active_rules
from dashboard.models import Alert, AlertMessage, AlertRule, AlertSubject, Silence

from .seen import finding
from .written import NOW, closing, later, make_channel, make_rule, opening

pytestmark = pytest.mark.django_db


def told() -> list[tuple[str, str]]:
    """Return what was written for whom, in order."""
    return list(AlertMessage.objects.values_list("what", "channel_name"))


def silence(**fields: object) -> Silence:
    given = {
        "starts_at": later(-3600),
        "ends_at": later(600),
        "reason": "deploy",
        **fields,
    }
    return Silence.objects.create(**given)


def test_an_alert_opens_and_closes_with_one_message_each() -> None:
    rule = make_rule(make_channel("a"), make_channel("b"))
    write_news("east", [opening(rule)], NOW)
    alert = Alert.objects.get()
    assert (alert.cause, alert.cluster, alert.severity) == ("stalled", "east", "warn")
    assert told() == [("opened", "a"), ("opened", "b")]
    AlertMessage.objects.update(attempts=1, state="sent")
    write_news("east", [closing(rule)], later(60))
    alert.refresh_from_db()
    assert (alert.closed_at, alert.end) == (later(60), "cleared")
    assert told()[2:] == [("closed", "a"), ("closed", "b")]


def test_a_first_message_waits_for_more_groups_of_the_same_alert() -> None:
    write_news("east", [opening(make_rule(make_channel()))], NOW)
    assert AlertMessage.objects.get().due_at == NOW + records.WAIT


def test_news_written_twice_are_one_alert() -> None:
    rule = make_rule(make_channel())
    write_news("east", [opening(rule)], NOW)
    write_news("east", [opening(rule)], NOW)
    assert Alert.objects.count() == AlertSubject.objects.count() == 1
    assert len(told()) == 1


def test_five_hundred_groups_with_one_reason_are_one_message() -> None:
    rule = make_rule(make_channel())
    news = [opening(rule, f"group-{number}") for number in range(250)]
    write_news("east", news, NOW)
    news = [opening(rule, f"group-{number}", at_s=10) for number in range(250, 500)]
    write_news("east", news, later(10))
    alert = Alert.objects.get()
    assert alert.subjects.count() == 500
    assert len(told()) == 1
    closings = [closing(rule, f"group-{number}") for number in range(500)]
    AlertMessage.objects.update(attempts=1, state="sent")
    write_news("east", closings, later(60))
    assert [what for what, _name in told()] == ["opened", "closed"]


def test_groups_without_a_known_reason_are_one_alert_if_they_come_together() -> None:
    rule = make_rule(make_channel())
    write_news("east", [opening(rule, name, cause="") for name in "ab"], NOW)
    write_news("east", [opening(rule, "c", cause="", at_s=10)], later(10))
    write_news("east", [opening(rule, "d", cause="", at_s=600)], later(600))
    assert [alert.subjects.count() for alert in Alert.objects.order_by("pk")] == [3, 1]


def test_other_reasons_rules_and_clusters_are_other_alerts() -> None:
    rule, other = make_rule(), make_rule(name="Other")
    write_news("east", [opening(rule), opening(rule, cause="hot_queue")], NOW)
    write_news("east", [opening(other)], NOW)
    write_news("west", [opening(rule)], NOW)
    assert Alert.objects.count() == 4


def test_an_alert_ends_with_its_last_group() -> None:
    rule = make_rule(make_channel())
    write_news("east", [opening(rule, "a"), opening(rule, "b")], NOW)
    write_news("east", [closing(rule, "a", at_s=5)], later(5))
    assert Alert.objects.open().count() == 1
    write_news("east", [closing(rule, "b", at_s=9)], later(9))
    assert Alert.objects.get().closed_at == later(9)


def test_what_is_over_before_it_was_told_is_not_told() -> None:
    rule = make_rule(make_channel())
    write_news("east", [opening(rule)], NOW)
    write_news("east", [closing(rule, at_s=1)], later(1))
    assert told() == []


def test_what_was_on_its_way_is_told_to_be_over() -> None:
    rule = make_rule(make_channel())
    write_news("east", [opening(rule)], NOW)
    AlertMessage.objects.update(attempts=1, claim="x", claimed_until=later(60))
    write_news("east", [closing(rule, at_s=3)], later(3))
    assert [what for what, _name in told()] == ["opened", "closed"]


def test_a_finding_that_comes_later_is_kept() -> None:
    rule = make_rule()
    write_news("east", [opening(rule, cause="")], NOW)
    write_news("east", [Explained(rule.pk, "billing", finding())], later(60))
    assert AlertSubject.objects.get().facts["finding"]["key"] == "stalled"
    assert load_open("east")[0].explained


def test_what_is_open_is_loaded_for_the_next_leader() -> None:
    rule = make_rule()
    write_news("east", [opening(rule, "a"), opening(rule, "b")], NOW)
    write_news("west", [opening(rule, "c")], NOW)
    write_news("east", [closing(rule, "b")], later(60))
    (found,) = load_open("east")
    assert (found.rule, found.subject, found.explained) == (rule.pk, "a", True)
    assert found.opened_ms - found.began_ms == 30_000


def test_a_silence_withholds_messages_until_it_ends() -> None:
    rule = make_rule(make_channel())
    silence(groups="bill*")
    write_news("east", [opening(rule)], NOW)
    assert not keep_up("east", [rule], later(10))
    assert (Alert.objects.open().count(), told()) == (1, [])
    assert keep_up("east", [rule], later(601))
    assert told() == [("opened", "on-call")]
    keep_up("east", [rule], later(602))
    assert len(told()) == 1


@pytest.mark.parametrize(
    ("fields", "is_silenced"),
    [
        ({}, True),
        ({"cluster": "east"}, True),
        ({"cluster": "west"}, False),
        ({"groups": "pay-*"}, False),
        ({"starts_at": later(5), "ends_at": later(900)}, False),
        ({"ends_at": later(-5)}, False),
    ],
)
def test_what_a_silence_covers(fields: dict[str, object], is_silenced: bool) -> None:
    silence(**fields)
    write_news("east", [opening(make_rule(make_channel()))], NOW)
    assert (told() == []) is is_silenced


def test_a_silence_of_one_rule_leaves_the_others() -> None:
    rule, other = make_rule(make_channel()), make_rule(name="Other")
    AlertRule.objects.get(pk=other.pk).channels.set([make_channel("b")])
    (other,) = [each for each in active_rules("east") if each.pk == other.pk]
    silence(rule_id=rule.pk)
    write_news("east", [opening(rule), opening(other)], NOW)
    assert told() == [("opened", "b")]


def test_a_group_that_is_not_silenced_is_told_of() -> None:
    rule = make_rule(make_channel())
    silence(groups="billing")
    write_news("east", [opening(rule), opening(rule, "other")], NOW)
    assert len(told()) == 1


def test_further_groups_are_told_together_after_a_while() -> None:
    rule = make_rule(make_channel())
    write_news("east", [opening(rule, "a")], NOW)
    AlertMessage.objects.update(attempts=1, state="sent")
    write_news("east", [opening(rule, n, at_s=30) for n in "bc"], later(30))
    keep_up("east", [rule], later(60))
    assert [what for what, _name in told()] == ["opened"]
    keep_up("east", [rule], later(301))
    keep_up("east", [rule], later(310))
    assert [what for what, _name in told()] == ["opened", "more"]
    assert AlertMessage.objects.get(what="more").content == {"after": 1}


def test_groups_that_come_while_the_first_message_waits_are_in_it() -> None:
    rule = make_rule(make_channel())
    write_news("east", [opening(rule, "a")], NOW)
    write_news("east", [opening(rule, "b", at_s=1)], later(1))
    keep_up("east", [rule], later(400))
    assert len(told()) == 1


def test_what_nobody_acknowledges_is_escalated_once() -> None:
    boss = make_channel("boss")
    rule = make_rule(make_channel(), escalation=(boss,), escalate_after_s=300)
    write_news("east", [opening(rule)], NOW)
    for at_s in (10, 299, 300, 310, 900):
        keep_up("east", [rule], later(at_s))
    assert [each for each in told() if each[1] == "boss"] == [("escalated", "boss")]
    AlertMessage.objects.update(attempts=1, state="sent")
    write_news("east", [closing(rule, at_s=950)], later(950))
    assert set(told()[-2:]) == {("closed", "on-call"), ("closed", "boss")}


def test_what_somebody_acknowledged_is_not_escalated() -> None:
    rule = make_rule(escalation=(make_channel("boss"),), escalate_after_s=300)
    write_news("east", [opening(rule)], NOW)
    Alert.objects.update(acknowledged_at=later(100), acknowledged_by_name="li")
    keep_up("east", [rule], later(900))
    assert told() == []


def test_what_is_silenced_is_not_escalated() -> None:
    rule = make_rule(escalation=(make_channel("boss"),), escalate_after_s=300)
    write_news("east", [opening(rule)], NOW)
    silence()
    keep_up("east", [rule], later(400))
    assert told() == []


def test_alerts_of_a_rule_that_is_gone_end_and_say_so() -> None:
    rule = make_rule(make_channel())
    write_news("east", [opening(rule)], NOW)
    AlertMessage.objects.update(attempts=1, state="sent")
    AlertRule.objects.get(pk=rule.pk).delete()
    keep_up("east", active_rules("east"), later(60))
    alert = Alert.objects.get()
    assert (alert.end, alert.closed_at, alert.rule_name) == ("rule", later(60), "Lag")
    assert [what for what, _name in told()] == ["opened", "closed"]


def test_alerts_of_a_removed_cluster_end_and_say_so() -> None:
    rule = make_rule(make_channel())
    write_news("east", [opening(rule)], NOW)
    write_news("west", [opening(rule)], NOW)
    AlertMessage.objects.update(attempts=1, state="sent")
    assert not end_all_but({"east", "west"}, later(60))
    assert end_all_but({"east", "north"}, later(60))
    ended = Alert.objects.get(cluster="west")
    assert (ended.closed_at, ended.end) == (later(60), "cluster")
    assert ended.subjects.get().closed_at == later(60)
    assert [alert.cluster for alert in Alert.objects.open()] == ["east"]
    assert list(ended.messages.values_list("what", flat=True)) == ["opened", "closed"]
    assert load_open("west") == []


def test_a_channel_that_is_off_is_not_told() -> None:
    rule = make_rule(make_channel("a"), make_channel("b", on=False))
    write_news("east", [opening(rule)], NOW)
    assert told() == [("opened", "a")]


def test_rules_of_other_clusters_and_those_that_are_off_are_not_active() -> None:
    make_rule(name="all")
    make_rule(name="east", cluster="east")
    AlertRule.objects.create(name="west", kind="lag", limit=1, cluster="west")
    AlertRule.objects.create(name="off", kind="lag", limit=1, on=False)
    assert [rule.name for rule in active_rules("east")] == ["all", "east"]


def test_all_of_it_is_written_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = make_rule(make_channel())

    def refuse(*_args: object, **_named: object) -> None:
        raise DatabaseError("the disk is full")

    monkeypatch.setattr(records, "_tell", refuse)
    with pytest.raises(DatabaseError):
        write_news("east", [opening(rule)], NOW)
    assert Alert.objects.count() == 0


def test_a_name_that_no_database_holds_as_it_is_closes_too() -> None:
    rule = make_rule()
    name = "x" * 400 + "\0"
    write_news("east", [opening(rule, name)], NOW)
    write_news("east", [opening(rule, name)], NOW)
    assert AlertSubject.objects.count() == 1
    write_news("east", [closing(rule, name)], later(60))
    assert Alert.objects.get().closed_at is not None


def test_a_waiting_message_is_reported_for_the_sender() -> None:
    rule = make_rule(make_channel())
    assert not keep_up("east", [rule], NOW)
    write_news("east", [opening(rule)], NOW)
    assert keep_up("east", [rule], NOW)
    AlertMessage.objects.update(due_at=NOW + timedelta(hours=1))
    assert not keep_up("east", [rule], NOW)
