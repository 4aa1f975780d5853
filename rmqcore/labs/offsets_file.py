"""F2b: a broadcasting member whose offsets file is lost (A6, D2, A3).

In each case a member consumes, persists twice (so that there is a backup, one write
older), and dies. Its files are damaged, messages come while it is away, and it starts
again. From the backup, it continues and repeats the messages between the two writes.
With no file, or on another host, it starts at the tail: messages that came while it was
away are lost to it. With two files, neither of them readable, it refuses to start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from rmqcore.errors import StoreError
from rmqcore.model import ConsumeFromWhere, MessageModel
from rmqcore.offsets import LocalFileOffsetStore

from .lab import Lab, check_range
from .member import Member, Role
from .results import LabResult
from .stage import Stage

GARBAGE: Final = b'{"offsetTable":{{'
HOME: Final = "host-1"
REFUSED: Final = "refused"
"""The outcome when there are files, but none can be read."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """How many queues there are; each step sends one message to each."""

    queues: int = 4

    def __post_init__(self) -> None:
        check_range("queues", self.queues, 1, 32)


@dataclass(frozen=True, slots=True)
class _Case:
    """What happens to the files, and the host on which the member starts again."""

    name: str
    harm: Callable[[Path, Path], None]
    host: str = HOME


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """One case: where offsets were found, and the consequences for messages."""

    case: str
    found_in: str
    started: bool
    lost: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsFileResult(LabResult):
    """The outcome of every case."""

    cases: tuple[CaseOutcome, ...]

    def case(self, name: str) -> CaseOutcome:
        """Return one case's outcome."""
        return next(outcome for outcome in self.cases if outcome.case == name)


def _keep(main: Path, backup: Path) -> None:
    pass


def _break_main(main: Path, backup: Path) -> None:
    main.write_bytes(GARBAGE)


def _delete_main(main: Path, backup: Path) -> None:
    main.unlink()


def _delete_both(main: Path, backup: Path) -> None:
    main.unlink()
    backup.unlink()


def _break_both(main: Path, backup: Path) -> None:
    main.write_bytes(GARBAGE)
    backup.write_bytes(GARBAGE)


CASES: Final = (
    _Case("kept", _keep),
    _Case("broken", _break_main),
    _Case("deleted", _delete_main),
    _Case("both_deleted", _delete_both),
    _Case("other_host", _keep, "host-2"),
    _Case("both_broken", _break_both),
)


async def play(stage: Stage, parameters: Parameters) -> OffsetsFileResult:
    """Make a member lose its offsets file in every possible way."""
    outcomes = [await _Trial(stage, case).run(parameters.queues) for case in CASES]
    _judge(stage, {outcome.case: outcome for outcome in outcomes}, parameters.queues)
    return OffsetsFileResult(
        evidence=stage.evidence(), finding="offsets_file_lost", cases=tuple(outcomes)
    )


