"""What is wrong with the canary, or with the world, and what should become of the release?"""

from dataclasses import dataclass, field
from enum import StrEnum
from math import inf

from tests.bench.canary.rates import Rates


class Fate(StrEnum):
    """What a perfect judge would do."""

    PROMOTE = "promote"
    ROLL_BACK = "roll back"
    WAIT = "wait"
    """There is nothing to judge by: neither promote nor blame the version."""
    EITHER = "either"
    """On a margin, or somebody else's fault: reported, not judged."""


class Gone(StrEnum):
    """What is lost, from `gone_s` on."""

    NOTHING = "nothing"
    SCRAPE = "scrape"
    """The source no longer answers."""
    CANARY_SCRAPE = "canary scrape"
    """The canary's counters no longer answer."""
    ROUTE = "route"
    """Requests no longer reach the canary, whatever the weights say."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One world. Units: seconds since the canary's first weight; rates 0 to 1; sd of logarithms.

    `stable`, `canary`: their rates. The canary's hold from `onset_s` on, reached within `over_s`, until `heals_s` (both
    versions alike before and after). `processes`: stable's, the canary's. `bad_processes`: how many of the canary's
    are bad (0: all). `clumps`: mean size of clumps of failures and retries. `noise`: sd of the rates of a process from
    poll to poll, `memory` its autocorrelation a poll; `common`: all processes of a version share that noise. `spread`:
    lasting sd between processes. `drift`: both versions' rates swing by so much. `outage`: both versions' rates are
    multiplied from, until, by. `restart_s`: mean time between restarts of a process, which lose counts. `late`: chance
    that a process is not scraped in a poll. `warm_up_s`: what the release says of warming up. `named`: the metric that
    a rollback should blame.
    """

    name: str
    about: str
    fate: Fate
    stable: Rates = Rates()
    canary: Rates | None = None
    onset_s: float = 0.0
    over_s: float = 0.0
    heals_s: float = inf
    processes: tuple[int, int] = (6, 3)
    bad_processes: int = 0
    clumps: float = 1.0
    noise: float = 0.0
    memory: float = 0.0
    common: bool = False
    spread: float = 0.0
    drift: float = 0.0
    outage: tuple[float, float, float] = (inf, inf, 1.0)
    restart_s: float = inf
    late: float = 0.0
    gone: Gone = Gone.NOTHING
    gone_s: float = inf
    warm_up_s: float = 0.0
    named: str = ""
    tags: frozenset[str] = field(default_factory=frozenset)

    @property
    def then(self) -> Rates:
        return self.canary or self.stable


def percent(rate: float) -> str:
    return f"{rate * 100:g}"


LOW, HIGH = 0.003, 0.021
"""Stable's bad rates: a good service, and the one that this project began with."""
NOISES = {
    "iid": ("requests fail independently", {}),
    "clumps-5": ("failures come in clumps of 5", {"clumps": 5.0}),
    "clumps-20": ("failures come in clumps of 20", {"clumps": 20.0}),
    "poll-noise": ("each process has a rate of its own in each poll (sd 0.8)", {"noise": 0.8}),
    "ar-noise": ("each process has bad minutes of its own (AR 0.9, sd 0.7)", {"noise": 0.7, "memory": 0.9}),
    "drift": ("rates swing by 80 %, for both", {"drift": 0.8}),
    "shared-outage": ("ten times as many failures for both, minutes 2 to 8", {"outage": (120.0, 480.0, 10.0)}),
    "neighbour": ("three times as many failures for both, minutes 1 to 20", {"outage": (60.0, 1200.0, 3.0)}),
    "resets": ("processes restart each 2 minutes and lose counts", {"restart_s": 120.0}),
    "late-scrapes": ("a third of the processes is not scraped in each poll", {"late": 0.33}),
}
INDEPENDENT = frozenset({"aa", "independent"})


def alike() -> list[Scenario]:
    """Both versions are the same, beside noise."""
    return [
        Scenario(
            f"aa-{noise}-{percent(rate)}",
            f"{about}; {percent(rate)} % for both",
            Fate.PROMOTE,
            Rates(failed=rate),
            tags=INDEPENDENT,
            **kind,
        )
        for noise, (about, kind) in NOISES.items()
        for rate in (LOW, HIGH)
    ]


def unlike_processes() -> list[Scenario]:
    """Processes that differ for good."""
    return [
        Scenario(
            f"spread-{sd:g}-{canary}",
            f"processes differ by sd {sd:g}; {canary} of the canary, 10 of stable; 2.1 %",
            Fate.PROMOTE if canary > 1 else Fate.EITHER,
            Rates(failed=HIGH),
            processes=(10, canary),
            spread=sd,
            tags=frozenset({"aa", "spread"} if canary > 1 else {"spread-one"}),
        )
        for sd in (0.3, 0.5)
        for canary in (1, 3, 6)
    ]


def common_noise() -> list[Scenario]:
    return [
        Scenario(
            f"common-noise-{percent(rate)}",
            f"all processes of a version share its bad minutes (AR 0.9, sd 0.7); {percent(rate)} %",
            Fate.EITHER,
            Rates(failed=rate),
            noise=0.7,
            memory=0.9,
            common=True,
            tags=frozenset({"common"}),
        )
        for rate in (LOW, HIGH)
    ]


