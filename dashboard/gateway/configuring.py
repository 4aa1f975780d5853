"""Reads and writes configuration broker by broker, for pages and the REST API.

Everything is asked on request. If a broker fails, its configuration is not known; that
never hides what the others say. Writing goes to masters, which pass it on to their
slaves.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import orjson

from rmqcore.admin import AccessUser, Admin
from rmqcore.admin.names import is_system_group, is_system_topic
from rmqcore.errors import RmqError
from rmqcore.model.topic import Perm, TopicConfig, dead_letter_topic, retry_topic

from .access import read_rules, write_rules
from .broker_settings import shown
from .configured import (
    Done,
    Kind,
    Loss,
    Place,
    Reader,
    Standing,
    Values,
)

SECONDS_A_PLACE: Final = 5.0
ROUTES_LOOKED_AT: Final = 200
"""How many topics of a broker are looked at, to tell whether producers may write."""
READERS_SHOWN: Final = 50
"""Of how many groups of a topic it is asked whether somebody is online."""
ASKED_AT_ONCE: Final = 8
"""Requests about groups that one broker answers at a time."""

T = TypeVar("T")

TOPIC_MEMBERS: Final = frozenset(
    {
        "readQueueNums",
        "writeQueueNums",
        "perm",
        "order",
        "topicFilterType",
        "topicSysFlag",
    }
)


def is_system(kind: Kind, name: str, places: Sequence[Place]) -> bool:
    """Tell whether a topic or group is one of RocketMQ's own on some brokers."""
    if kind == "topic":
        clusters = {place.cluster for place in places}
        return is_system_topic(name, clusters, {place.name for place in places})
    return kind == "group" and is_system_group(name)


async def read_standings(admin: Admin, kind: Kind, name: str) -> tuple[Standing, ...]:
    """Return the configuration of a thing at every place that may have it.

    Those are all brokers behind the name servers, of whatever cluster; for `broker`
    they are asked for their own settings, whichever broker is named.
    """
    if kind == "writing":
        return await _read_writing(admin, name)
    places = await _brokers(admin)
    read = _READERS[kind]

    async def one(place: Place) -> Standing:
        if not place.address:
            return Standing(place, None, "no master is alive")
        try:
            async with asyncio.timeout(SECONDS_A_PLACE):
                return Standing(place, await read(admin, name, place.address))
        except TimeoutError:
            return Standing(place, None, f"no answer within {SECONDS_A_PLACE:g} s")
        except RmqError as error:
            return Standing(place, None, str(error))

    return tuple(await asyncio.gather(*map(one, places)))


async def write_values(
    admin: Admin,
    kind: Kind,
    name: str,
    steps: Sequence[tuple[Place, Values | None, Values | None]],
    *,
    secret: str = "",
    clean_offsets: bool = True,
) -> tuple[Done, ...]:
    """Bring several places from one configuration to another, side by side.

    `secret` is a user's password. Every place is tried, whatever the others say.
    """

    async def one(place: Place, before: Values | None, after: Values | None) -> Done:
        try:
            async with asyncio.timeout(SECONDS_A_PLACE):
                if kind == "topic":
                    await _write_topic(admin, name, place, before, after)
                elif kind == "group":
                    await _write_group(
                        admin, name, place, before, after, clean=clean_offsets
                    )
                elif kind == "broker":
                    await admin.change_broker_settings(after or {}, place.address)
                elif kind == "user":
                    await _write_user(admin, name, place, before, after, secret=secret)
                else:
                    await write_rules(admin, name, place.address, before, after)
        except TimeoutError:
            return Done(place, f"no answer within {SECONDS_A_PLACE:g} s")
        except RmqError as error:
            return Done(place, str(error))
        return Done(place)

    if kind == "writing":
        return await _write_writing(admin, name, steps)
    return tuple(await asyncio.gather(*(one(*step) for step in steps)))


async def forget_routes(admin: Admin, topic: str, cluster: str) -> tuple[Done, ...]:
    """Make all name servers forget a deleted topic's routes to one cluster."""
    told = await admin.drop_routes(topic, cluster)
    return tuple(
        Done(Place(address, "", address), "" if error is None else str(error))
        for address, error in told.items()
    )


