"""The lines of Apache's admin tool that do the same as a plan."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from .fields import MESSAGE_TYPE, PASSWORD
from .plans import Plan, Step

_TOPIC: Final = {
    "readQueueNums": "-r",
    "writeQueueNums": "-w",
    "perm": "-p",
    "order": "-o",
}
_GROUP: Final = {
    "consumeEnable": "-s",
    "consumeFromMinEnable": "-m",
    "consumeBroadcastEnable": "-d",
    "consumeMessageOrderly": "-o",
    "retryQueueNums": "-q",
    "retryMaxTimes": "-r",
    "brokerId": "-i",
    "whichBrokerWhenConsumeSlowly": "-w",
    "notifyConsumerIdsChangedEnable": "-a",
}

_USER: Final = {"userType": "-t", "userStatus": "-s", PASSWORD: "-p"}


def lines_of(plan: Plan, nameservers: Sequence[str]) -> list[str]:
    """Return the commands, with the addresses of this cluster filled in.

    A password is shown as PASSWORD. `consumeTimeoutMinute` of a group has no option.
    """
    servers = ";".join(nameservers)
    return [
        shlex.join(["mqadmin", command, "-n", servers, *words])
        for command, words in _commands(plan)
    ]


def _commands(plan: Plan) -> Iterator[tuple[str, list[str]]]:
    wish = plan.wish
    where = ["-c", plan.scope]
    if wish.kind == "writing":
        stops = any(
            (step.after or {}).get("writing") == "stopped" for step in plan.acting
        )
        yield ("wipeWritePerm" if stops else "addWritePerm"), ["-b", wish.name]
    elif wish.kind == "topic" and wish.action == "delete":
        yield "deleteTopic", [*where, "-t", wish.name]
    elif wish.kind == "group" and wish.action == "delete":
        yield "deleteSubGroup", [*where, "-g", wish.name, "-r", _truth(wish.clean)]
    else:
        for step in plan.acting:
            yield from _of_step(plan, step)


def _of_step(plan: Plan, step: Step) -> Iterator[tuple[str, list[str]]]:
    name, at = plan.wish.name, ["-b", step.place.address]
    after = step.after or {}
    if plan.wish.kind == "topic":
        yield "updateTopic", [*at, "-t", name, *_topic(step)]
    elif plan.wish.kind == "group":
        yield "updateSubGroup", [*at, "-g", name, *_options(_GROUP, step)]
    elif plan.wish.kind == "broker":
        for key, value in after.items():
            yield "updateBrokerConfig", [*at, "-k", key, "-v", value]
    elif plan.wish.kind == "user":
        yield from _user(step, name, at)
    else:
        yield from _rules(step, name, at)


def _topic(step: Step) -> list[str]:
    words = _options(_TOPIC, step)
    before, after = step.before or {}, step.after or {}
    if after.get(MESSAGE_TYPE) != before.get(MESSAGE_TYPE):
        kind = after.get(MESSAGE_TYPE)
        change = f"+{MESSAGE_TYPE}={kind}" if kind else f"-{MESSAGE_TYPE}"
        words += ["-a", change]
    return words


def _options(options: dict[str, str], step: Step) -> list[str]:
    """Return the options of all values: the tool uses defaults for those left out."""
    after = step.after or {}
    return [
        word
        for key, option in options.items()
        if key in after
        for word in (option, after[key])
    ]


def _user(step: Step, name: str, at: list[str]) -> Iterator[tuple[str, list[str]]]:
    after = step.after
    if after is None:
        yield "deleteUser", [*at, "-u", name]
    elif step.before is None:
        kind = ["-t", after.get("userType", "Normal")]
        yield "createUser", [*at, "-u", name, "-p", "PASSWORD", *kind]
    else:
        for change in step.changes:
            option, value = _USER[change.key], change.after or ""
            given = "PASSWORD" if change.key == PASSWORD else value
            yield "updateUser", [*at, "-u", name, option, given]


def _rules(step: Step, name: str, at: list[str]) -> Iterator[tuple[str, list[str]]]:
    has_rules = bool(step.before)
    for change in step.changes:
        _policy, _, resource = change.key.partition(" ")
        words = [*at, "-s", name, "-r", resource]
        if change.after is None:
            yield "deleteAcl", words
            continue
        allowed, _, sources = change.after.partition(" from ")
        decision, _, actions = allowed.partition(" ")
        words += ["-a", actions, "-d", decision.capitalize()]
        words += ["-i", sources] if sources else []
        yield ("updateAcl" if has_rules else "createAcl"), words
        has_rules = True


def _truth(value: bool) -> str:
    return "true" if value else "false"
