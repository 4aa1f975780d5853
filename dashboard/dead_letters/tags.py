"""Template tags of the pages about dead letters and retries."""

from __future__ import annotations

from django import template

from dashboard.frame.hours import hour_chart
from dashboard.frame.messages import cuts, moments
from dashboard.wording import sizes

register = template.Library()
register.simple_tag(hour_chart)
register.filter("exact", moments.exact)
register.filter("byte_size", sizes.size)
register.filter("cuts_said", cuts.cuts_said)
