"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from django.urls import path

from . import pages, rule_pages, silence_pages, trial_pages

urlpatterns = [
    path("alerts/", pages.alerts, name="alerts"),
    path("alerts/<int:pk>/", pages.alert, name="alert"),
    path(
        "alerts/<int:pk>/acknowledge/",
        pages.acknowledge_one,
        name="alert_acknowledge",
    ),
    path("alerts/history/", pages.history, name="alert_history"),
    path("alerts/history/alerts.csv", pages.export, name="alert_export"),
    path("alerts/rules/new/", rule_pages.new, name="alert_rule_new"),
    path("alerts/rules/matching/", rule_pages.matching, name="alert_rule_matching"),
    path("alerts/rules/<int:pk>/", rule_pages.change, name="alert_rule"),
    path("alerts/rules/<int:pk>/switch/", rule_pages.switch, name="alert_rule_switch"),
    path("alerts/rules/<int:pk>/test/", rule_pages.send_test, name="alert_rule_test"),
    path("alerts/rules/<int:pk>/delete/", rule_pages.delete, name="alert_rule_delete"),
    path("alerts/silences/", silence_pages.silences, name="alert_silences"),
    path("alerts/silences/new/", silence_pages.new, name="alert_silence_new"),
    path("alerts/silences/<int:pk>/end/", silence_pages.end, name="alert_silence_end"),
    path("alerts/trial/", trial_pages.new_trial, name="new_alert_trial"),
    path("alerts/trial/start/", trial_pages.try_rule, name="start_alert_trial"),
    path("alerts/trial/<int:trial_id>/", trial_pages.trial, name="alert_trial"),
]
