"""Who races? Each policy by the name that POLICY= takes, and how it begins a batch of runs.

Ours races in several settings, since gates speak of them: `tidegate` is the default spec and knows nothing of the
service; `-history` has what five earlier shifts left in the ledger, and the budget that the controller then asks for;
`-known` has the dispersion of a service whose requests fail independently; `-fast` does not bake; `-fixed` stays at
10 % for the whole hour, as false alarms are counted; `-prometheus` looks each 15 s and is followed 15 s later.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import ceil

from control.engine.budget import needed_by_evidence
from control.engine.evidence import Prior, Terms
from tests.bench.canary.conditions import Name
from tests.bench.canary.history import known_of
from tests.bench.canary.policies.kayenta import RULES as KAYENTAS
from tests.bench.canary.policies.kayenta import Kayenta
from tests.bench.canary.policies.ours import WATCHED, Ours, auto_budget, terms
from tests.bench.canary.policies.policy import Case, Policy
from tests.bench.canary.policies.sequential import Kind, Sequential
from tests.bench.canary.policies.thresholds import RULES as THRESHOLDS
from tests.bench.canary.policies.thresholds import Thresholds

UNKNOWN = (Prior(),) * len(WATCHED)
QUIET = (Prior(phi=1.1, weight=100.0, known=5),) * len(WATCHED)
"""What a service's earlier shifts say whose requests fail independently."""
FIXED = 0.1


@dataclass(frozen=True, slots=True)
class Entrant:
    """`settled`: what a run's name alone decides of how it is judged; runs that agree in it race side by side. `enter`
    begins the policy for them.
    """

    name: str
    about: str
    ours: bool
    settled: Callable[[Name], Hashable]
    enter: Callable[[Hashable, Case], Policy]


def _ours(name: str, about: str, *, priors: tuple[Prior, ...] = UNKNOWN, fixed: float = 0.0, **kept: float) -> Entrant:
    return _entrant(name, about, lambda run: priors, fixed, kept)


def _with_history(name: str, about: str, *, fixed: float = 0.0, **kept: float) -> Entrant:
    """Priors from the service's ledger."""
    return _entrant(name, about, known_of, fixed, kept)


def _entrant(
    name: str, about: str, known: Callable[[Name], tuple[Prior, ...]], fixed: float, kept: Mapping[str, float]
) -> Entrant:
    """The budget is the default one, or the least that is accepted with these priors."""

    def settled(run: Name) -> Terms:
        plain = terms(known(run), budget=float("inf") if fixed else auto_budget(run.rate), **kept)
        return (
            plain
            if fixed
            else replace(
                plain, budget=max(plain.budget, ceil(needed_by_evidence(plain, run.scenario.stable.failed, run.rate)))
            )
        )

    return Entrant(name, about, True, settled, lambda held, case: Ours.of(case, held, fixed=fixed))


def _peer(name: str, about: str, begin: Callable[[Case], Policy]) -> Entrant:
    return Entrant(name, about, False, lambda run: name, lambda held, case: begin(case))


PROMETHEUS = {"poll_s": 15.0, "lag_s": 15.0}
OURS = (
    _ours("tidegate", "the default: bakes for 10 min at 20 %, knows nothing of the service"),
    _ours("tidegate-known", "the same, with the dispersion from earlier shifts", priors=QUIET),
    _with_history("tidegate-history", "the default, with the ledger of five earlier shifts"),
    _ours("tidegate-fast", "bake off, knows nothing of the service", bake_s=0.0),
    _ours("tidegate-fast-known", "bake off, dispersion from earlier shifts", priors=QUIET, bake_s=0.0),
    _ours("tidegate-prometheus", "bake off, dispersion known, polls and lag of 15 s", priors=QUIET, bake_s=0.0, **PROMETHEUS),
    _with_history("tidegate-fixed-history", "10 % for the whole hour, with five earlier shifts", fixed=FIXED, bake_s=0.0),
    _ours("tidegate-fixed", "10 % for the whole hour, only harm ends it", fixed=FIXED, bake_s=0.0),
)  # fmt: skip
ABOUT = {
    "flagger": "10 % a minute, success 99 %, P99 500 ms, 5 failed checks",
    "flagger-5x10": "5 % a minute, 10 failed checks",
    "flagger-tuned": "the first, with an oracle's threshold for each service",
    "argo": "the documentation's: 95 % each 5 min, 20/40/60/80 % for 10 min, limit 3",
    "argo-99-0": "10 % a minute, 99 %, no failed measurement",
    "argo-99-3": "10 % a minute, 99 %, three failed measurements",
    "kayenta-30m": "10 % for an hour, judged each 30 min",
    "kayenta-1m": "10 % for 30 min, judged each minute from the fifth",
    "iter8": "v1: Beta posteriors, 99 %",
    "msprt": "normal mixture, tau 1 point, alpha 1 %; 10 % a minute",
    "z-peeking": "z-test at 1 % each 15 s; 10 % a minute",
}
PEERS = (
    *(_peer(name, ABOUT[name], partial(Thresholds.of, rules=rules)) for name, rules in THRESHOLDS.items()),
    *(_peer(name, ABOUT[name], partial(Kayenta.of, rules=rules)) for name, rules in KAYENTAS.items()),
    *(_peer(kind.value, ABOUT[kind.value], partial(Sequential.of, kind=kind)) for kind in Kind),
)
ENTRANTS = {entrant.name: entrant for entrant in (*OURS, *PEERS)}
