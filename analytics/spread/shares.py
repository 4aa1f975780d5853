"""What each member would have had in each step, under one candidate at a time.

The load and lag of every queue are taken as they were; only the owner changes with the
candidate. A sum is over the known values of a member's queues: NaN where none is known,
and counts say how many are. A queue whose rate is not known adds nothing to its
member's load, whereas the what-if page would use the mean of the topic.

Members of a step have positions from 0, in the order of the epoch's ids; imagined
members follow. `NOBODY` is -1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from analytics import contracts as c
from analytics.division import MEMBER_IDS, NOBODY

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Values: TypeAlias = npt.NDArray[Any]

STEP_COLUMNS: Final = (
    c.GROUP_NO,
    c.EPOCH,
    c.SINCE,
    c.SECONDS,
    c.UNKNOWN_SECONDS,
    c.LAG_MEAN,
    c.IN_RATE,
    c.OUT_RATE,
)
EPOCH_COLUMNS: Final = (c.GROUP_NO, c.CLUSTER, c.GROUP, c.EPOCH, MEMBER_IDS)


class EpochNames:
    """The epochs of some groups, by group and epoch; and their members' ids, as a list.

    `first[n]` is where the members of epoch `n` begin in `client_ids`.
    """

    def __init__(self, table: pa.Table) -> None:
        order = [(c.GROUP_NO, "ascending"), (c.EPOCH, "ascending")]
        self._table = table.select(EPOCH_COLUMNS).sort_by(order).combine_chunks()

    def find(self, group_no: Ints, epoch: Ints) -> Ints:
        """Return the row of each of these epochs, all of which must be present."""
        known = np.unique(self._epoch)
        codes = self._group_no * len(known) + np.searchsorted(known, self._epoch)
        asked = group_no * len(known) + np.searchsorted(known, epoch)
        found: Ints = np.searchsorted(codes, asked)
        return found

    @cached_property
    def size(self) -> Ints:
        """Members of each epoch."""
        counts = pc.list_value_length(self._table[MEMBER_IDS])
        found: Ints = counts.to_numpy().astype(np.int64)
        return found

    @cached_property
    def first(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.size)])

    @cached_property
    def client_ids(self) -> Any:
        """All members' ids, those of the first epoch first."""
        return pc.list_flatten(self._table[MEMBER_IDS])

    def column(self, name: str) -> Any:
        """Return a column with a value for each epoch."""
        return self._table[name]

    @cached_property
    def _group_no(self) -> Ints:
        found: Ints = self._table[c.GROUP_NO].to_numpy().astype(np.int64)
        return found

    @cached_property
    def _epoch(self) -> Ints:
        found: Ints = self._table[c.EPOCH].to_numpy()
        return found


@dataclass(frozen=True, slots=True)
class Share:
    """Members that have queues: each array has one value per member and step.

    Sorted by step, then by place. `step` are positions in the arrays of `StepRows`.
    """

    step: Ints
    place: Ints
    queues: Ints
    seconds: Floats
    """Known seconds of the step, as a mean over its queues."""
    unknown: Floats
    """The other seconds in which its queues were present."""
    lag: Floats
    load: Floats
    taken: Floats
    """Messages a second that were committed in its queues."""
    known: Ints
    """How many of its queues have a known lag and a known load."""
    lag_whole: Flags
    load_whole: Flags
    """Whether lag, or load, is known of all its queues."""

    @property
    def is_known(self) -> Flags:
        """Tell for which members the lag and load of all queues are known."""
        found: Flags = self.lag_whole & self.load_whole
        return found

    @property
    def is_owned(self) -> Flags:
        found: Flags = self.place != NOBODY
        return found


