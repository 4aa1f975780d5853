"""The audit trail as a page and as files, for admins: it has names and addresses."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import requires
from dashboard.frame.clusters import shown_clusters
from dashboard.models import AuditEntry, Role

from .export import FORMATS
from .filters import KINDS, read_filters
from .words import SENTENCES, action_word

AUDIT_ROWS: Final = 100


@require_safe
@requires(Role.ADMIN)
def audit(request: HttpRequest) -> HttpResponse:
    """List the entries that match the filters; newest first."""
    filters = read_filters(request.GET.dict())
    page = Paginator(filters.chosen(), AUDIT_ROWS).get_page(request.GET.get("page"))
    return render(
        request,
        "audit/list.html",
        {
            "page": page,
            "filters": filters,
            "kinds": [(kind, replace(filters, kind=kind)) for kind in ("", *KINDS)],
            "actions": sorted(((a, action_word(a)) for a in SENTENCES), key=_by_word),
            "outcomes": AuditEntry.Outcome.values,
            "clusters": shown_clusters(request.user),
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
        pieces(read_filters(request.GET.dict()).chosen()),
        content_type=content_type,
        headers={"Content-Disposition": f'attachment; filename="audit.{form}"'},
    )


def _by_word(choice: tuple[str, str]) -> str:
    return choice[1].casefold()
