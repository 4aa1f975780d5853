"""Every action that is recorded has a sentence, and every sentence an action."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

import dashboard
from dashboard.audit.words import (
    CONFIGURED,
    SENTENCES,
    actions_saying,
    details_text,
    sentence,
)
from dashboard.models import AuditEntry
from dashboard.models.audit import SIGN_INS

SOURCE = Path(dashboard.__file__).parent
ACTION = re.compile(r"[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*")
KEEPERS = {"record", "_audit", "_record", "_Wanted", "queue_job"}


def recorded() -> set[str]:
    """Return the actions in the source: texts where something is recorded."""
    found = set(SIGN_INS)
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        if any(name in KEEPERS for name in called(tree)):
            found |= {text for text in texts(tree) if text in SENTENCES}
            found |= {text for text in arguments(tree) if ACTION.fullmatch(text)}
    return found


def called(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def arguments(tree: ast.AST) -> Iterator[str]:
    """Yield the texts given to whatever records."""
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in KEEPERS:
            assert isinstance(node, ast.Call)
            for each in node.args:
                yield from texts(each)


def texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_all_actions_have_sentences_and_no_sentence_is_left_over() -> None:
    made = {"configuration.create", "configuration.change", "configuration.delete"}
    assert recorded() - set(SENTENCES) == set()
    assert set(SENTENCES) - recorded() - made == set()


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (AuditEntry(action="member.add", target="demo"), "Add a member to demo"),
        (AuditEntry(action="member.add"), "Add a member to —"),
        (AuditEntry(action="sign_out", target="olga"), "Sign out"),
        (
            AuditEntry(
                action="configuration.delete", target="x", details={"kind": "topic"}
            ),
            "Delete the topic x",
        ),
        (AuditEntry(action="of.old", target="x{y}"), "of.old x{y}"),
        (AuditEntry(action="user.add", target="{target}"), "Add the user {target}"),
    ],
)
def test_an_entry_says_what_was_asked_for(entry: AuditEntry, text: str) -> None:
    assert sentence(entry) == text


def test_actions_are_found_by_their_words_in_the_readers_language() -> None:
    assert actions_saying("A MEMBER") == ["member.add", "member.remove"]
    assert actions_saying("") == []
    with translation.override("zh-hans"):
        assert "member.add" in actions_saying("成员")


def test_details_are_written_without_braces() -> None:
    details = {"members": 3, "client_id": "", "before": {"role": "viewer"}, "runs": [1]}
    entry = AuditEntry(action="x", details=details)
    assert details_text(entry) == "members: 3, before: role=viewer, runs: 1"


def test_each_configured_thing_is_named() -> None:
    kinds = {text.partition(" ")[2] for text in CONFIGURED}
    assert kinds == {"topic", "group", "broker", "writing", "user", "rule"}
