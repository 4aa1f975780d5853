"""Changing single properties in a properties string, as bytes.

`name 0x01 value 0x02`, repeated. A broker changes two or three of a dozen properties
per message, so it does not put the whole string together again.
"""

from __future__ import annotations


def terminated(properties: bytes) -> bytes:
    """Return the string with the separator that some old clients leave out."""
    if properties and not properties.endswith(b"\x02"):
        return properties + b"\x02"
    return properties


def with_property(properties: bytes, name: bytes, value: bytes) -> bytes:
    """Return a terminated string with one property set."""
    return b"%b%b\x01%b\x02" % (without_property(properties, name), name, value)


def without_property(properties: bytes, name: bytes) -> bytes:
    """Return a terminated string without one property, however often it is there."""
    start = name + b"\x01"
    if start not in properties:
        return properties
    pairs = properties.split(b"\x02")
    return b"\x02".join([pair for pair in pairs if not pair.startswith(start)])
