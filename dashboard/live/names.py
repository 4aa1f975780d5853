"""Names of keys in the cache and of groups in the channel layer.

Group names may hold 255 characters of RocketMQ's choosing; the channel layer takes
fewer than 100 and only letters, digits, dots, hyphens and underscores. So layer
names carry a digest; cache keys carry the name itself, because people read them.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

PREFIX: Final = "rs:"
BEAT_KEY: Final = PREFIX + "beat"
PROBE_KEY: Final = PREFIX + "probe"
FLEET_WAKE_CHANNEL: Final = PREFIX + "fleet:wake"
LABS_WAKE_CHANNEL: Final = PREFIX + "labs:wake"


def overview_key(cluster: str) -> str:
    """Return the key of a cluster's Overview document."""
    return f"{PREFIX}overview:{cluster}"


def overview_columns_key(cluster: str) -> str:
    """Return the key of the fields of an Overview's rows, by column."""
    return f"{PREFIX}columns:{cluster}"


def topics_key(cluster: str) -> str:
    """Return the key of a cluster's Topics document."""
    return f"{PREFIX}topics:{cluster}"


def brokers_key(cluster: str) -> str:
    """Return the key of a cluster's BrokersDocument."""
    return f"{PREFIX}brokers:{cluster}"


def clients_key(cluster: str) -> str:
    """Return the key of a cluster's ClientsDocument."""
    return f"{PREFIX}clients:{cluster}"


def names_key(cluster: str) -> str:
    """Return the key of a cluster's NamesDocument."""
    return f"{PREFIX}names:{cluster}"


def stack_key(cluster: str, token: str) -> str:
    """Return the key of a client's thread stacks, kept for their download."""
    return f"{PREFIX}stack:{cluster}:{token}"


def asked_key(cluster: str, client_id: str) -> str:
    """Return the key that is there while a client is asked for its thread stacks."""
    return f"{PREFIX}asked:{cluster}:{client_id}"


def lake_gap_key(cluster: str) -> str:
    """Return the key of a cluster's LakeGap, set while there is one to report."""
    return f"{PREFIX}lake-gap:{cluster}"


def group_key(cluster: str, group: str) -> str:
    """Return the key of a group's GroupState document."""
    return f"{PREFIX}group:{cluster}:{group}"


def watch_key(cluster: str) -> str:
    """Return the key of the sorted set group -> watched until (epoch seconds)."""
    return f"{PREFIX}watch:{cluster}"


def scraped_key(cluster: str) -> str:
    """Return the key of the sorted set group -> document wanted until (seconds)."""
    return f"{PREFIX}scraped:{cluster}"


def lease_key(cluster: str) -> str:
    """Return the key that names the collector leading a cluster."""
    return f"{PREFIX}lease:{cluster}"


def fence_key(cluster: str) -> str:
    """Return the key of the last fencing number given to a cluster's leader."""
    return f"{PREFIX}fence:{cluster}"


def collectors_key() -> str:
    """Return the sorted set of collectors by the time until which they live."""
    return f"{PREFIX}collectors"


def gone_key(cluster: str) -> str:
    """Return the hash broker -> who said that it is gone for good, when and why."""
    return f"{PREFIX}gone:{cluster}"


def memory_key(cluster: str) -> str:
    """Return the key of the memory that a leader leaves to the next."""
    return f"{PREFIX}memory:{cluster}"


def moments_key(cluster: str, place: int) -> str:
    """Return the key of one place in the ring of a cluster's last sweeps."""
    return f"{PREFIX}moments:{cluster}:{place}"


def alerting_key(cluster: str) -> str:
    """Return the key of a cluster's AlertingDocument."""
    return f"{PREFIX}alerting:{cluster}"


def alert_memory_key(cluster: str) -> str:
    """Return the key of what the rules of alerts remember from look to look."""
    return f"{PREFIX}alert-memory:{cluster}"


def metrics_key(worker: str) -> str:
    """Return the key of the figures a worker publishes for /metrics."""
    return f"{PREFIX}figures:{worker}"


def heartbeats_key() -> str:
    """Return the sorted set of fleet workers by the time until which they live."""
    return f"{PREFIX}fleet:heartbeats"


def allocation_key(cluster: str) -> str:
    """Return the hash group + client id -> what a fleet member holds."""
    return f"{PREFIX}allocation:{cluster}"


def allocation_channel(cluster: str) -> str:
    """Return the channel on which fleet members report changes of their queues."""
    return f"{PREFIX}allocated:{cluster}"


def live_group_name(cluster: str, group: str) -> str:
    """Return the channel-layer group that gets a group's updates."""
    return f"live.group.{_digest(cluster, group)}"


def live_overview_name(cluster: str) -> str:
    """Return the channel-layer group that gets a cluster's digests."""
    return f"live.overview.{_digest(cluster)}"


def live_labs_name(cluster: str) -> str:
    """Return the channel-layer group that is told when a cluster's labs move on."""
    return f"live.labs.{_digest(cluster)}"


def _digest(*parts: str) -> str:
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=16).hexdigest()