async def read_loss(
    admin: Admin,
    kind: Kind,
    name: str,
    places: Sequence[Place],
    *,
    partial: bool = False,
) -> Loss:
    """Return what deleting a topic or group at some brokers would take away.

    `partial` says that a broker which may have it, too, is not among them.
    """
    topics = (
        (name,) if kind == "topic" else (retry_topic(name), dead_letter_topic(name))
    )
    held, committed = await asyncio.gather(
        asyncio.gather(
            *(_or_none(_held_at(admin, kind, topics, each)) for each in places)
        ),
        _or_none(_committed(admin, kind, name, places)),
    )
    messages: Counter[str] = Counter()
    groups = set() if kind == "topic" else {name}
    for stored, reading in filter(None, held):
        messages.update(stored)
        groups.update(reading)
    partial = partial or None in held
    online = await _online(admin, sorted(groups)[:READERS_SHOWN], places)
    return Loss(
        dict(messages),
        tuple(
            # Where a broker is silent, nobody on the others does not mean nobody.
            Reader(group, (online.get(group) or None) if partial else online.get(group))
            for group in sorted(groups)
        ),
        committed,
        partial,
    )


# Private, in order of first use


async def _brokers(admin: Admin) -> tuple[Place, ...]:
    return tuple(
        Place(each.broker_name, each.cluster, each.master or "")
        for each in await admin.brokers()
    )


async def _read_topic(admin: Admin, name: str, address: str) -> Values | None:
    config = await admin.find_topic(name, address)
    if config is None:
        return None
    return {
        "readQueueNums": str(config.read_queue_nums),
        "writeQueueNums": str(config.write_queue_nums),
        "perm": str(int(config.perm)),
        "order": _text(config.order),
        "topicFilterType": config.topic_filter_type,
        "topicSysFlag": str(config.topic_sys_flag),
        **config.attributes,
    }


async def _write_topic(
    admin: Admin,
    name: str,
    place: Place,
    before: Values | None,
    after: Values | None,
) -> None:
    if after is None:
        await admin.drop_topic(name, place.address)
        return
    attributes = {
        key: value
        for key, value in after.items()
        if key not in TOPIC_MEMBERS and (before or {}).get(key) != value
    }
    removed = (before or {}).keys() - after.keys() - TOPIC_MEMBERS
    config = TopicConfig(
        name,
        int(after.get("readQueueNums", 8)),
        int(after.get("writeQueueNums", 8)),
        Perm(int(after.get("perm", 6))),
        after.get("topicFilterType", "SINGLE_TAG"),
        int(after.get("topicSysFlag", 0)),
        after.get("order") == "true",
        attributes,
    )
    await admin.put_topic(config, place.address, removed=tuple(sorted(removed)))


async def _read_group(admin: Admin, name: str, address: str) -> Values | None:
    document = (await admin.group_documents(address)).get(name)
    if document is None:
        return None
    return {
        key: _text(value)
        for key, value in sorted(document.items())
        if key != "groupName"
    }


async def _write_group(
    admin: Admin,
    name: str,
    place: Place,
    before: Values | None,
    after: Values | None,
    *,
    clean: bool,
) -> None:
    if after is None:
        await admin.drop_group(name, place.address, clean_offset=clean)
        return
    document = {key: _value(text) for key, text in after.items()}
    document["attributes"] = _altered(
        _value((before or {}).get("attributes", "{}")), document.get("attributes")
    )
    await admin.put_group_document({**document, "groupName": name}, place.address)


def _altered(before: Any, after: Any) -> dict[str, str]:
    """Return the changes that lead from some attributes to others."""
    old = before if isinstance(before, dict) else {}
    new = after if isinstance(after, dict) else {}
    added = {f"+{k}": str(v) for k, v in new.items() if old.get(k) != v}
    return added | {f"-{key}": "" for key in old if key not in new}


async def _read_broker(admin: Admin, name: str, address: str) -> Values:
    settings = await admin.broker_settings(address)
    return {name: shown(name, value) for name, value in sorted(settings.items())}


async def _read_user(admin: Admin, name: str, address: str) -> Values | None:
    for user in await admin.users(address):
        if user.name == name:
            return {"userType": user.kind, "userStatus": user.status}
    return None


async def _write_user(
    admin: Admin,
    name: str,
    place: Place,
    before: Values | None,
    after: Values | None,
    *,
    secret: str,
) -> None:
    if after is None:
        await admin.drop_user(name, place.address)
        return
    user = AccessUser(
        name, after.get("userType", "Normal"), after.get("userStatus", "enable")
    )
    await admin.put_user(user, place.address, password=secret, new=before is None)


