"""Pages that are also served as a fragment: their own content, without the frame.

A page's script asks for the fragment with the header `X-Fragment` when there is
something new.
The templates are `NAME.html` for the page and `NAME_live.html` for the fragment.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def render_live(
    request: HttpRequest, template: str, context: dict[str, Any]
) -> HttpResponse:
    """Draw the page, or its fragment if the request asks for that."""
    part = "_live" if request.headers.get("X-Fragment") else ""
    response = render(request, f"{template}{part}.html", context)
    response["Vary"] = "X-Fragment, Cookie"
    return response
