"""The address of the search."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [path("search/", pages.search_page, name="search")]
