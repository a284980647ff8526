"""What is a policy? It sees increments, tick by tick, and says which share the canary gets, and when it is done."""

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tests.bench.canary.luck import Luck
from tests.bench.canary.telemetry import Seen

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class End(IntEnum):
    """How a run ended. GOING: not yet."""

    GOING = 0
    PROMOTED = 1
    ROLLED_BACK = 2
    """The version was judged bad."""
    SPENT = 3
    """The budget was used up: no verdict on the version."""


UNNAMED = -1


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """What a policy wants after a tick. Units: (runs,): the canary's share, `End`, and the index of the metric blamed
    (into METRICS; -1 for none).
    """

    share: Floats
    end: Ints
    named: Ints
    why: Ints | None = None
    """What a policy of ours says of it (its `Action`), for reports."""
    watched: Bools | None = None
    """Runs that were promoted, are still looked at, and may yet be taken back."""

    @classmethod
    def same(cls, share: Floats) -> Self:
        """Nothing new."""
        return cls(share, np.full(len(share), End.GOING), np.full(len(share), UNNAMED))


METRICS = ("outcomes", "attempts", "abandoned", "latency")


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """What a policy may know before runs begin: the world's fixed facts, not its fault.

    `layout`: stable's and the canary's processes, and routes. Units: (runs,): `rps` is what stable serves at the start,
    `base` its usual part of failed requests (for the policies that an oracle tunes), `warm_up_s` what the release says
    of warming up, `longest_s` how long stable's longest requests last.
    """

    layout: tuple[int, int, int]
    luck: Luck
    rps: Floats
    base: Floats
    warm_up_s: Floats
    longest_s: Floats

    @property
    def runs(self) -> int:
        return len(self.rps)

    @property
    def stable(self) -> int:
        return self.layout[0]

    def take(self, where: NDArray[np.intp]) -> "Case":
        """Some of the runs."""
        arrays = {name: getattr(self, name)[where] for name in ("rps", "base", "warm_up_s", "longest_s")}
        return replace(self, luck=self.luck.take(where), **arrays)


class Policy(Protocol):
    """One way to decide. A policy is a value: `see` gives the next one."""

    lag_ticks: int
    """Ticks from a decision until the traffic follows it, after the tick it was made at."""

    def begin(self) -> Floats:
        """The canary's first share (runs,)."""

    def see(self, tick: int, seen: Seen, share: Floats, settled: Bools) -> tuple[Self, Wish]:
        """After a tick with the canary at `share`; `settled`: the share is what was last wished for."""

    def take(self, where: NDArray[np.intp]) -> Self:
        """Some of the runs."""
