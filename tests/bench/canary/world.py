"""What happens in five seconds? Many runs at once, each with its own conditions and its own luck.

Requests arrive at the serving processes of both versions as a Poisson process (in sessions, where the shape says so);
each is failed, retried, abandoned or slow with the chance that its process has at that moment. The share of the canary
is the policy's; everything else is a function of the run's name.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from tests.bench.canary.conditions import Conditions, Name, conditions, luck_of
from tests.bench.canary.draws import binomial, clumped, poisson
from tests.bench.canary.luck import Luck
from tests.bench.canary.rates import CHANNELS, FAILED, REQUESTS, RETRIED, SLOW
from tests.bench.canary.shapes import HOUR, TICK_S

Floats = NDArray[np.float64]

NOISE, SPREAD, ARRIVALS, BAD, CLUMPS, SIZES, SESSIONS, LEAVING, ENDING = range(10, 19)
"""Luck's channels of the world."""
KINDS = len(CHANNELS) - 1
CLUMPED = (FAILED, RETRIED)
OVER_250 = SLOW + 2
ROUTES = (0.3, 3.0)
"""How often requests of each route fail, as a multiple of the mean."""
MIX_SHIFTS_S = 600.0


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What goes on from tick to tick. Units: (runs, routes, processes), `owed` with one more axis of clumped channels.

    `noise`: the processes' autocorrelated deviation; `owed`: failures of a clump that await requests; `sessions`: how
    many go on, a request a tick each; `ending`: failures of long requests that have not ended; `failing`, `slow`
    (runs,): part of all requests of the last tick.
    """

    noise: Floats
    owed: Floats
    sessions: Floats
    ending: Floats
    failing: Floats
    slow: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Tick:
    """What a tick brought. `counts` (runs, routes, processes, channels); `excess`, `slow_excess` (runs,): requests of
    the canary that failed, or passed 250 ms, only because it is not stable, as expected for its realised requests.
    """

    counts: Floats
    excess: Floats
    slow_excess: Floats


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Runs of one layout: (stable's processes, the canary's, routes). `lasting` (runs, processes, 2): how processes
    differ for good, in failures and in slowness.
    """

    layout: tuple[int, int, int]
    luck: Luck
    given: Conditions
    lasting: Floats
    state: State

    @property
    def stable(self) -> int:
        """How many of the processes are stable's: they come first."""
        return self.layout[0]

    @property
    def grid(self) -> tuple[int, int]:
        """Routes and processes."""
        return self.layout[2], self.layout[0] + self.layout[1]

    @property
    def runs(self) -> int:
        return len(self.luck.keys)

    def take(self, where: NDArray[np.intp]) -> "World":
        """Some of the runs."""
        return replace(
            self,
            luck=self.luck.take(where),
            given=self.given.take(where),
            lasting=self.lasting[where],
            state=State(*(getattr(self.state, each.name)[where] for each in fields(State))),
        )


def world(names: Sequence[Name], stream: str) -> World:
    """The world of runs at its beginning. They must have one layout."""
    luck = luck_of(names, stream)
    given = conditions(names, luck)
    stable, canary, routes = names[0].layout
    grid = (len(names), routes, stable + canary)
    z = luck.normal(SPREAD, 0, (stable + canary, 2))
    spread = given.spread[:, None, None]
    lasting = np.exp(spread * z - spread**2 / 2)
    none = np.zeros(len(names))
    state = State(np.zeros(grid), np.zeros((*grid, len(CLUMPED))), np.zeros(grid), np.zeros(grid), none, none)
    made = World((stable, canary, routes), luck, given, lasting, state)
    if not given.sessions.any():
        return made
    going = poisson(luck.uniform(SESSIONS, HOUR, made.grid), _arriving(made, 0, none))
    return replace(made, state=replace(state, sessions=going))


def step(now: World, tick: int, share: Floats) -> tuple[World, Tick]:
    """A tick with the canary at `share` (runs,)."""
    requests, sessions = _requests(now, tick, share)
    noise = _noise(now, tick)
    stable, canary = mean_rates(now, tick)
    bad, owed, ending = _bad(now, tick, requests, _rates(now, stable, canary, noise))
    counts = np.concatenate([requests[..., None], bad], axis=-1)
    in_all = counts.sum(axis=(1, 2))
    n = np.maximum(in_all[:, REQUESTS], 1.0)
    state = State(noise, owed, sessions, ending, in_all[:, FAILED] / n, in_all[:, OVER_250] / n)
    over = (requests[:, :, now.stable :, None] * (canary - stable)).sum(axis=(1, 2))
    return replace(now, state=state), Tick(counts, over[:, FAILED - 1], over[:, OVER_250 - 1])


