"""Addresses of all clusters together, and of attaching and removing one.

The address to attach one is not below /clusters/, where the names of clusters stand.
"""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("", pages.home, name="home"),
    path("clusters/", pages.clusters, name="clusters"),
    path("clusters/<str:cluster>/remove/", pages.remove_one, name="cluster_remove"),
    path("attach/", pages.attach_one, name="cluster_attach"),
    path("embedded/", pages.embedded, name="cluster_embedded"),
]
