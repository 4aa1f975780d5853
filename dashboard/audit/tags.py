"""Filters of the audit page."""

from __future__ import annotations

from django import template

from .words import details_text, sentence

register = template.Library()
register.filter("audit_sentence", sentence)
register.filter("audit_details", details_text)
