"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from django.urls import path

from . import trial_pages

urlpatterns = [
    path("alerts/trial/", trial_pages.new_trial, name="new_alert_trial"),
    path("alerts/trial/start/", trial_pages.try_rule, name="start_alert_trial"),
    path("alerts/trial/<int:trial_id>/", trial_pages.trial, name="alert_trial"),
]