class StepRows:
    """Rows of queues in steps, of whole groups; and the steps that they are in.

    `table` has `STEP_COLUMNS` and a column of places for each candidate; `most_added`
    is the most members that a candidate adds. A step that spans two epochs is two.
    """

    def __init__(self, table: pa.Table, names: EpochNames, most_added: int) -> None:
        self._table = table
        self._lag = _Known(table[c.LAG_MEAN])
        self._load = _Known(table[c.IN_RATE])
        self._taken = _Known(table[c.OUT_RATE])
        self._seconds = _floats(table[c.SECONDS])
        self._unknown = _floats(table[c.UNKNOWN_SECONDS])
        group_no = table[c.GROUP_NO].to_numpy().astype(np.int64)
        epoch = table[c.EPOCH].to_numpy()
        since = table[c.SINCE].cast(pa.int64()).to_numpy()
        order = np.lexsort((since, epoch, group_no))
        begins = np.ones(len(order), bool)
        begins[1:] = False
        for values in (group_no, epoch, since):
            begins[1:] |= values[order[1:]] != values[order[:-1]]
        self._step = np.empty(len(order), np.int64)
        self._step[order] = np.cumsum(begins) - 1
        at = order[begins]
        self.group_no: Ints = group_no[at]
        self.since: Ints = since[at]
        self.epoch_row: Ints = names.find(group_no[at], epoch[at])
        self.members: Ints = names.size[self.epoch_row]
        # A slot for each possible member, and one before them for nobody.
        self._begin = np.concatenate([[0], np.cumsum(self.members + most_added + 1)])

    @property
    def count(self) -> int:
        """How many steps there are."""
        return len(self.since)

    def share(self, column: str) -> Share:
        """Return the members' shares when a column names the owners of the queues.

        Rows where the column is null are left out.
        """
        owner = self._table[column]
        row = np.flatnonzero(pc.is_valid(owner).to_numpy())
        place = pc.fill_null(owner, 0).to_numpy()[row].astype(np.int64)
        slot = self._begin[self._step[row]] + place + 1
        slots = int(self._begin[-1])
        counts = np.bincount(slot, minlength=slots)
        present = np.flatnonzero(counts)
        # Members with queues, numbered from 0: the sums below are by this number.
        number = np.empty(slots, np.int64)
        number[present] = np.arange(len(present))
        member = number[slot]
        queues = counts[present]
        lag, lags = self._lag.summed(row, member, len(present))
        load, loads = self._load.summed(row, member, len(present))
        taken, _ = self._taken.summed(row, member, len(present))
        step = np.searchsorted(self._begin, present, side="right") - 1
        return Share(
            step=step,
            place=present - self._begin[step] - 1,
            queues=queues,
            seconds=summed(member, self._seconds[row], len(present)) / queues,
            unknown=summed(member, self._unknown[row], len(present)) / queues,
            lag=lag,
            load=load,
            taken=taken,
            known=np.bincount(
                member[self._lag.is_known[row] & self._load.is_known[row]],
                minlength=len(present),
            ),
            lag_whole=lags == queues,
            load_whole=loads == queues,
        )

    def capacity(self, in_use: Share) -> Floats:
        """Return, by step, the most that a member of its group was seen to consume."""
        group = np.unique(self.group_no, return_inverse=True)[1]
        most = np.full(int(group.max(initial=-1)) + 1, np.nan)
        owned = in_use.is_owned
        np.fmax.at(most, group[in_use.step[owned]], in_use.taken[owned])
        return most[group]


class _Known:
    """A column's values, some of which may not be known."""

    def __init__(self, column: Any) -> None:
        self.is_known: Flags = pc.is_valid(column).to_numpy()
        self._values = _floats(pc.fill_null(column, 0.0))

    def summed(self, row: Ints, member: Ints, members: int) -> tuple[Floats, Ints]:
        """Return sums by member, NaN where nothing is known, and how many are known."""
        known = np.bincount(member[self.is_known[row]], minlength=members)
        total = summed(member, self._values[row], members)
        return np.where(known > 0, total, np.nan), known


def summed(number: Ints, values: Floats, count: int) -> Floats:
    """Return the sums of the values by their number, of which there are `count`."""
    found: Floats = np.bincount(number, values, count).astype(np.float64, copy=False)
    return found


def _floats(column: Any) -> Floats:
    found: Floats = column.to_numpy().astype(np.float64, copy=False)
    return found
