"""Where a form returns to, which is always a page of ours."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme


def back_to_next(request: HttpRequest, otherwise: str) -> HttpResponseRedirect:
    """Go to the page that the form names as `next`, else to the view `otherwise`."""
    return back_to(request, request.POST.get("next", ""), otherwise)


def back_to(request: HttpRequest, wanted: str, otherwise: str) -> HttpResponseRedirect:
    """Go to an address if it is one of ours, else to the view `otherwise`."""
    safe = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return HttpResponseRedirect(wanted if safe else reverse(otherwise))
