"""Addresses of teams, and of what is said of a group for people."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("teams/", pages.teams, name="teams"),
    path("teams/new/", pages.new, name="team_new"),
    path("teams/<int:pk>/", pages.team, name="team"),
    path("teams/<int:pk>/change/", pages.change, name="team_change"),
    path("teams/<int:pk>/members/", pages.change_members, name="team_members"),
    path("teams/<int:pk>/groups/", pages.change_groups, name="team_groups"),
    path("teams/<int:pk>/delete/", pages.delete, name="team_delete"),
    path(
        "clusters/<str:cluster>/groups/<group:group>/note/",
        pages.note,
        name="group_note",
    ),
    path(
        "clusters/<str:cluster>/groups/<group:group>/owner/",
        pages.owner,
        name="group_owner",
    ),
]
