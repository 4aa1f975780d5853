"""Clusters to which RocketScope does not write, whoever asks.

Every request to such a cluster passes a hook that lets through only the requests listed
here. Those are known to change nothing; a request that is not listed, such as the
heartbeat by which a consumer joins its group, is refused before it is sent. A pull
passes if it neither commits nor waits and is made in the name of the group that every
broker has for tools: any other group might be created by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rmqcore.admin.messages import TOOLS_GROUP
from rmqcore.errors import RmqError
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.headers import PullSysFlag

from .settings import ClusterSettings

if TYPE_CHECKING:
    from rmqcore.protocol.command import RemotingCommand
    from rmqcore.transport import RequestHook

READS: Final = frozenset(
    {
        RequestCode.AUTH_LIST_ACL,
        RequestCode.AUTH_LIST_USER,
        RequestCode.GET_ALL_CONSUMER_OFFSET,
        RequestCode.GET_ALL_PRODUCER_INFO,
        RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
        RequestCode.GET_ALL_TOPIC_CONFIG,
        RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER,
        RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG,
        RequestCode.GET_BROKER_CLUSTER_INFO,
        RequestCode.GET_BROKER_CONFIG,
        RequestCode.GET_BROKER_CONSUME_STATS,
        RequestCode.GET_BROKER_HA_STATUS,
        RequestCode.GET_BROKER_RUNTIME_INFO,
        RequestCode.GET_CONSUMER_CONNECTION_LIST,
        RequestCode.GET_CONSUMER_LIST_BY_GROUP,
        RequestCode.GET_CONSUMER_RUNNING_INFO,
        RequestCode.GET_CONSUME_STATS,
        RequestCode.GET_MAX_OFFSET,
        RequestCode.GET_MIN_OFFSET,
        RequestCode.GET_PRODUCER_CONNECTION_LIST,
        RequestCode.GET_ROUTEINFO_BY_TOPIC,
        RequestCode.GET_TOPIC_CONFIG,
        RequestCode.GET_TOPIC_STATS_INFO,
        RequestCode.QUERY_ASSIGNMENT,
        RequestCode.QUERY_CONSUMER_OFFSET,
        RequestCode.QUERY_CONSUME_TIME_SPAN,
        RequestCode.QUERY_MESSAGE,
        RequestCode.QUERY_TOPIC_CONSUME_BY_WHO,
        RequestCode.SEARCH_OFFSET_BY_TIMESTAMP,
        RequestCode.VIEW_BROKER_STATS_DATA,
        RequestCode.VIEW_MESSAGE_BY_ID,
    }
)
"""Requests that change nothing at brokers and name servers."""


class ReadOnlyClusterError(RmqError):
    """A cluster is attached read-only; the message names it and its setting."""


def check_writable(cluster: ClusterSettings) -> None:
    """Raise ReadOnlyClusterError unless RocketScope may write to a cluster."""
    if cluster.read_only:
        raise ReadOnlyClusterError(_reason(cluster))


def only_reads(cluster: ClusterSettings) -> RequestHook:
    """Return the hook that lets only `READS` pass to a read-only cluster."""

    def refuse(address: str, command: RemotingCommand) -> None:
        if command.code not in READS and not _only_looks(command):
            raise ReadOnlyClusterError(
                f"request {command.code} to {address}: {_reason(cluster)}"
            )

    return refuse


def _only_looks(command: RemotingCommand) -> bool:
    """Tell whether a command is a pull that leaves nothing behind."""
    if command.code != RequestCode.PULL_MESSAGE:
        return False
    fields = command.ext_fields
    return fields.get("consumerGroup") == TOOLS_GROUP and fields.get("sysFlag") == str(
        int(PullSysFlag.SUBSCRIPTION)
    )


def _reason(cluster: ClusterSettings) -> str:
    return (
        f"cluster {cluster.name!r} is attached read-only; {cluster.writes_key}=on "
        "lets RocketScope write to it"
    )
