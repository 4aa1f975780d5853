"""What entries of the audit trail say, in sentences.

A sentence says what was asked for; whether it was done is in the outcome beside it. An
action that is no longer known, of an older version, is shown by its code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dashboard.models import AuditEntry

SENTENCES: Final[Mapping[str, Promise]] = {
    "sign_in": _("Sign in as {target}"),
    "sign_out": _("Sign out"),
    "sign_in_link.make": _("Make a sign-in link for {target}"),
    "sign_in_link.use": _("Sign in as {target}, by link"),
    "second_factor.use": _("Use a code to sign in as {target}"),
    "second_factor.recover": _("Use a recovery code of {target}"),
    "second_factor.set_up": _("Set up the second factor of {target}"),
    "second_factor.renew": _("Make new recovery codes for {target}"),
    "second_factor.remove": _("Remove the second factor of {target}"),
    "session.end": _("End a session of {target}"),
    "token.make": _("Make a token for {target}"),
    "token.revoke": _("Revoke a token of {target}"),
    "grant.give": _("Give {target} a role"),
    "grant.take": _("Take a role from {target}"),
    "user.add": _("Add the user {target}"),
    "user.change": _("Change the user {target}"),
    "user.password": _("Change the password of {target}"),
    "team.add": _("Make the team {target}"),
    "team.change": _("Change the team {target}"),
    "team.delete": _("Delete the team {target}"),
    "group.own": _("Give the group {target} to a team"),
    "group.note": _("Change the note on the group {target}"),
    "cluster.test": _("Test the addresses {target}"),
    "cluster.attach": _("Attach the cluster {target}"),
    "cluster.remove": _("Remove the cluster {target}"),
    "cluster.start_embedded": _("Start the embedded cluster"),
    "broker.gone": _("Declare the broker {target} gone for good"),
    "group.add": _("Host the group {target}"),
    "group.change": _("Change the hosted group {target}"),
    "group.remove": _("Stop hosting the group {target}"),
    "member.add": _("Add a member to {target}"),
    "member.remove": _("Remove a member from {target}"),
    "strategy.switch": _("Switch the strategy or members of {target}"),
    "strategy.undo": _("Undo a switch of {target}"),
    "scenario.save": _("Save the scenario {target}"),
    "scenario.share": _("Share the scenario {target}"),
    "scenario.unshare": _("Stop sharing the scenario {target}"),
    "scenario.delete": _("Delete the scenario {target}"),
    "view.save": _("Save the view {target}"),
    "view.rename": _("Rename the view {target}"),
    "view.share": _("Share the view {target}"),
    "view.unshare": _("Stop sharing the view {target}"),
    "view.delete": _("Delete the view {target}"),
    "offsets.move": _("Move the offsets of {target}"),
    "offsets.undo": _("Undo a move of the offsets of {target}"),
    "message.look": _("Look at the body of a message, {target}"),
    "message.send": _("Send a message to {target}"),
    "message.resend": _("Send a message to {target} again"),
    "message.consume": _("Let {target} consume a message again"),
    "dead_letters.look": _("Look at the bodies of dead letters of {target}"),
    "dead_letters.resend": _("Resend dead letters of {target}"),
    "dead_letters.stop": _("Stop resending dead letters of {target}"),
    "lab.start": _("Start the lab {target}"),
    "lab.cancel": _("Cancel the lab {target}"),
    "report.start": _("Make a report: {target}"),
    "report.cancel": _("Cancel a report: {target}"),
    "report.delete": _("Delete a report: {target}"),
    "report.expire": _("Delete reports that were kept long enough"),
    "alert.acknowledge": _("Look at an alert of the rule {target}"),
    "alert_rule.add": _("Make the alert rule {target}"),
    "alert_rule.change": _("Change the alert rule {target}"),
    "alert_rule.on": _("Switch the alert rule {target} on"),
    "alert_rule.off": _("Switch the alert rule {target} off"),
    "alert_rule.delete": _("Delete the alert rule {target}"),
    "alert_channel.add": _("Make the channel {target}"),
    "alert_channel.change": _("Change the channel {target}"),
    "alert_channel.test": _("Send a test to the channel {target}"),
    "alert_channel.delete": _("Delete the channel {target}"),
    "silence.add": _("Silence alerts of {target}"),
    "silence.end": _("End a silence of {target}"),
    "trial.start": _("Try a rule on the past: {target}"),
    "report.define": _("Define the report {target}"),
    "report.change": _("Change the report {target}"),
    "report.forget": _("Delete the report definition {target}"),
    "configuration.create": _("Create {target}"),
    "configuration.change": _("Change {target}"),
    "configuration.delete": _("Delete {target}"),
}

CONFIGURED: Final[Mapping[str, Promise]] = {
    "create topic": _("Create the topic {target}"),
    "change topic": _("Change the topic {target}"),
    "delete topic": _("Delete the topic {target}"),
    "create group": _("Create the group {target}"),
    "change group": _("Change settings of the group {target}"),
    "delete group": _("Delete the group {target}"),
    "change broker": _("Change settings of the broker {target}"),
    "change writing": _("Change whether the broker {target} takes messages"),
    "create user": _("Create the broker user {target}"),
    "change user": _("Change the broker user {target}"),
    "delete user": _("Delete the broker user {target}"),
    "change rule": _("Change what {target} may do at the brokers"),
}
"""Of changes at brokers, by their action and kind."""


def sentence(entry: AuditEntry) -> str:
    """Return what was asked for, as a sentence."""
    kind = entry.details.get("kind") if isinstance(entry.details, dict) else None
    text = CONFIGURED.get(f"{entry.action.partition('.')[2]} {kind}")
    text = text or SENTENCES.get(entry.action)
    if text is None:
        return f"{entry.action} {entry.target}".strip()
    return str(text).replace("{target}", entry.target or "—")


def action_word(action: str) -> str:
    """Return an action in words, without what it was done to."""
    text = SENTENCES.get(action)
    return action if text is None else str(text).replace("{target}", "…")


def actions_saying(text: str) -> list[str]:
    """Return the actions whose words contain a text, in the reader's language."""
    wanted = text.casefold()
    found = (a for a, said in SENTENCES.items() if wanted in str(said).casefold())
    return list(found) if wanted else []


def details_text(entry: AuditEntry) -> str:
    """Return the details that fit into a line: names and plain values."""
    details = entry.details if isinstance(entry.details, dict) else {}
    return ", ".join(
        f"{name.replace('_', ' ')}: {_written(value)}"
        for name, value in details.items()
        if value not in (None, "", [], {})
    )


def _written(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={_written(each)}" for name, each in value.items())
    if isinstance(value, list):
        return " ".join(_written(each) for each in value[:8])
    return str(value)
