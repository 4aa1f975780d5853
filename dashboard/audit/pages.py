"""The audit trail as a page and as files, for admins: it has names and addresses."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import requires
from dashboard.models import AuditEntry, Role
from dashboard.models.audit import AuditEntries

from .export import FORMATS

AUDIT_ROWS: Final = 100
KINDS: Final = ("sign-ins", "changes")


@require_safe
@requires(Role.ADMIN)
def audit(request: HttpRequest) -> HttpResponse:
    """List the entries that match the filters; newest first."""
    text, kind = _filters(request)
    page = Paginator(_chosen(text, kind), AUDIT_ROWS).get_page(request.GET.get("page"))
    given = {"q": text, "kind": kind}
    return render(
        request,
        "audit/list.html",
        {
            "page": page,
            "text": text,
            "kind": kind,
            "query": urlencode({name: value for name, value in given.items() if value}),
            "formats": FORMATS,
        },
    )


@never_cache
@require_safe
@requires(Role.ADMIN)
def export(request: HttpRequest, form: str) -> StreamingHttpResponse:
    """Stream all entries that match the filters of the page."""
    if form not in FORMATS:
        raise Http404(_("There is no format “%(name)s”.") % {"name": form})
    content_type, pieces = FORMATS[form]
    return StreamingHttpResponse(
        pieces(_chosen(*_filters(request))),
        content_type=content_type,
        headers={"Content-Disposition": f'attachment; filename="audit.{form}"'},
    )


def _filters(request: HttpRequest) -> tuple[str, str]:
    kind = request.GET.get("kind", "")
    text = request.GET.get("q", "").replace("\0", "").strip()[:150]
    return text, kind if kind in KINDS else ""


def _chosen(text: str, kind: str) -> AuditEntries:
    return AuditEntry.objects.search(text).of_kind(kind)
