"""`python -m tests.support.script CODE …`: run code with Django set up."""

from __future__ import annotations

import os
import sys

import django

if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "dashboard.config.settings"
    django.setup()
    code = sys.argv.pop(1)
    exec(compile(code, "<script>", "exec"), {"__name__": "__main__"})