def _arriving(now: World, tick: int, share: Floats) -> Floats:
    """Requests expected at each process (runs, routes, processes)."""
    given = now.given
    load = given.load[:, tick]
    load = np.where(given.retries, load * (1.0 + 2.0 * now.state.failing), load)
    load = np.where(given.closed, load / (1.0 + 4.0 * now.state.slow), load)
    share = np.where(tick * TICK_S >= given.route_gone_s, 0.0, share)
    by_version = np.repeat(np.stack([1.0 - share, share], axis=-1), now.layout[:2], axis=-1)
    return (load[:, None] * by_version * given.weights)[:, None, :] * _mix(now, tick)


def _mix(now: World, tick: int) -> Floats:
    """The part of a version's requests that comes by each route (routes, processes): the canary's callers change."""
    if now.layout[2] == 1:
        return np.ones(now.grid)
    worse = 0.5 + 0.3 * min(tick * TICK_S / MIX_SHIFTS_S, 1.0)
    return np.repeat([[0.5, 1.0 - worse], [0.5, worse]], now.layout[:2], axis=-1)


def _requests(now: World, tick: int, share: Floats) -> tuple[Floats, Floats]:
    """Requests of the tick at each process, and sessions that go on."""
    expected = _arriving(now, tick, share)
    rows = np.flatnonzero(now.given.sessions > 0)
    if not len(rows):
        return poisson(now.luck.uniform(ARRIVALS, tick, now.grid), expected), now.state.sessions
    luck, length = now.luck.take(rows), now.given.sessions[rows][:, None, None]
    going, new = now.state.sessions[rows], expected[rows]
    going = np.where(new > 0, going - binomial(luck.uniform(LEAVING, tick, now.grid), going, 1.0 / length), 0.0)
    sessions = now.state.sessions.copy()
    sessions[rows] = expected[rows] = going + poisson(luck.uniform(SESSIONS, tick, now.grid), new / length)
    return poisson(now.luck.uniform(ARRIVALS, tick, now.grid), expected), sessions


def _noise(now: World, tick: int) -> Floats:
    """The processes' deviations, standard normal from poll to poll with the scenario's memory."""
    rows = np.flatnonzero(now.given.noise > 0)
    if not len(rows):
        return now.state.noise
    fresh = now.luck.take(rows).normal(NOISE, tick, now.grid)
    first = np.repeat(fresh[..., [0, now.stable]], now.layout[:2], axis=-1)
    fresh = np.where(now.given.common[rows][:, None, None], first, fresh)
    memory = now.given.memory[rows][:, None, None] if tick else np.zeros(1)
    noise = now.state.noise.copy()
    noise[rows] = memory * noise[rows] + np.sqrt(1.0 - memory**2) * fresh
    return noise


def progress(given: Conditions, tick: int) -> Floats:
    """How far each canary's fault has come, 0 to 1 (runs,)."""
    at = (tick + 0.5) * TICK_S
    so_far = np.clip((at - given.onset_s) / np.maximum(given.over_s, 1e-9), 0.0, 1.0)
    return np.where((at >= given.onset_s) & (at < given.heals_s), so_far, 0.0)


def shared(given: Conditions, tick: int) -> Floats:
    """By how much both versions' odds of a bad request are multiplied now (runs,)."""
    at = tick * TICK_S
    begin, end, times = given.outage.T
    swing = 1.0 + given.drift * np.sin(2 * np.pi * at / 1200.0)
    return np.asarray(swing * np.where((begin <= at) & (at < end), times, 1.0))


def scaled(rates: Floats, times: Floats) -> Floats:
    """Chances whose odds are so many times as large; small chances are simply multiplied."""
    return rates * times / (1.0 - rates + rates * times)


def mean_rates(now: World, tick: int) -> tuple[Floats, Floats]:
    """Stable's mean rates (runs, routes, 1, kinds), and each canary process's (runs, routes, processes, kinds)."""
    given = now.given
    fault = (progress(given, tick)[:, None] * (given.canary - given.stable))[:, None, :]
    canary = given.stable[:, None] + given.faulty[:, :, None] * fault
    route = np.array(ROUTES if now.layout[2] > 1 else (1.0,))
    times = (shared(given, tick)[:, None] * route)[:, :, None, None]
    return scaled(given.stable[:, None, None], times), scaled(canary[:, None], times)


