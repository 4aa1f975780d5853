"""The pages of channels, for admins of everything: list, form, test, delete."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from dashboard.accounts.permissions import requires, user_of
from dashboard.models import AlertMessage, AlertRule, Channel, Role

from .channel_writes import delete_channel, save_channel, scheme_of, send_test
from .place_forms import ChannelForm
from .refusals import AlertRefusedError

What, State = AlertMessage.What, AlertMessage.State


@require_safe
@requires(Role.ADMIN)
def channels(request: HttpRequest) -> HttpResponse:
    """List the channels with what became of the last message to each."""
    found = Channel.objects.annotate(
        sent=Count("alertmessage", filter=Q(alertmessage__state=State.SENT)),
        failed=Count("alertmessage", filter=Q(alertmessage__state=State.GIVEN_UP)),
        last=Max("alertmessage"),
    )
    last = AlertMessage.objects.in_bulk([each.last for each in found if each.last])
    counts = AlertRule.objects.values_list("channels").annotate(n=Count("pk"))
    rules = dict(counts.order_by())
    rows = [
        (each, scheme_of(each), rules.get(each.pk, 0), last.get(each.last))
        for each in found
    ]
    is_waiting = any(each.state == State.WAITING for each in last.values())
    context = {"rows": rows, "is_waiting": is_waiting}
    template = "alerts/channels_live.html"
    if not request.headers.get("X-Fragment"):
        template = "alerts/channels.html"
    return render(request, template, context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
def new(request: HttpRequest) -> HttpResponse:
    """Show an empty form; save it."""
    return _form(request, None)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a channel's form without its address, or save it."""
    return _form(request, get_object_or_404(Channel, pk=pk))


@require_POST
@requires(Role.ADMIN)
def test(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a test to a channel, and go to the list, which shows what became of it."""
    channel = get_object_or_404(Channel, pk=pk)
    send_test(channel, by=user_of(request))
    return redirect("alert_channels")


@require_POST
@requires(Role.ADMIN)
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a channel."""
    channel = get_object_or_404(Channel, pk=pk)
    delete_channel(channel, by=user_of(request))
    messages.success(request, _("“%(name)s” is deleted.") % {"name": channel.name})
    return redirect("alert_channels")


def _form(request: HttpRequest, channel: Channel | None) -> HttpResponse:
    initial = {"language": get_language()}
    if channel is not None:
        initial = {"name": channel.name, "language": channel.language}
        initial["on"] = channel.on  # type: ignore[assignment]
    sent = request.POST if request.method == "POST" else None
    form = ChannelForm(sent, initial=initial)
    if form.is_valid():
        given = form.cleaned_data
        try:
            saved = save_channel(
                given["name"],
                by=user_of(request),
                address=given["address"],
                language=given["language"],
                on=given["on"],
                channel=channel,
            )
        except AlertRefusedError as refusal:
            form.refuse(refusal)
        else:
            messages.success(request, _("“%(name)s” is saved.") % {"name": saved.name})
            return redirect("alert_channels")
    context = {
        "channel": channel,
        "scheme": scheme_of(channel) if channel else "",
        "form": form,
    }
    status = 422 if form.errors else 200
    return render(request, "alerts/channel.html", context, status=status)
