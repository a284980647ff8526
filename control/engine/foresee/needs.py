"""How much must be seen before a good version is promoted, how long does that take, and what would make it shorter?

A bet on "no worse" grows by so much a canary request; the stake must reach 1 / beta, and the mean over the bets of the
grid costs the logarithm of their number. Without failures that is a little more than ln(bets / beta) * phi / extra.
Where nobody knows how failures clump, phi is 2: a service whose shifts have shown that they don't needs half of it.

Time: what is proven must be proven once more in the bake, which lasts at least as long as it was asked to.

Example: 0.3 % bad, proof margin 1.25 x stable + 0.5 %, at 20 %: 1,900 requests for phi 1, 3,900 for phi 2.
Example: the same with + 2 %: 300. Example: 50 requests a second, 20 % of them: 3,900 take 6 min 30 s.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, inf, isfinite, log10

from control.engine.evidence import requests_needed
from control.engine.foresee.assumed import Setting

WIDEST = 0.5
"""An extra that nobody would call a margin any more."""
_HALVINGS = 40


@dataclass(frozen=True, slots=True)
class Need:
    """Canary requests that one test needs at the share at which everything is proven, and how long they take.

    Units: `rate` is how often stable is bad there; `seconds` is inf where the traffic is not known.
    """

    test: int
    rate: float
    requests: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Remedies:
    """What would make it fit into `limit_s`, each by itself.

    `wider`: by name of metric, an extra for its proof margin that is wide enough; None: none is. `deadline_s`: the
    time that it takes as it is. `per_s`: requests a second at which it would fit.
    """

    limit_s: float
    deadline_s: float
    per_s: float
    wider: dict[str, float | None]


def proof_share(at: Setting) -> float:
    """The share of the canary at which everything is proven: the highest rung up to that of the bake."""
    most = at.terms.bake_at if at.terms.bake_s > 0 else at.terms.learn_at
    return max((rung for rung in at.terms.rungs if rung <= most + 1e-9), default=at.terms.rungs[0])


def needs(at: Setting) -> tuple[Need, ...]:
    """For each test, in their order."""
    return tuple(_need(at, test) for test in range(len(at.terms.tests)))


def _need(at: Setting, test: int) -> Need:
    rate, share = float(at.rates[test, 0]), proof_share(at)
    requests = float(requests_needed(at.terms, test, rate, share, at.terms.tests[test].prior.dispersion))
    known = isfinite(at.given.per_s)
    return Need(test, rate, requests, requests / (at.given.per_s * share) if known else inf)


def takes_s(at: Setting, proof_s: float) -> float:
    """How long it takes where proving takes so long: it is proven once, in the bake, which may have to last longer."""
    return max(at.terms.bake_s, proof_s)


def _fits_s(at: Setting, limit_s: float) -> float:
    """How long proving may take, so that all of it takes no longer than the limit; 0 where the bake alone does."""
    return limit_s if at.terms.bake_s < limit_s else 0.0


def remedies(at: Setting, limit_s: float) -> Remedies | None:
    """What to change when it takes longer than the limit; None when it doesn't, or when nobody knows the traffic."""
    found = needs(at)
    slowest = max(found, key=lambda need: need.seconds, default=None)
    if slowest is None or not isfinite(at.given.per_s) or takes_s(at, slowest.seconds) <= limit_s:
        return None
    fits_s, share = _fits_s(at, limit_s), proof_share(at)
    most = at.given.per_s * share * fits_s
    slow = [each for each in found if each.requests > most]
    return Remedies(
        limit_s=limit_s,
        deadline_s=takes_s(at, slowest.seconds),
        per_s=slowest.requests / (share * fits_s) if fits_s else inf,
        wider=_wider(at, slow, most),
    )


def _wider(at: Setting, slow: Sequence[Need], most: float) -> dict[str, float | None]:
    """For each metric the extra that is wide enough for all of its edges."""
    found: dict[str, float | None] = {}
    for need in slow:
        metric, extra = at.terms.tests[need.test].metric, _wide_enough(at, need.test, most)
        before = found.get(metric, 0.0)
        found[metric] = None if extra is None or before is None else max(extra, before)
    return found


def _wide_enough(at: Setting, test: int, most: float) -> float | None:
    """The smallest extra, in two digits, with which so many requests suffice; None where none does."""
    low, high = at.terms.tests[test].proven.extra, WIDEST
    if _with_extra(at, test, high) > most:
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _with_extra(at, test, middle) <= most else (middle, high)
    return rounded_up(high)


def rounded_up(value: float) -> float:
    """Two digits, never less. Example: 0.01234 is 0.013."""
    unit = 10.0 ** (floor(log10(value)) - 1)
    return round(ceil(value / unit - 1e-9) * unit, 12)


def _with_extra(at: Setting, test: int, extra: float) -> float:
    tests = list(at.terms.tests)
    tests[test] = replace(tests[test], proven=replace(tests[test].proven, extra=extra))
    terms = replace(at.terms, tests=tuple(tests))
    return float(requests_needed(terms, test, float(at.rates[test, 0]), proof_share(at), tests[test].prior.dispersion))