_READERS: Final[Mapping[str, Callable[[Admin, str, str], Awaitable[Values | None]]]] = {
    "topic": _read_topic,
    "group": _read_group,
    "broker": _read_broker,
    "user": _read_user,
    "rule": read_rules,
}


async def _read_writing(admin: Admin, name: str) -> tuple[Standing, ...]:
    """Return what each name server lets producers do with a broker's queues.

    The topics looked at are those that the broker itself lets producers write to.
    """
    (broker,) = await admin.brokers(broker_name=name)
    known = await admin.topics_on(str(broker.any_address))
    topics = [
        topic
        for topic, config in sorted(known.items())
        if Perm.WRITE in config.perm
        and not is_system_topic(topic, {broker.cluster}, {name})
    ]
    looked_at = topics[:ROUTES_LOOKED_AT]

    async def one(address: str) -> Standing:
        place = Place(address, "", address)
        try:
            async with asyncio.timeout(SECONDS_A_PLACE):
                routes = await asyncio.gather(
                    *(admin.route_named_by(address, topic) for topic in looked_at)
                )
        except TimeoutError:
            return Standing(place, None, f"no answer within {SECONDS_A_PLACE:g} s")
        except RmqError as error:
            return Standing(place, None, str(error))
        told = [
            Perm.WRITE in queues.perm
            for route in routes
            if route is not None
            for queues in route.queues
            if queues.broker_name == name
        ]
        left_out = len(topics) - len(looked_at)
        if not told:
            return Standing(place, None, "it has no route to this broker", left_out)
        word = "allowed" if all(told) else "partly" if any(told) else "stopped"
        return Standing(place, {"writing": word}, left_out=left_out)

    return tuple(await asyncio.gather(*map(one, admin.nameservers)))


async def _write_writing(
    admin: Admin,
    name: str,
    steps: Sequence[tuple[Place, Values | None, Values | None]],
) -> tuple[Done, ...]:
    told: dict[str, RmqError | None] = {}
    for allowed in (False, True):
        meant = [
            place.address
            for place, _, after in steps
            if ((after or {}).get("writing") == "allowed") is allowed
        ]
        told |= await admin.set_writing(name, allowed=allowed, nameservers=meant)
    return tuple(
        Done(place, "" if (error := told[place.address]) is None else str(error))
        for place, _, _ in steps
    )


async def _or_none(work: Awaitable[T]) -> T | None:
    """Return what brokers say; None if one fails or has not answered in time."""
    try:
        async with asyncio.timeout(SECONDS_A_PLACE):
            return await work
    except (TimeoutError, RmqError):
        return None


async def _held_at(
    admin: Admin, kind: Kind, topics: Sequence[str], place: Place
) -> tuple[dict[str, int], list[str]]:
    """Return the messages that a broker has of topics, and who reads a topic."""
    stored = {
        topic: count
        for topic in topics
        if (count := await admin.stored_messages(topic, place.address)) is not None
    }
    if kind != "topic":
        return stored, []
    return stored, await admin.groups_reading(topics[0], place.address)


async def _online(
    admin: Admin, groups: Sequence[str], places: Sequence[Place]
) -> dict[str, int | None]:
    """Return how many client ids are connected with each group; None if not known."""

    async def at(place: Place) -> list[set[str]]:
        room = asyncio.Semaphore(ASKED_AT_ONCE)

        async def one(group: str) -> set[str]:
            async with room:
                found = await admin.consumer_connection(group, place.address)
            return {each.client_id for each in found.connections} if found else set()

        return list(await asyncio.gather(*map(one, groups)))

    told = await asyncio.gather(*(_or_none(at(place)) for place in places))
    known = [each for each in told if each is not None]
    if len(known) < len(told):
        return dict.fromkeys(groups)
    return {
        group: len(set().union(*ids))
        for group, *ids in zip(groups, *known, strict=True)
    }


async def _committed(
    admin: Admin, kind: Kind, group: str, places: Sequence[Place]
) -> int | None:
    if kind != "group":
        return None
    names = {place.name for place in places}
    offsets = await admin.committed_offsets(group)
    return sum(queue.broker_name in names for queue in offsets)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _value(text: str) -> Any:
    """Return the value that `_text` made a text from; plain words stay text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
