"""Comparisons beyond the strategies that need no input: options and members.

Options of strategies are checked by the code that will use them. For a hosted group
they are known and need not be entered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from django.utils.translation import gettext as _

from analytics.contracts import KNOWN
from analytics.division import candidates_of
from analytics.errors import JobError
from dashboard.models import JobRun, ManagedGroup
from dashboard.reports.request.epochs import epochs_between
from dashboard.reports.request.refusals import ReportRefusedError
from dashboard.whatif.model.scenario import QUEUE_LIMIT
from dashboard.wording.lists import from_lists
from dashboard.wording.names import member_number

CONSISTENT_HASH: Final = "CONSISTENT_HASH"
MACHINE_ROOM: Final = "MACHINE_ROOM"
CONFIG: Final = "CONFIG"

MOST_COMPARED: Final = 4
"""Each is one more division of every epoch, and one more line in every chart."""

MOST_ADDED: Final = 100
MOST_VIRTUAL_NODES: Final = 1_000
MOST_OPTION_BYTES: Final = 200_000

Options = Mapping[str, Mapping[str, Any]]
KnownEpoch = tuple[list[dict[str, Any]], dict[str, Any] | None]
"""Members of an epoch, and the options of their strategy where these are known."""


def check_comparisons(added: Sequence[int], options: Options) -> None:
    """Raise `ReportRefusedError` for the first value that is not valid."""
    if len(added) > MOST_COMPARED:
        raise ReportRefusedError(
            _("Members more or fewer: %(count)s numbers, at most %(most)s.")
            % {"count": len(added), "most": MOST_COMPARED},
            "added_members",
        )
    for number in added:
        if number == 0 or abs(number) > MOST_ADDED:
            raise ReportRefusedError(
                _(
                    "Members more or fewer: %(number)s is not between -%(most)s and "
                    "+%(most)s, or is 0."
                )
                % {"number": number, "most": MOST_ADDED},
                "added_members",
            )
    size = len(json.dumps(options))
    if size > MOST_OPTION_BYTES:
        raise ReportRefusedError(
            _("Options of strategies: %(size)s bytes, at most %(most)s.")
            % {"size": size, "most": MOST_OPTION_BYTES},
            "options",
        )
    nodes = options.get(CONSISTENT_HASH, {}).get("virtual_nodes", 1)
    if isinstance(nodes, int) and not 1 <= nodes <= MOST_VIRTUAL_NODES:
        raise ReportRefusedError(
            _("Virtual nodes: %(count)s is not between 1 and %(most)s.")
            % {"count": nodes, "most": MOST_VIRTUAL_NODES},
            "virtual_nodes",
        )
    try:
        candidates_of(options, added)
    except (JobError, TypeError, ValueError) as error:
        raise ReportRefusedError(
            _("Options of strategies: %(reason)s") % {"reason": error}, "options"
        ) from None


def with_known_options(run: JobRun) -> dict[str, Any]:
    """Return a run's options, with those of its group if it is hosted here.

    Entered options take precedence over known ones, which are marked as such: an epoch
    that had the strategy with its own options is divided by those. Lists of a `CONFIG`
    belong to a member's number: every client id that had it in the period gets its
    list.
    """
    options = dict(run.options)
    if not run.group:
        return options
    hosted = ManagedGroup.objects.filter(cluster__name=run.cluster, name=run.group)
    group = hosted.first()
    within = epochs_between(run.cluster, run.group, run.since, run.until)
    epochs = list(within.values_list("members", "options"))
    for name, given in _present_options(group, epochs).items():
        options.setdefault(name, given | {KNOWN: True})
    for name in _in_use(epochs):
        # Computed where it was in use, even if the group is divided differently today.
        options.setdefault(name, {KNOWN: True})
    return options


def _present_options(
    group: ManagedGroup | None, epochs: Iterable[KnownEpoch]
) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    known = group.strategy_options if group else {}
    if "virtual_nodes" in known:
        found[CONSISTENT_HASH] = {"virtual_nodes": known["virtual_nodes"]}
    if "rooms" in known:
        found[MACHINE_ROOM] = {"rooms": list(known["rooms"])}
    if group is not None and "config" in known:
        lists = _by_client(known["config"], _client_ids(epochs), group.name)
        if lists:
            found[CONFIG] = {"config": lists}
    return found


def _in_use(epochs: Iterable[KnownEpoch]) -> set[str]:
    """Return the strategies that require options and were in use with known ones."""
    named = (
        {member["strategy"] for member in members}
        for members, options in epochs
        if options
    )
    return {strategy for names in named if len(names) == 1 for strategy in names}


def _by_client(
    kept: Mapping[str, Any], client_ids: Iterable[str], group: str
) -> dict[str, list[list[Any]]]:
    lists = {
        number: [[each.topic, each.broker_name, each.queue_id] for each in queues]
        for number, queues in from_lists("config", kept, limit=QUEUE_LIMIT).items()
    }
    numbers = {each: str(member_number(each, group)) for each in client_ids}
    return {each: lists[number] for each, number in numbers.items() if number in lists}


def _client_ids(epochs: Iterable[KnownEpoch]) -> set[str]:
    return {member["client_id"] for members, _options in epochs for member in members}
