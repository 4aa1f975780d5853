"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from django.urls import path

from . import pages, tail_pages

urlpatterns = [
    path("messages/", pages.messages, name="messages"),
    path("messages/one/", pages.message, name="message"),
    path("messages/one/body/", pages.body, name="message_body"),
    path("messages/one/resend/", pages.resend, name="message_resend"),
    path("messages/send/", pages.send, name="message_send"),
    path("messages/tail/", tail_pages.tail, name="message_tail"),
    path("messages/tail/step/", tail_pages.step, name="message_tail_step"),
]
