"""Reads and writes configuration broker by broker, for pages and the REST API.

Everything is asked on request. A broker that fails is one whose configuration is not
known; it never hides what the others say. Writing goes to masters, which pass it on to
their slaves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import orjson

from rmqcore.admin import AccessUser, Admin
from rmqcore.admin.names import is_system_group, is_system_topic
from rmqcore.errors import RmqError
from rmqcore.model.topic import Perm, TopicConfig, dead_letter_topic, retry_topic

from .access import read_rules, write_rules
from .broker_settings import is_secret
from .configured import (
    MASKED,
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
"""Of the topics of a broker, to tell whether name servers let producers write to it."""
READERS_SHOWN: Final = 50

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
    """Tell whether a topic or group is RocketMQ's own at some brokers."""
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
    admin: Admin, kind: Kind, name: str, places: Sequence[Place]
) -> Loss:
    """Return what deleting a topic or group at some brokers would take away."""
    topics = (
        (name,) if kind == "topic" else (retry_topic(name), dead_letter_topic(name))
    )
    messages: dict[str, int] = {}
    readers: dict[str, set[str] | None] = {} if kind == "topic" else {name: set()}
    committed: int | None = None
    partial = False
    for place in places:
        try:
            for topic in topics:
                stored = await admin.stored_messages(topic, place.address)
                if stored is not None:
                    messages[topic] = messages.get(topic, 0) + stored
            if kind == "topic":
                found = await admin.groups_reading(name, place.address)
                readers.update({each: set() for each in found if each not in readers})
        except RmqError:
            partial = True
    for group in list(readers)[:READERS_SHOWN]:
        readers[group] = await _online(admin, group, places)
    if kind == "group":
        committed = await _committed(admin, name, places)
    return Loss(
        messages,
        tuple(
            Reader(group, None if ids is None else len(ids))
            for group, ids in sorted(readers.items())
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
    return {
        key: MASKED if value and is_secret(key) else value
        for key, value in sorted(settings.items())
    }


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

    Looked at are topics that the broker itself lets producers write to.
    """
    (broker,) = await admin.brokers(broker_name=name)
    known = await admin.topics_on(str(broker.any_address))
    topics = [
        topic
        for topic, config in sorted(known.items())
        if Perm.WRITE in config.perm
        and not is_system_topic(topic, {broker.cluster}, {name})
    ][:ROUTES_LOOKED_AT]

    async def one(address: str) -> Standing:
        place = Place(address, "", address)
        try:
            async with asyncio.timeout(SECONDS_A_PLACE):
                routes = await asyncio.gather(
                    *(admin.route_named_by(address, topic) for topic in topics)
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
        word = "allowed" if all(told) else "partly" if any(told) else "stopped"
        return Standing(place, {"writing": word})

    return tuple(await asyncio.gather(*map(one, admin.nameservers)))


async def _write_writing(
    admin: Admin,
    name: str,
    steps: Sequence[tuple[Place, Values | None, Values | None]],
) -> tuple[Done, ...]:
    allowed = all((after or {}).get("writing") == "allowed" for _, _, after in steps)
    told = await admin.set_writing(name, allowed=allowed)
    return tuple(
        Done(place, "" if (error := told[place.address]) is None else str(error))
        for place, _, _ in steps
    )


async def _online(admin: Admin, group: str, places: Sequence[Place]) -> set[str] | None:
    """Return the client ids that are connected with a group; None if not known."""
    found: set[str] = set()
    for place in places:
        try:
            connection = await admin.consumer_connection(group, place.address)
        except RmqError:
            return None
        if connection is not None:
            found.update(each.client_id for each in connection.connections)
    return found


async def _committed(admin: Admin, group: str, places: Sequence[Place]) -> int | None:
    names = {place.name for place in places}
    try:
        offsets = await admin.committed_offsets(group)
    except RmqError:
        return None
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
    """Return what a text of `_text` stood for; plain words stay text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
