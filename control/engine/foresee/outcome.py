"""What came of each run that was foreseen?"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from control.engine.evidence.terms import Floats, Ints

UNNAMED = -1


class End(IntEnum):
    """How a run ended. A run that is `RETURNED` was promoted, and taken back within the rollback window."""

    GOING = 0
    PROMOTED = 1
    ROLLED_BACK = 2
    SPENT = 3
    RETURNED = 4


@dataclass(frozen=True, slots=True, eq=False)
class Foreseen:
    """What came of each run (runs,); those that still go on when the time is over are undecided.

    `end` of `End`; `seconds` until then; `requests`, `failed`: the canary's until then, of returned ones also at 100 %;
    `excess`: failed ones beyond what stable would have failed; `leading`: the test that did most for a rollback, or
    UNNAMED. `changes` (changes, 3): when, of which run, to which share, in the order of time.
    """

    end: Ints
    seconds: Floats
    requests: Floats
    failed: Floats
    excess: Floats
    leading: Ints
    changes: Floats

    @property
    def runs(self) -> int:
        return len(self.end)

    def shares_at(self, moments: Floats) -> Floats:
        """Where every run stands (moments, runs). Units: seconds since the first decision, rising."""
        shares = np.zeros((len(moments), self.runs))
        for row, (run, share) in zip(np.searchsorted(moments, self.changes[:, 0]), self.changes[:, 1:], strict=True):
            shares[row:, int(run)] = share
        return shares

    def entered(self, share: float) -> Floats:
        """When each run was first given this share (runs,), nan where it never was."""
        first = np.full(self.runs, np.nan)
        there = self.changes[np.abs(self.changes[:, 2] - share) < 1e-9]
        np.fmin.at(first, there[:, 1].astype(np.int64), there[:, 0])
        return first


def in_order(changes: Sequence[Floats]) -> Floats:
    """All changes as one array, in the order of time; of one moment as they were noted."""
    found = np.concatenate([np.zeros((0, 3)), *changes])
    return np.asarray(found[np.argsort(found[:, 0], kind="stable")])


def changed(seconds: Floats, runs: Ints, share: Floats) -> Floats:
    """Changes of many runs at once."""
    return np.stack(np.broadcast_arrays(seconds, np.asarray(runs, float), share), axis=-1)