class _Trial:
    """One case on a topic and a group of its own."""

    def __init__(self, stage: Stage, case: _Case) -> None:
        self._stage = stage
        self._case = case
        self._group = stage.group(f"_{case.name}")
        self._topic = ""

    async def run(self, queues: int) -> CaseOutcome:
        """Consume, persist, consume, persist, die, damage, miss, start again."""
        stage = self._stage
        self._topic = await stage.topic(queues, f"_{self._case.name}")
        member = await stage.join(self._role(HOME))
        await stage.rest(self._topic, [member], "joined")
        for batch in ("first", "second"):
            await self._send(batch, queues)
            await self._given(member, batch, queues)
            await stage.persist([member])
        await stage.die(member)
        home = self._store(HOME)
        self._case.harm(home.path, home.backup_path)
        stage.tell("harmed", case=self._case.name)
        await self._send("away", queues)
        return await self._start_again(member, queues)

    async def _start_again(self, before: Member, queues: int) -> CaseOutcome:
        stage, name = self._stage, self._case.name
        found_in = await self._look()
        stage.tell("found", case=name, found_in=found_in)
        try:
            member = await stage.join(self._role(self._case.host))
        except StoreError as error:
            stage.tell("refused", case=name, error=str(error))
            return CaseOutcome(name, found_in, started=False)
        await stage.rest(self._topic, [member], "started again")
        # One on each queue: once these have come, earlier messages have come, or never
        # will.
        await self._send("last", queues)
        await self._given(member, "last", queues)
        away = self._bodies("away", queues)
        lost = tuple(body for body in away if body not in member.bodies)
        repeated = tuple(body for body in member.bodies if body in before.bodies)
        stage.tell("told", case=name, lost=len(lost), repeated=len(repeated))
        await stage.leave(member)
        return CaseOutcome(name, found_in, True, lost, repeated)

    async def _look(self) -> str:
        """Return where the member will find offsets, or `refused` where that fails."""
        store = self._store(self._case.host)
        try:
            await store.load()
        except StoreError:
            return REFUSED
        file = await self._stage.offsets_file_of(
            f"{self._case.host}@c1", self._group, self._case.name
        )
        return file.found_in

    def _role(self, host: str) -> Role:
        return Role(
            "c1",
            self._group,
            {self._topic: "*"},
            host=host,
            start=ConsumeFromWhere.LAST_OFFSET,
            options={
                "message_model": MessageModel.BROADCASTING,
                "offsets_dir": self._stage.offsets_dir,
            },
        )

    def _store(self, host: str) -> LocalFileOffsetStore:
        return LocalFileOffsetStore(self._stage.offsets_dir, f"{host}@c1", self._group)

    def _bodies(self, batch: str, queues: int) -> list[str]:
        return [f"{self._case.name}-{batch}-{number}" for number in range(queues)]

    async def _send(self, batch: str, queues: int) -> None:
        await self._stage.send(self._topic, self._bodies(batch, queues))

    async def _given(self, member: Member, batch: str, queues: int) -> None:
        wanted = set(self._bodies(batch, queues))
        await self._stage.until(
            lambda: wanted <= set(member.bodies),
            f"the messages {batch} of case {self._case.name}",
        )


def _judge(stage: Stage, cases: Mapping[str, CaseOutcome], queues: int) -> None:
    kept = cases["kept"]
    stage.claim("kept", not kept.lost and not kept.repeated)
    backed_up = [cases["broken"], cases["deleted"]]
    stage.claim(
        "backup",
        all(
            case.found_in == "backup" and not case.lost and len(case.repeated) == queues
            for case in backed_up
        ),
        repeated=queues,
    )
    without = [cases["both_deleted"], cases["other_host"]]
    stage.claim(
        "tail",
        all(
            case.found_in == "nowhere"
            and len(case.lost) == queues
            and not case.repeated
            for case in without
        ),
        lost=queues,
    )
    refused = cases["both_broken"]
    stage.claim("refused_start", not refused.started)


LAB: Final = Lab(
    "F2b",
    "A broadcasting member loses its offsets file",
    ("A3", "A6", "D2"),
    MappingProxyType(
        {
            "harmed": "While the member is away: case {case}.",
            "found": "Case {case}: its offsets are found in: {found_in}.",
            "refused": "Case {case}: it does not start: {error}.",
            "told": "Case {case}: messages lost: {lost}, repeated: {repeated}.",
            "kept": "With its file it continues where it stopped.",
            "backup": "With the file broken or deleted it reads the backup: nothing is "
            "lost, and the {repeated} messages since the previous write are "
            "consumed again.",
            "tail": "Without any file, as on another host, it starts at the tail: it "
            "never gets the {lost} messages that came while it was away.",
            "refused_start": "If neither of the two files can be read, it does not "
            "start, since it would lose its place silently.",
        }
    ),
    Parameters,
    play,
)
