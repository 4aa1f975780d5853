"""What holds for any group and scenario: nothing fails, nothing is stated unknown."""

from __future__ import annotations

from math import fsum, isfinite
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.switching.guide import guide_of
from dashboard.switching.reads import preview_of
from dashboard.whatif.forms import form_rows
from dashboard.whatif.members import member_rows, score_rows
from dashboard.whatif.model import (
    NEVER,
    NOW,
    STRATEGY_NAMES,
    Comparison,
    Figures,
    Scenario,
    compare,
    comparison_document,
    member_lines,
    mixing,
    read_situation,
    strategy_lines,
    to_query,
)
from dashboard.whatif.reads import chosen_row, shown_moves, shown_rows
from rmqcore.errors import ArgumentError

from .odd import documents, scenarios


@settings(max_examples=250, deadline=None)
@given(documents(), scenarios())
def test_figures_are_right_or_said_to_be_unknown(
    document: dict[str, Any], scenario: Scenario
) -> None:
    comparison = compare(read_situation(document), scenario)
    _check_situation(document, comparison)
    for row in comparison.rows:
        assert (row.figures is None) == (row.reason is not None)
        if row.figures is not None:
            _check_figures(comparison, row.key, row.figures)
    _check_written(comparison)


@settings(max_examples=150, deadline=None)
@given(documents(), scenarios(), st.sampled_from(["", *STRATEGY_NAMES, "BALANCED"]))
def test_only_divisions_that_leave_nothing_out_get_a_star(
    document: dict[str, Any], scenario: Scenario, show: str
) -> None:
    comparison = compare(read_situation(document), scenario)
    rows = shown_rows(comparison, chosen_row(comparison, show))
    assert sum(row.chosen for row in rows) == 1
    for row in rows:
        shown_moves(row)
        if not row.best:
            continue
        figures = comparison.row(row.key).figures
        assert figures is not None
        assert not row.is_now
        owners = [set(holders) for holders in figures.owners]
        assert all(len(holders) == 1 for holders in owners)
        listed = comparison.after.members
        assert all(listed.count(holder) == 1 for (holder,) in owners)
        if "changes" in row.best:
            assert not figures.unheard
        if row.best & {"balance", "variation", "gini"}:
            loads = comparison.columns
            assert None not in loads.rates or not loads.weights.is_rate


@settings(max_examples=150, deadline=None)
@given(documents(), scenarios(), st.sampled_from(["", *STRATEGY_NAMES, "BALANCED"]))
def test_every_row_that_can_be_computed_previews_and_so_does_an_empty_group(
    document: dict[str, Any], scenario: Scenario, show: str
) -> None:
    comparison = compare(read_situation(document), scenario)
    empty = not (comparison.after.members and comparison.after.queues)
    query = to_query(scenario)
    asked = show or scenario.strategy or ""
    computed = not asked or comparison.row(asked).figures is not None
    if not (computed or empty):
        with pytest.raises(ArgumentError, match="cannot be computed"):
            preview_of(document, None, query, show=show)  # type: ignore[arg-type]
        return
    nearby = "MACHINE_ROOM_NEARBY"
    row = asked or comparison.before.strategy or ""
    if empty and scenario.inner == nearby and row.partition("-")[0] == nearby:
        with pytest.raises(ArgumentError, match="cannot stand inside"):
            preview_of(document, None, query, show=show)  # type: ignore[arg-type]
        return
    preview = preview_of(document, None, query, show=show)  # type: ignore[arg-type]
    assert preview.row != NOW
    if empty:
        assert (preview.then, preview.transfers) == (preview.now, ())
    assert guide_of(preview, ["127.0.0.1:9876"], []).python