def _rates(now: World, stable: Floats, canary: Floats, noise: Floats) -> Floats:
    """Every process's chances now (runs, routes, processes, kinds)."""
    rates = np.concatenate([np.repeat(stable, now.stable, axis=2), canary], axis=2)
    rows = np.flatnonzero((now.given.noise > 0) | (now.given.spread > 0))
    if len(rows):
        sd = now.given.noise[rows][:, None, None]
        poll = np.exp(sd * noise[rows] - sd**2 / 2)[..., None]
        lasting = np.repeat(now.lasting[rows], (SLOW - 1, KINDS - SLOW + 1), axis=-1)[:, None]
        rates[rows] = scaled(rates[rows], poll * lasting)
    return rates


def _bad(now: World, tick: int, requests: Floats, rates: Floats) -> tuple[Floats, Floats, Floats]:
    """Bad requests of each kind, failures that are owed, and failures of requests that go on."""
    u = now.luck.uniform(BAD, tick, (*now.grid, KINDS))
    bad, first = np.empty(u.shape), SLOW - 1
    bad[..., :first] = binomial(u[..., :first], requests[..., None], rates[..., :first])
    owed = _clumps(now, tick, requests, rates, bad)
    among, whole = requests, 1.0
    for kind in range(first, KINDS):
        among = binomial(u[..., kind], among, rates[..., kind] / np.maximum(whole, 1e-12))
        whole, bad[..., kind] = rates[..., kind], among
    return bad, owed, _endings(now, tick, bad)


def _clumps(now: World, tick: int, requests: Floats, rates: Floats, bad: Floats) -> Floats:
    """Failures and retries that come in clumps, put into `bad`; what finds no request is owed to the next tick."""
    rows = np.flatnonzero(now.given.clumps > 1)
    if not len(rows):
        return now.state.owed
    luck, size, grid = now.luck.take(rows), now.given.clumps[rows][:, None, None, None], (*now.grid, len(CLUMPED))
    n, p = requests[rows][..., None], rates[rows][..., : len(CLUMPED)]
    begun = poisson(luck.uniform(CLUMPS, tick, grid), n * p / size)
    u = luck.uniform(SIZES, tick, (*grid, 2))
    owed = now.state.owed.copy()
    wanted = owed[rows] + clumped(u[..., 0], u[..., 1], begun, size)
    found = np.minimum(wanted, n)
    bad[rows, ..., : len(CLUMPED)] = found
    owed[rows] = wanted - found
    return owed


def _endings(now: World, tick: int, bad: Floats) -> Floats:
    """Long requests: half of those that fail do so at once, the others when they would have ended. Changes `bad`."""
    rows = np.flatnonzero(now.given.mean_s > 0)
    if not len(rows):
        return now.state.ending
    u, failed = now.luck.take(rows).uniform(ENDING, tick, (*now.grid, 2)), bad[rows, ..., FAILED - 1]
    at_once, ending = binomial(u[..., 0], failed, np.array(0.5)), now.state.ending.copy()
    waiting = ending[rows] + failed - at_once
    ended = binomial(u[..., 1], waiting, np.minimum(TICK_S / now.given.mean_s[rows], 1.0)[:, None, None])
    bad[rows, ..., FAILED - 1], ending[rows] = at_once + ended, waiting - ended
    return ending


def full_excess(now: World, tick: int) -> Floats:
    """Failures a run that is all canary from `tick` on still has beyond stable's rate, as expected (runs,)."""
    total = np.zeros(now.runs)
    for each in range(tick, HOUR):
        stable, canary = mean_rates(now, each)
        over = (canary - stable)[..., FAILED - 1] * _mix(now, each)[:, now.stable :]
        total += now.given.load[:, each] * (over.sum(axis=1) * now.given.weights[:, now.stable :]).sum(axis=-1)
    return total


def served(tick: Tick, stable: int) -> tuple[Floats, Floats]:
    """Requests of stable and of the canary (runs,)."""
    n = tick.counts[..., REQUESTS].sum(axis=1)
    return n[:, :stable].sum(axis=-1), n[:, stable:].sum(axis=-1)
