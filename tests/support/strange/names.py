"""Names as odd as brokers and clients let through: Hypothesis strategies.

Topics and groups are checked where they are created, client ids and broker names are
not; offsets may be committed for a group that nobody ever created, under any name.
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

LONGEST: Final = 255

ODD: Final = (
    "a|b",
    "|",
    "%s%d%(x)s",
    "%RETRY%g",
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "{left} {0} {{%",
    "订单-群組-🚀",
    "e\u0301\u202eרתוי",
    "two\nlines",
    "tab\tand \\ \"quotes' &amp;",
    "../x?y=z#w",
    " ",
    "n" * LONGEST,
)
"""What pages, formats, keys and addresses stumble over, the likeliest first."""

MARKUP: Final = ("<script>", "<img")
"""What no page may contain as it stands."""


def topics() -> st.SearchStrategy[str]:
    """Names of topics; brokers know none that is empty or has the separator `@`."""
    return _names("orders", "payments")


def groups() -> st.SearchStrategy[str]:
    """Names of groups; offsets may be committed even for one without a name.

    None has the separator `@`: the table of offsets cannot tell where such one begins.
    """
    return _names("settlement", "audit", last=("team/service", ""))


def brokers() -> st.SearchStrategy[str]:
    """Names of brokers, which are whatever their configuration says."""
    return _names("broker-a", "broker-b", "broker-c")


def client_ids() -> st.SearchStrategy[str]:
    """Client ids: Java's own, gRPC's, chosen ones, and none at all."""
    return _names(
        "10.0.0.1@1#1",
        "10.0.0.2@2#2",
        "10.0.0.3@DEFAULT",
        last=("host@12@0@1a2b3c", "@", ""),
    )


def _names(*plain: str, last: tuple[str, ...] = ()) -> st.SearchStrategy[str]:
    # Plain names first: failing examples shrink towards them.
    return st.sampled_from((*plain, *ODD, *last))
