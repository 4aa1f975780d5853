"""That the list of groups says the same whether rows or their columns are read."""

from __future__ import annotations

from itertools import count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dashboard.accounts.owners import Owned, Owner, Owners
from dashboard.brokers.reach import reach_of
from dashboard.frame.tables import Index
from dashboard.live.kept_overviews import forget_overviews
from dashboard.live.overview_rows import OverviewEncoder, fields_of, open_overview
from dashboard.overview.table import LEVELS, groups_table
from tests.dashboard.documents import overview, overview_row

OWNERS = Owners([Owned("", "a*", Owner(1, "Payments", "", ""))])
HOLDERS = {"a1": ["10.0.0.1@1"], "B10": ["10.0.0.1@1", "x"]}
KINDS = ("owned", "broadcasting", "offline", "shared_pop", "mixed")
NUMBERS = st.none() | st.integers(0, 9) | st.sampled_from([2.0, 0.5])
NAMES = st.sampled_from(["a1", "a2", "B10", "b9", "Ä", "ü\0x", "日本"])


@st.composite
def rows(draw: st.DrawFn) -> list[Any]:
    numbers = count(1)
    return [
        overview_row(
            f"{draw(NAMES)}{'' if draw(st.booleans()) else next(numbers)}",
            kind=draw(st.sampled_from(KINDS)),
            topics=draw(st.lists(NAMES, max_size=3)),
            status={
                "level": draw(st.sampled_from(LEVELS)),
                "word": draw(st.sampled_from(["healthy", "stalled", "unknown"])),
            },
            strategy={"name": draw(st.none() | NAMES), "source": "reported"},
            lag_partial=draw(st.booleans()),
            **{
                name: draw(NUMBERS)
                for name in ("lag", "oldest_ms", "rate_in", "rate_out", "skew")
            },
            **{name: draw(NUMBERS) for name in ("members", "queues")},
            **draw(
                st.fixed_dictionaries(
                    {},
                    optional={
                        "complete": st.booleans(),
                        "brokers": st.lists(NAMES, max_size=2),
                        "versions": st.lists(st.just("V5_3_1"), max_size=1),
                    },
                )
            ),
        )
        for _ in range(draw(st.integers(0, 8)))
    ]


MOST = 1_000
"""More values than the rows of an example have."""


def table() -> Any:
    return groups_table("hangzhou", lambda: HOLDERS, OWNERS, [1])


@given(rows(), st.text(max_size=2) | NAMES)
def test_rows_and_columns_say_the_same(found: list[Any], text: str) -> None:
    document = overview()
    document["groups"] = found
    opened = open_overview(*OverviewEncoder().encode(document))
    assert opened is not None
    stored = opened["groups"]
    made = table()
    of_rows, of_columns = Index(made, found), Index(made, stored, fields_of(stored))
    assert of_columns.with_text(text) == of_rows.with_text(text)
    for chip in (*made.segments, *made.hidden, *made.only):
        assert of_columns.of_chip(chip) == of_rows.of_chip(chip), chip.key
    for facet in made.facets:
        values = of_rows.values_of(facet, MOST)
        assert values is not None
        assert of_columns.values_of(facet, MOST) == values, facet.key
        for part in *(value[1:].upper() for value in values), "", "none has it":
            having = [v for v in values if part.casefold() in v.casefold()]
            for index in of_rows, of_columns:
                found_by_part = index.with_part(facet, part)
                assert found_by_part == of_rows.with_values(facet, having), part
        for wanted in (*([each] for each in values), values, ["none has it"]):
            picked = of_columns.with_values(facet, wanted)
            assert picked == of_rows.with_values(facet, wanted), (facet.key, wanted)
            assert list(picked.to_bytes(len(found), "little")) == [
                not set(wanted).isdisjoint(facet.values(row)) for row in found
            ], (facet.key, wanted)
    for column in made.columns:
        for sort in (column.key, f"-{column.key}") if column.sorts else ():
            assert of_columns.order(sort) == of_rows.order(sort), sort
    assert of_columns.order("") == of_rows.order("")
    forget_overviews()
    reached = [reach_of(each) for each in (document, opened)]
    assert reached[0].partial_lags == reached[1].partial_lags
    assert reached[0].partial_groups == reached[1].partial_groups


def test_whatever_filters_or_sorts_says_what_it_reads() -> None:
    """Without that, the first reader after a sweep waits until all rows are parsed."""
    made = table()
    judging = [*made.segments, *made.hidden, *made.only, *made.facets]
    judging += [column for column in made.columns if column.sorts]
    document = overview()
    opened = open_overview(*OverviewEncoder().encode(document))
    assert opened is not None
    fields = fields_of(opened["groups"])
    assert fields is not None
    unread = [each.key for each in judging if not fields.have(each.reads)]
    assert unread == []
    assert fields.have(made.rank_reads)
    assert fields.have(made.texts_reads)