def _check_situation(document: dict[str, Any], comparison: Comparison) -> None:
    """Each queue that somebody reads is there, those of missing brokers, too."""
    before = comparison.before
    divided = [
        row for row in document["queues"] if row["unknown"].get("owners") != "not_read"
    ]
    assert len(before.queues) == len(divided)
    codes = [note.code.partition("_")[0] for note in comparison.notes]
    assert codes.count("incomplete") == (not before.complete)
    states = {state.queue: state for state in before.queues}
    for row in divided:
        (state,) = (
            each
            for queue, each in states.items()
            if (queue.topic, queue.broker_name, queue.queue_id)
            == (row["topic"], row["broker"], row["queue_id"])
        )
        empty = None not in (row["min"], row["max"]) and row["max"] <= row["min"]
        assert state.lag == (0 if row["lag"] is None and empty else row["lag"])
        assert not (state.heard and not state.owners and row["unknown"].get("owners"))


def _check_figures(comparison: Comparison, key: str, figures: Figures) -> None:
    columns, is_now = figures.columns, key == NOW
    unknown = columns.unheard if is_now else frozenset()
    assert figures.unknown == unknown
    reads = comparison.after.reads
    for at, holders in enumerate(figures.owners):
        assert len(set(holders)) == len(holders)
        if not is_now:
            topic = columns.topics[at]
            assert all(topic in reads.get(each, (topic,)) for each in holders)
    nobody = [
        at
        for at, holders in enumerate(figures.owners)
        if not holders and at not in unknown
    ]
    assert figures.unassigned == len(nobody)
    _check_moves(figures)
    _check_evenness(comparison, figures)
    for member in figures.members:
        _check_member(figures, member.client_id)
    finite = figures.worst_drain_s
    assert finite is None or finite == NEVER or isfinite(finite)
    if unknown:
        assert figures.idle is None
        assert not figures.full


def _check_moves(figures: Figures) -> None:
    columns = figures.columns
    assert not set(figures.changed) & columns.unheard
    changed = {
        at
        for at, before in enumerate(columns.present)
        if before is not None
        and at not in columns.unheard
        and set(before) != set(figures.owners[at])
    }
    assert changed == set(figures.changed)
    assert len(figures.changed) == len(changed)
    mixing(figures)


def _check_evenness(comparison: Comparison, figures: Figures) -> None:
    columns = figures.columns
    owned = all(figures.owners)
    for scores, values in (
        (figures.by_lag, columns.lags),
        (figures.by_load, columns.rates if columns.weights.is_rate else ()),
        (figures.by_queues, ()),
    ):
        known = owned and None not in values and scores is not None
        if scores is not None and scores.max_over_mean is not None:
            assert known
        elif known and figures.members:
            raise AssertionError((scores, values, figures.owners))


def _check_member(figures: Figures, client_id: str) -> None:
    columns = figures.columns
    (member,) = (each for each in figures.members if each.client_id == client_id)
    mine = [at for at, holders in enumerate(figures.owners) if client_id in holders]
    lags = [columns.lags[at] for at in mine]
    rates = [columns.rates[at] for at in mine]
    known = [lag for lag in lags if lag is not None]
    assert member.queues == len(mine)
    assert member.lag_partial == (len(known) < len(lags) or bool(figures.unknown))
    if known or not (lags or figures.unknown):
        assert member.lag == fsum(known)
    else:
        assert member.lag is None
    if columns.weights.is_rate and None in rates:
        assert member.load_assumed
    if member.drain_s not in (None, NEVER):
        assert None not in lags
        assert not figures.unknown
    if member.drain_s == NEVER:
        assert any(rates) or any(lags)


def _check_written(comparison: Comparison) -> None:
    document = comparison_document(comparison)
    assert document["complete"] == comparison.before.complete
    for row in document["rows"]:
        if "owners" in row:
            assert len(row["owners"]) == len(document["queues"])
            assert all(row["owners"][at] is None for at in row["unheard"]) == (
                row["key"] == NOW or not row["unheard"]
            )
    assert len(list(strategy_lines(comparison))) == len(comparison.rows)
    list(member_lines(comparison))
    form_rows(comparison)
    for row in comparison.rows:
        member_rows(comparison, row)
        score_rows(comparison, row)