def step(before: float, after: float) -> Scenario:
    return Scenario(
        f"errors-{percent(before)}-{percent(after)}",
        f"{percent(before)} % of requests fail on stable, {percent(after)} % on the canary",
        Fate.ROLL_BACK,
        Rates(failed=before),
        Rates(failed=after),
        named="outcomes",
        tags=frozenset({"bad"}),
    )


def margins() -> list[Scenario]:
    """At the tolerated margin, at the proven one, and beyond."""
    rows = []
    for rate in (LOW, HIGH):
        proven = 0.25 * rate + 0.005
        for name, about, over, fate in (
            ("tolerated", "at the tolerated margin", 0.1 * rate + 0.0005, Fate.PROMOTE),
            ("proven", "at the proven margin", proven, Fate.EITHER),
            ("twice", "at twice the proven margin", 2 * proven, Fate.ROLL_BACK),
        ):
            rows.append(
                Scenario(
                    f"edge-{name}-{percent(rate)}",
                    f"{about}: {percent(rate)} % and {percent(round(rate + over, 6))} %",
                    fate,
                    Rates(failed=rate),
                    Rates(failed=rate + over),
                    named="outcomes",
                    tags=frozenset({"edge", f"edge-{name}"}),
                )
            )
    return rows


def faults() -> list[Scenario]:
    base = Rates()
    bad = frozenset({"bad"})
    return [
        step(LOW, 0.02),
        step(HIGH, 0.04),
        step(0.0, 0.01),
        step(LOW, 0.20),
        Scenario("ramp", "0.3 to 4 % within ten minutes", Fate.ROLL_BACK, base, base.failing(0.04), over_s=600.0, named="outcomes", tags=bad),
        Scenario("late", "2 % from minute 5 on", Fate.ROLL_BACK, base, base.failing(0.02), onset_s=300.0, named="outcomes", tags=bad | {"late"}),
        Scenario("late-10", "2 % from minute 10 on", Fate.ROLL_BACK, base, base.failing(0.02), onset_s=600.0, named="outcomes", tags=bad | {"late"}),
        Scenario("slower-1.3", "every request takes 1.3 times as long", Fate.ROLL_BACK, base, base.slower(1.3), named="latency", tags=bad),
        Scenario("slower-2", "every request takes twice as long", Fate.ROLL_BACK, base, base.slower(2.0), named="latency", tags=bad),
        Scenario("tail", "the slowest 3 % take twice as long", Fate.ROLL_BACK, base, base.slow_tail(0.03, 2.0), named="latency", tags=bad),
        Scenario("bimodal", "5 % of requests take a second more", Fate.ROLL_BACK, base, base.second_mode(0.05), named="latency", tags=bad),
        Scenario("first-token", "the first token comes twice as late, errors alike", Fate.ROLL_BACK, base, base.slower(2.0), named="latency", tags=bad),
        Scenario("retry-storm", "10 % of requests are repeated, and then succeed", Fate.ROLL_BACK, base, Rates(retried=0.1), named="attempts", tags=bad),
        Scenario("warms-up", "10 % fail in the first minute, then none more", Fate.PROMOTE, base, base.failing(0.1), heals_s=60.0, warm_up_s=60.0, tags=frozenset({"warm"})),
        Scenario("stays-cold", "10 % fail, and go on failing", Fate.ROLL_BACK, base, base.failing(0.1), warm_up_s=60.0, named="outcomes", tags=bad | {"warm"}),
        Scenario("better", "the canary fails a third as often", Fate.PROMOTE, Rates(failed=HIGH), Rates(failed=HIGH / 3), tags=frozenset({"better"})),
    ]  # fmt: skip


def losses() -> list[Scenario]:
    base, lost = Rates(), frozenset({"no-data"})
    return [
        Scenario("scrape-gone", "no counters at all from minute 1 on", Fate.WAIT, base, gone=Gone.SCRAPE, gone_s=60.0, tags=lost),
        Scenario("canary-scrape-gone", "the canary's counters are gone from minute 1 on", Fate.WAIT, base, gone=Gone.CANARY_SCRAPE, gone_s=60.0, tags=lost),
        Scenario("route-gone", "requests stop reaching the canary at minute 1", Fate.WAIT, base, gone=Gone.ROUTE, gone_s=60.0, tags=lost),
        Scenario("zero-share", "requests never reach the canary", Fate.WAIT, base, gone=Gone.ROUTE, gone_s=0.0, tags=lost),
        Scenario("one-of-3-bad", "one process of three fails 5 %", Fate.EITHER, base, base.failing(0.05), bad_processes=1, named="outcomes", tags=frozenset({"pod"})),
        Scenario("one-of-10-bad", "one process of ten fails 5 %", Fate.EITHER, base, base.failing(0.05), processes=(10, 10), bad_processes=1, named="outcomes", tags=frozenset({"pod"})),
    ]  # fmt: skip


SCENARIOS = {
    each.name: each for each in (*alike(), *unlike_processes(), *common_noise(), *margins(), *faults(), *losses())
}
