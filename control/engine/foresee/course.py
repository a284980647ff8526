"""What is decided at a poll, for many runs at once? The rules around the evidence, as the controller applies them.

By evidence it is the course alone. By fixed steps: harm and a spent budget end a run; else a step ends when its hold is
over, enough requests were seen, and nothing is in doubt.
"""

from dataclasses import dataclass

import numpy as np

from control.engine.evidence import Action, Findings, Standing, course
from control.engine.evidence.terms import Bools, Floats, Ints
from control.engine.foresee.assumed import Setting
from control.engine.foresee.outcome import End
from control.engine.judge import IN_DOUBT
from control.spec import EvidenceStrategy, StepStrategy


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What a run does now (runs,): `end` of `End`, the `share` that it wishes for, whether its bake begins."""

    end: Ints
    share: Floats
    bakes: Bools


def decided(at: Setting, found: Findings, standing: Standing, held_s: Floats, seen: Floats) -> Step:
    """Units: `held_s` since the present share came into force, `seen` canary requests since then (runs,)."""
    said = course(at.terms, found, standing)
    ends = {Action.ROLL_BACK: End.ROLLED_BACK, Action.SPENT: End.SPENT}
    end = np.select([said.action == action for action in ends], [int(each) for each in ends.values()], int(End.GOING))
    match at.shift.strategy:
        case EvidenceStrategy():
            full = said.action == Action.PROMOTE
            return Step(np.where(full, int(End.PROMOTED), end), said.share, said.action == Action.BAKE)
        case StepStrategy() as steps:
            doubted = np.isin(said.action, [int(each) for each in IN_DOUBT])
            enough = (seen >= steps.min_requests) & (held_s >= steps.hold.total_seconds())
            up = standing.ready & enough & ~doubted & (end == End.GOING)
            share = np.where(up, _above(steps, standing.share), standing.share)
            return Step(np.where(up & (share >= 1), int(End.PROMOTED), end), share, np.zeros(len(share), bool))


def _above(steps: StepStrategy, share: Floats) -> Floats:
    """The first step above each share."""
    shares = np.array([float(each) for each in steps.steps])
    return np.asarray(shares[np.minimum(np.searchsorted(shares, share + 1e-9), len(shares) - 1)])
