"""The document on how the rules of alerts stand in a cluster, as in the cache.

Written by the leader after each sweep of all groups. What is open, and what was, is in
the database; this says how each rule stood when it was last looked at.
"""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict


class RuleState(TypedDict):
    """How many groups (or brokers) a rule is about, and how it stands for them.

    `pending` ones hold, but not for long enough yet. `unknown` ones cannot be told,
    since `unknown_since` the earliest of them; `unknown_names` are the first of them.
    """

    subjects: int
    firing: int
    pending: int
    unknown: int
    unknown_since: int | None
    unknown_names: list[str]


class AlertingDocument(TypedDict):
    """The rules that are on for this cluster, by their number as text.

    `fault` is set while a fault of ours keeps some rules from being judged, or what was
    found from being written.
    """

    cluster: str
    taken_at: int
    rules: dict[str, RuleState]
    fault: NotRequired[str]
