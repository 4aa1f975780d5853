"""The lines of Apache's admin tool, and rules as a table: pure, by examples."""

from __future__ import annotations

import pytest

from dashboard.administration.mqadmin import lines_of
from dashboard.administration.plans import Plan, Step, Wish
from dashboard.gateway.access import rule_of, rule_text
from dashboard.gateway.configured import Kind, Place, Values
from rmqcore.admin import AccessRule
from rmqcore.errors import ArgumentError

PLACE = Place("broker-a", "prod", "10.0.0.1:10911")
SERVERS = ["10.0.0.9:9876", "10.0.0.8:9876"]
START = "mqadmin {} -n '10.0.0.9:9876;10.0.0.8:9876' "
TOPIC = {"readQueueNums": "4", "writeQueueNums": "4", "perm": "6", "order": "false"}


def lines(
    kind: Kind, name: str, before: Values | None, after: Values | None, **wish: str
) -> list[str]:
    action = "delete" if after is None else "change"
    step = Step(PLACE, before, after)
    return lines_of(
        Plan(Wish(kind, name, action, **wish), "prod", (step,), ()),  # type: ignore[arg-type]
        SERVERS,
    )


@pytest.mark.parametrize(
    ("kind", "before", "after", "command", "words"),
    [
        (
            "topic",
            None,
            {**TOPIC, "message.type": "FIFO"},
            "updateTopic",
            "-b 10.0.0.1:10911 -t x -r 4 -w 4 -p 6 -o false -a +message.type=FIFO",
        ),
        ("topic", TOPIC, None, "deleteTopic", "-c prod -t x"),
        (
            "group",
            {"retryMaxTimes": "16"},
            {"retryMaxTimes": "3"},
            "updateSubGroup",
            "-b 10.0.0.1:10911 -g x -r 3",
        ),
        ("group", {}, None, "deleteSubGroup", "-c prod -g x -r true"),
        (
            "broker",
            {"deleteWhen": "04"},
            {"deleteWhen": "05"},
            "updateBrokerConfig",
            "-b 10.0.0.1:10911 -k deleteWhen -v 05",
        ),
        (
            "writing",
            {"writing": "allowed"},
            {"writing": "stopped"},
            "wipeWritePerm",
            "-b x",
        ),
        (
            "writing",
            {"writing": "stopped"},
            {"writing": "allowed"},
            "addWritePerm",
            "-b x",
        ),
        (
            "user",
            None,
            {"userType": "Normal"},
            "createUser",
            "-b 10.0.0.1:10911 -u x -p PASSWORD -t Normal",
        ),
        (
            "user",
            {"userStatus": "enable"},
            {"userStatus": "disable"},
            "updateUser",
            "-b 10.0.0.1:10911 -u x -s disable",
        ),
        ("user", {"userType": "Normal"}, None, "deleteUser", "-b 10.0.0.1:10911 -u x"),
        (
            "rule",
            None,
            {"Custom Topic:t": "ALLOW Pub,Sub from 10.0.0.5"},
            "createAcl",
            "-b 10.0.0.1:10911 -s x -r Topic:t -a Pub,Sub -d Allow -i 10.0.0.5",
        ),
        (
            "rule",
            {"Custom Topic:t": "ALLOW Pub", "Custom Group:g": "ALLOW Sub"},
            {"Custom Group:g": "ALLOW Sub"},
            "deleteAcl",
            "-b 10.0.0.1:10911 -s x -r Topic:t",
        ),
    ],
)
def test_each_change_has_its_line(
    kind: Kind, before: Values | None, after: Values | None, command: str, words: str
) -> None:
    assert lines(kind, "x", before, after) == [START.format(command) + words]


def test_a_new_password_is_set_by_a_line_that_does_not_tell_it() -> None:
    before = {"userType": "Normal"}
    (line,) = lines("user", "x", before, {**before, "password": "new"})
    assert line == START.format("updateUser") + "-b 10.0.0.1:10911 -u x -p PASSWORD"


def test_a_rule_and_its_row_are_the_same() -> None:
    rule = AccessRule("User:x", "Topic:t", ("Pub", "Sub"), "Deny", ("10.0.0.5",))
    row = rule_text(rule)
    assert row == "DENY Pub,Sub from 10.0.0.5"
    assert rule_of("User:x", "Custom Topic:t", row) == rule
    with pytest.raises(ArgumentError, match="no resource or no action"):
        rule_of("User:x", "Custom", "ALLOW")
