"""Tags of a topic's page."""

from __future__ import annotations

from django import template

from dashboard.frame.hours import hour_chart

from .chart import history_chart, summary

register = template.Library()
register.simple_tag(hour_chart)
register.simple_tag(history_chart)
register.simple_tag(summary, name="history_summary")
