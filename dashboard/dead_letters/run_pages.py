"""Resending: the preview, the start, a run's progress and its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from dashboard.accounts.permissions import allows, requires, user_of
from dashboard.frame.clusters import find_cluster
from dashboard.frame.messages.rights import masks
from dashboard.frame.reasons import MAX_REASON
from dashboard.frame.tables import TableQuery, csv_response, page_of
from dashboard.gateway.dead_letters import DeadLetter, DeadLetters
from dashboard.groups.pages import group_context
from dashboard.jobs.retention import RESEND_DAYS
from dashboard.live.reading import read_group
from dashboard.models import Cluster, ResendRun, Role
from rmqcore.errors import ArgumentError, RmqError
from rmqcore.model.topic import retry_topic

from .export import letter_record
from .forms import FIRST_RATE, MOST_RATE, Asked, ResendForm
from .pages import now, openings_of, page_of_letters
from .reads import effect_of, letters_of, marks_of, progress_of, run_of
from .table import sent_table
from .writes import (
    ResendRefusedError,
    Wish,
    start_resend,
    stop_resend,
    to_send,
    token_of,
    why_not_to_group,
)

FOLLOWED = timedelta(minutes=2)
"""So long after its end a run's page shows what the group consumes of it."""

SHOWN = 20
"""Dead letters that the preview lists."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be resent; `before` counts those of the choice resent earlier."""

    letters: Sequence[DeadLetter]
    before: int
    found: DeadLetters

    @property
    def topics(self) -> Sequence[tuple[str, int]]:
        """The original topics and how many of the letters each had, most first."""
        return Counter(each.topic or "" for each in self.letters).most_common()

    @property
    def homeless(self) -> int:
        """How many do not say from which topic they came: they cannot be resent."""
        return sum(each.topic is None for each in self.letters)

    @property
    def partial(self) -> bool:
        """Whether there may be more dead letters of the choice than could be read."""
        return bool(self.found.failed or self.found.cuts or self.found.write_only)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.OPERATOR)
def resend(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Preview what would be resent; a POST starts it."""
    found = find_cluster(cluster)
    if request.method == "POST":
        return _start(request, found, group)
    return _preview_page(request, found, group, request.GET)


@require_safe
@requires(Role.VIEWER)
def run(request: HttpRequest, cluster: str, group: str, pk: int) -> HttpResponseBase:
    """Show how far a run is, and what the group has consumed since."""
    found = _run(cluster, group, pk)
    table = sent_table(found)
    query = TableQuery.from_params(request.GET.dict(), table)
    page = page_of(table, found.letters.all(), query)
    if request.GET.get("format") == "csv":
        return csv_response(page, f"resent-{found.pk}")
    progress = progress_of(found)
    context = group_context(request, cluster, group, "dead_letters") | {
        "run": found,
        "retry_topic": retry_topic(group),
        "progress": progress,
        "followed": _is_followed(found),
        "effect": effect_of(found) if progress.sent and not found.is_active else None,
        "page_list": page,
        "may_resend": allows(request.user, Role.OPERATOR),
        "days": RESEND_DAYS,
    }
    name = "run_live" if request.headers.get("X-Fragment") else "run"
    response = render(request, f"dead_letters/{name}.html", context)
    response["Vary"] = "X-Fragment, Cookie"
    return response


@require_POST
@requires(Role.OPERATOR)
def stop(request: HttpRequest, cluster: str, group: str, pk: int) -> HttpResponse:
    """Ask a run to stop."""
    stop_resend(user_of(request), _run(cluster, group, pk))
    return redirect("group_dead_letters_run", cluster, group, pk)


def preview_of(cluster: Cluster, group: str, params: QueryDict) -> Preview:
    """Return what an address chooses.

    Raise ArgumentError for an address that cannot be read, and RmqError when the
    cluster is silent.
    """
    asked, only = Asked.of(params, now()), params.get("only", "")
    if asked.problem:
        raise ArgumentError(asked.problem)
    if only not in ("", "all", "chosen"):
        raise ArgumentError(f"only is {only!r}, it must be all or chosen")
    found = letters_of(cluster.name, group, asked.span, now())
    page = page_of_letters(cluster, group, found, params.dict(), asked)
    chosen: Sequence[DeadLetter] = page.chosen
    if only == "chosen":
        wanted = set(params.getlist("letter"))
        chosen = [each for each in found.letters if each.id in wanted]
    marks = marks_of(cluster.name, chosen)
    letters = to_send(chosen, marks, again=params.get("again") == "on")
    before = sum(each.id in marks for each in chosen)
    return Preview(letters, before, found)


# Private, in order of first use


def _start(request: HttpRequest, cluster: Cluster, group: str) -> HttpResponse:
    params = QueryDict(request.POST.get("query", ""))
    form = ResendForm(request.POST)
    if not form.is_valid():
        field, errors = next(iter(form.errors.items()))
        refusal = f"{errors[0]}" if field == "reason" else f"{field}: {errors[0]}"
        return _preview_page(request, cluster, group, params, refusal)
    given = form.cleaned_data
    wish = Wish(given["target"], given["rate"], given["reason"], params.urlencode())
    try:
        started = start_resend(
            *(user_of(request), cluster, group),
            preview_of(cluster, group, params).letters,
            wish,
            token=given["token"],
            state=read_group(cluster.name, group).document,
        )
    except (ResendRefusedError, RmqError) as error:
        return _preview_page(request, cluster, group, params, str(error))
    return redirect("group_dead_letters_run", cluster.name, group, started.pk)


def _preview_page(
    request: HttpRequest,
    cluster: Cluster,
    group: str,
    params: QueryDict,
    refusal: str = "",
) -> HttpResponse:
    context = group_context(request, cluster.name, group, "dead_letters") | {
        "refusal_said": refusal,
        "retry_topic": retry_topic(group),
        "query": params.urlencode(),
        "again_query": _with_again(params),
        "again": params.get("again") == "on",
        "rate": request.POST.get("rate", FIRST_RATE),
        "most_rate": MOST_RATE,
        "reason": request.POST.get("reason", ""),
        "longest_reason": MAX_REASON,
        "target": request.POST.get("target", ""),
        "why_not_group": why_not_to_group(read_group(cluster.name, group).document),
    }
    try:
        preview = preview_of(cluster, group, params)
    except ArgumentError as error:
        context["refusal_said"] = refusal = str(error)
    except RmqError as error:
        context["failed"] = str(error)
    else:
        context |= {
            "preview": preview,
            "openings": openings_of(cluster, group, preview.found),
            "shown": [letter_record(each, masks()) for each in preview.letters[:SHOWN]],
            "hidden": max(0, len(preview.letters) - SHOWN),
            "token": token_of(preview.letters),
        }
    status = 409 if refusal else 200
    return render(request, "dead_letters/resend.html", context, status=status)


def _with_again(params: QueryDict) -> str:
    """Return the address with the other choice about letters resent before."""
    pairs = [(n, v) for n, values in params.lists() for v in values if n != "again"]
    if params.get("again") != "on":
        pairs.append(("again", "on"))
    return urlencode(pairs)


def _is_followed(run: ResendRun) -> bool:
    ended = run.finished_at
    return run.is_active or (ended is not None and timezone.now() - ended < FOLLOWED)


def _run(cluster: str, group: str, pk: int) -> ResendRun:
    found = run_of(find_cluster(cluster).name, group, pk)
    if found is None:
        raise Http404(
            _("There is no run %(pk)s of this group; runs are kept for %(days)s days.")
            % {"pk": pk, "days": RESEND_DAYS}
        )
    return found
