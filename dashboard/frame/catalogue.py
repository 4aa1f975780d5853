"""The words of scripts: one file per language, whose address changes with them.

Pages name it as their first script. Browsers keep it for a year, like static files, and
no page carries words for its scripts. It holds no secret and requires no sign-in.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import translation
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from dashboard.wording.words import SCRIPT_ROOMS, WORDS, Counted, Word

_SAMPLES = {"one": 1, "other": 2}
"""One number for each plural category (CLDR) of the languages of the settings."""


@require_safe
def catalogue(_request: HttpRequest, language: str, digest: str) -> HttpResponse:
    """Answer with the script; 404 if the words have changed since."""
    if language not in dict(settings.LANGUAGES) or digest != _digest(language):
        raise Http404
    answer = HttpResponse(_script(language), content_type="text/javascript")
    kept_for_s = settings.WHITENOISE_MAX_AGE
    patch_cache_control(answer, public=True, max_age=kept_for_s, immutable=True)
    return answer


def catalogue_address() -> str:
    """Return the address of the words in the language of the request."""
    language = translation.get_language() or settings.LANGUAGE_CODE
    return reverse("catalogue", args=[language, _digest(language)])


@cache
def _script(language: str) -> str:
    with translation.override(language):
        rooms = {
            room: {key: _forms(text) for key, text in WORDS[room].items()}
            for room in SCRIPT_ROOMS
        }
    words = json.dumps(
        {"language": language, "rooms": rooms},
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return f"globalThis.catalogue={words};\n"


@cache
def _digest(language: str) -> str:
    return hashlib.sha256(_script(language).encode()).hexdigest()[:12]


def _forms(text: Word) -> str | dict[str, str]:
    """Return the text, or its forms by plural category, each form once."""
    if not isinstance(text, Counted):
        return str(text)
    forms = {category: text.form(number) for category, number in _SAMPLES.items()}
    return {
        category: form
        for category, form in forms.items()
        if category == "other" or form != forms["other"]
    }
