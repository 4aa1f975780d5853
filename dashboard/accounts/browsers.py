"""Short names for browsers, by which people recognise their own."""

from __future__ import annotations

from typing import Final

# The first that is found counts: each claims to be those after it, too.
_PROGRAMS: Final = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser/": "Samsung Internet",
    "Firefox/": "Firefox",
    "FxiOS/": "Firefox",
    "Chrome/": "Chrome",
    "CriOS/": "Chrome",
    "Safari/": "Safari",
}
_SYSTEMS: Final = {
    "Windows": "Windows",
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


def browser_name(user_agent: str) -> str:
    """Return a name such as `Firefox · Linux`, or the text itself if it is unknown."""
    if not (program := _first(_PROGRAMS, user_agent)):
        return user_agent
    system = _first(_SYSTEMS, user_agent)
    return f"{program} · {system}" if system else program


def _first(names: dict[str, str], user_agent: str) -> str:
    return next((name for mark, name in names.items() if mark in user_agent), "")
