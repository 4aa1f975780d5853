"""The specification of one hosted member, from its row and its group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dashboard.models import ManagedMember
from dashboard.wording.names import instance_name

from .claims import Claim


@dataclass(frozen=True, slots=True)
class MemberSpec:
    """Everything a worker needs to run a member.

    `revision` is the group's; a member that runs another one switches its strategy,
    or is started anew where more than that differs.
    """

    member_id: int
    cluster: str
    group: str
    number: int
    revision: int
    topics: tuple[tuple[str, str], ...]
    mode: str
    orderly: bool
    strategy: str
    strategy_options: Mapping[str, Any]
    start_position: str
    listener: str
    listener_options: Mapping[str, Any]

    def instance_name(self, claim: Claim) -> str:
        """Return the name under which the member runs with a claim."""
        return instance_name(self.group, self.number, claim.fence)

    def differs_in_strategy_only(self, other: MemberSpec) -> bool:
        """Return whether switching its strategy turns a running member into `other`."""
        return other == replace(
            self,
            revision=other.revision,
            strategy=other.strategy,
            strategy_options=other.strategy_options,
        )


def spec_of(member: ManagedMember) -> MemberSpec:
    """Return the specification of a row that was read with its group and cluster."""
    group = member.group
    return MemberSpec(
        member_id=member.pk,
        cluster=group.cluster.name,
        group=group.name,
        number=member.number,
        revision=group.revision,
        topics=tuple((each["topic"], each["expression"]) for each in group.topics),
        mode=group.mode,
        orderly=group.orderly,
        strategy=group.strategy,
        strategy_options=group.strategy_options,
        start_position=group.start_position,
        listener=group.listener,
        listener_options=group.listener_options,
    )
