"""Replacing `{"$ref": …}` by the object that it names.

`$` is the whole text, `@` the object that holds the reference, `..` the one around
that, and `$.a[0].b` a path from the whole, in which a backslash escapes the next
character. A reference to an object that contains it would make a ring, so it becomes
None. Objects are shared, so a small text can have a large result; therefore the size
and the depth that the result would have when written out are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from rmqcore.errors import BodyError

MAX_DEPTH: Final = 100
MAX_EXPANDED: Final = 4_000_000
"""Values in the result; a shared object counts each time it occurs."""

_Container = dict[Any, Any] | list[Any]
_STEP: Final = re.compile(r"\.((?:\\.|[^.\[\\]++)++)|\[([0-9]{1,9})\]", re.DOTALL)
_BACKSLASH: Final = re.compile(r"\\(.)", re.DOTALL)


def resolve_references(root: Any) -> Any:
    """Return the value with its references replaced, in place.

    Raises `BodyError` when a reference names nothing, when the value is nested too
    deeply, or when it would grow beyond `MAX_EXPANDED` values.
    """
    if isinstance(root, dict | list):
        _replace(root, root, [])
        _check_growth(root)
    return root


def _replace(root: _Container, container: _Container, around: list[_Container]) -> None:
    if len(around) >= MAX_DEPTH:
        raise BodyError(f"body nested more than {MAX_DEPTH} levels")
    around.append(container)
    for key, value in list(_members(container)):
        if not isinstance(value, dict | list):
            continue
        path = _reference(value)
        if path is None:
            _replace(root, value, around)
        else:
            target = _target(root, around, path)
            container[key] = None if _is_any_of(target, around) else target
    around.pop()


def _members(container: _Container) -> Iterator[tuple[Any, Any]]:
    if isinstance(container, dict):
        return iter(container.items())
    return iter(enumerate(container))


def _reference(value: _Container) -> str | None:
    if isinstance(value, dict) and len(value) == 1:
        path = value.get("$ref")
        if isinstance(path, str):
            return path
    return None


def _is_any_of(target: object, containers: list[_Container]) -> bool:
    return any(target is container for container in containers)


def _target(root: _Container, around: list[_Container], path: str) -> Any:
    if path == "@":
        return around[-1]
    if path == "..":
        return around[-2] if len(around) > 1 else root
    if not path.startswith("$"):
        raise BodyError(f"reference {path[:80]!r} is of an unknown form")
    target: Any = root
    position = 1
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            raise BodyError(f"reference {path[:80]!r} is broken at {position}")
        target = _step(target, step[1], step[2], path)
        position = step.end()
    return target


def _step(target: Any, name: str | None, index: str | None, path: str) -> Any:
    if name is not None and isinstance(target, dict):
        name = _BACKSLASH.sub(r"\1", name)
        if name in target:
            return target[name]
    if index is not None:
        number = int(index)
        if isinstance(target, list) and number < len(target):
            return target[number]
        if isinstance(target, dict) and number in target:
            return target[number]
    raise BodyError(f"reference {path[:80]!r} names nothing in the body")


def _check_growth(root: _Container) -> None:
    """Check the size that the value would have when written out; a ring has no end."""
    measured: dict[int, tuple[int, int]] = {}

    def measure(container: _Container, depth: int) -> tuple[int, int]:
        known = measured.get(id(container))
        if known is not None:
            return known
        if depth > MAX_DEPTH:
            raise BodyError(f"body nested more than {MAX_DEPTH} levels by references")
        size, height = 1, 0
        for _, value in _members(container):
            if isinstance(value, dict | list):
                inner_size, inner_height = measure(value, depth + 1)
                size += inner_size
                height = max(height, inner_height)
            else:
                size += 1
        measured[id(container)] = size, height + 1
        return size, height + 1

    size, height = measure(root, 1)
    if size > MAX_EXPANDED or height > MAX_DEPTH:
        raise BodyError(
            f"body grows to {size} values and {height} levels by references, "
            f"limits {MAX_EXPANDED} and {MAX_DEPTH}"
        )
