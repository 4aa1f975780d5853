"""Contacts lead to the web or to a mailbox, and never run a script."""

from __future__ import annotations

import pytest

from dashboard.wording.links import contact_link


@pytest.mark.parametrize(
    ("typed", "link"),
    [
        ("https://chat.example.org/pay", "https://chat.example.org/pay"),
        ("HTTP://example.org", "HTTP://example.org"),
        ("mailto:pay@example.org", "mailto:pay@example.org"),
        ("pay+night@example.org", "mailto:pay+night@example.org"),
        ("#payments on chat", ""),
        ("+49 30 1234", ""),
        ("javascript:alert(1)", ""),
        ("JavaScript://example.org/%0aalert(1)", ""),
        ("java\tscript:alert(1)", ""),
        (" \x01javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("//example.org", ""),
        ("https:///nowhere", ""),
        ("https://[broken", ""),
        ("mailto:", ""),
        ("javascript:x@example.org", ""),
        ("https://example.org/a b", ""),
        ("", ""),
    ],
)
def test_only_addresses_lead_somewhere(typed: str, link: str) -> None:
    assert contact_link(typed) == link
