"""Addresses below /clusters/<cluster>/.

What does not exist yet has addresses below `new/`, so that a topic or group called
“new” has its own page.
"""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("new/topic/", pages.new_topic, name="topic_new"),
    path("topics/<group:topic>/change/", pages.change_topic, name="topic_change"),
    path("topics/<group:topic>/delete/", pages.delete_topic, name="topic_delete"),
    path("changed/topic/<int:pk>/", pages.changed, name="topic_changed"),
    path("new/group/", pages.new_group, name="group_new"),
    path("groups/<group:group>/settings/", pages.change_group, name="group_settings"),
    path("groups/<group:group>/delete/", pages.delete_group, name="group_delete"),
    path("changed/group/<int:pk>/", pages.changed, name="group_configured"),
    path(
        "brokers/<str:broker>/settings/", pages.broker_settings, name="broker_settings"
    ),
    path("brokers/<str:broker>/writing/", pages.broker_writing, name="broker_writing"),
    path("changed/broker/<int:pk>/", pages.changed, name="broker_configured"),
    path("access/", pages.access, name="broker_access"),
    path(
        "access/new/",
        pages.access_user,
        {"action": "create"},
        name="broker_access_new",
    ),
    path(
        "access/user/",
        pages.access_user,
        {"action": "change"},
        name="broker_access_change",
    ),
    path(
        "access/user/delete/",
        pages.access_user,
        {"action": "delete"},
        name="broker_access_delete",
    ),
    path("access/rules/", pages.access_rules, name="broker_access_rules"),
    path(
        "changed/access/<int:pk>/", pages.access_changed, name="broker_access_changed"
    ),
]
