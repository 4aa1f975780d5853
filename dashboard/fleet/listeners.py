"""Listeners by name: what the members of a hosted group do with their messages.

A hosted group names a listener and gives it options; each member gets one of its own.
Register more listeners in a module of your own:

    @register("bill")
    def make(options: Mapping[str, Any]) -> Listener: ...

and name the module in `ROCKETSCOPE_LISTENERS`, for the web process and for workers; it
is loaded when a listener that is not built in is first asked for. Loading it may take
`MAKE_SECONDS`, and making a listener as well.

Options are checked when a group is saved and again when a member starts; an error
names the option, its value and what is allowed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from random import SystemRandom
from typing import Any, Final, TypeAlias, TypeVar

from django.conf import settings

from rmqcore.client import ConsumeContext, ConsumeResult, Listener
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageExt

from .user_code import within

logger = logging.getLogger(__name__)

T = TypeVar("T")

Maker: TypeAlias = Callable[[Mapping[str, Any]], Listener]

LONGEST_WORK_MS: Final = 600_000
MAKE_SECONDS: Final = 30.0

_makers: dict[str, Maker] = {}
_loaded: set[str] = set()


@dataclass(frozen=True, slots=True)
class Option:
    """A number that a listener takes: its default and its limits, both included."""

    default: float
    low: float
    high: float


def register(name: str) -> Callable[[Maker], Maker]:
    """Make a listener known under a name; a name can be taken once."""

    def add(maker: Maker) -> Maker:
        if name in _makers:
            raise ArgumentError(f"listener {name!r} is registered already")
        _makers[name] = maker
        return maker

    return add


def load_listeners(modules: Iterable[str]) -> None:
    """Load modules that register listeners, each once.

    Raise `ArgumentError` naming the first module that cannot be loaded, and why; the
    others are loaded all the same.
    """
    failure: ArgumentError | None = None
    for name in modules:
        if name in _loaded:
            continue
        what = f"ROCKETSCOPE_LISTENERS: module {name!r}"
        try:
            _theirs(what, "loaded", partial(import_module, name))
        except ArgumentError as error:
            failure = failure or error
        else:
            _loaded.add(name)
    if failure is not None:
        raise failure


def listener_names() -> list[str]:
    """Return the names that can be used, sorted."""
    load_listeners(settings.ROCKETSCOPE_LISTENERS)
    return sorted(_makers)


def make_listener(name: str, options: Mapping[str, Any]) -> Listener:
    """Return a new listener; raise `ArgumentError` for an unknown name or option.

    May block for `MAKE_SECONDS` and more, unless the listener is built in.
    """
    if name in BUILT_IN:
        return _makers[name](options)
    try:
        if name not in _makers:
            load_listeners(settings.ROCKETSCOPE_LISTENERS)
    except ArgumentError:
        # A module that fails matters only to those who need one of its listeners.
        if name not in _makers:
            raise
    maker = _makers.get(name)
    if maker is None:
        raise ArgumentError(
            f"unknown listener {name!r}; "
            f"the known ones are {', '.join(sorted(_makers))}"
        )
    return _theirs(f"listener {name!r}", "made", partial(maker, options))


def _theirs(what: str, done: str, work: Callable[[], T]) -> T:
    """Run code of the user's; its owner has to mend whatever it raises."""
    try:
        return within(MAKE_SECONDS, what, f"not {done}", work)
    except ArgumentError:
        raise
    except (Exception, SystemExit) as error:
        raise ArgumentError(
            f"{what} cannot be {done}: {type(error).__name__}: {error}"
        ) from error


BUILT_IN_OPTIONS: Final[Mapping[str, Mapping[str, Option]]] = {
    "count": {},
    "log": {},
    "work": {"ms": Option(5, 0, LONGEST_WORK_MS)},
    "fail": {"rate": Option(0.1, 0, 1), "ms": Option(0, 0, LONGEST_WORK_MS)},
}
"""What each listener takes that is there without a module of the user's."""


def read_options(listener: str, options: Mapping[str, Any]) -> dict[str, float]:
    """Return every option of a built-in listener as a number within its limits."""
    known = BUILT_IN_OPTIONS[listener]
    for name in options:
        if name not in known:
            takes = ", ".join(known) or "none"
            raise ArgumentError(
                f"{listener} takes no option {name!r}; it takes {takes}"
            )
    return {
        name: _number(listener, name, options.get(name, option.default), option)
        for name, option in known.items()
    }


def _number(listener: str, name: str, value: Any, option: Option) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not option.low <= value <= option.high:
        raise ArgumentError(
            f"{listener}: {name} is {value!r}, "
            f"allowed {option.low:g} to {option.high:g}"
        )
    return float(value)


@register("count")
def make_count(options: Mapping[str, Any]) -> Listener:
    """Do nothing with messages: the group's own progress counts them."""
    read_options("count", options)

    async def count(
        _messages: Sequence[MessageExt], _context: ConsumeContext
    ) -> ConsumeResult:
        return ConsumeResult.SUCCESS

    return count


@register("log")
def make_log(options: Mapping[str, Any]) -> Listener:
    """Log one line per message: queue, offset, keys and size."""
    read_options("log", options)

    async def log(
        messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        for message in messages:
            logger.info(
                "topic=%s broker=%s queue=%s offset=%s keys=%s bytes=%s",
                message.topic,
                context.queue.broker_name,
                message.queue_id,
                message.queue_offset,
                " ".join(message.keys),
                len(message.body),
            )
        return ConsumeResult.SUCCESS

    return log


@register("work")
def make_work(options: Mapping[str, Any]) -> Listener:
    """Take `ms` milliseconds for each message, without using the processor."""
    seconds = read_options("work", options)["ms"] / 1000

    async def work(
        messages: Sequence[MessageExt], _context: ConsumeContext
    ) -> ConsumeResult:
        await asyncio.sleep(seconds * len(messages))
        return ConsumeResult.SUCCESS

    return work


@register("fail")
def make_fail(options: Mapping[str, Any]) -> Listener:
    """Fail with probability `rate` (0 to 1), after `ms` milliseconds."""
    numbers = read_options("fail", options)
    chance = SystemRandom()

    async def fail(
        _messages: Sequence[MessageExt], _context: ConsumeContext
    ) -> ConsumeResult:
        await asyncio.sleep(numbers["ms"] / 1000)
        if chance.random() < numbers["rate"]:
            return ConsumeResult.RECONSUME_LATER
        return ConsumeResult.SUCCESS

    return fail


BUILT_IN: Final = frozenset(_makers)
"""Listeners that neither block nor compute, and are made without any module."""
