"""One list of static files for all clients of a test process.

Each of Django's test clients loads the middleware anew, and each time WhiteNoise looks
at every static file: that took longer than most tests.
"""

from __future__ import annotations

from typing import Any

from dashboard.config.assets import StaticFilesMiddleware

_add_files = StaticFilesMiddleware.add_files_from_finders
_listed: dict[tuple[Any, ...], dict[str, Any]] = {}


def list_files_once() -> None:
    """List static files for the first client, and give the same list to the others."""
    StaticFilesMiddleware.add_files_from_finders = _add_listed_files


def _add_listed_files(self: Any) -> None:
    key = (self.static_prefix, self.max_age, self.allow_all_origins)
    if key not in _listed:
        _add_files(self)
        _listed[key] = dict(self.files)
    self.files.update(_listed[key])
