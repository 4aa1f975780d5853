"""The read-only page of the audit trail."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import requires
from dashboard.models import AuditEntry, Role

AUDIT_ROWS = 100


@require_safe
@requires(Role.VIEWER)
def audit(request: HttpRequest) -> HttpResponse:
    """List the entries that name a text as who, what, where or why; newest first."""
    text = request.GET.get("q", "").strip()[:150]
    entries = AuditEntry.objects.search(text)
    page = Paginator(entries, AUDIT_ROWS).get_page(request.GET.get("page"))
    return render(request, "audit/list.html", {"page": page, "text": text})
