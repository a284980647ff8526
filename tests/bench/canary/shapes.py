"""How much traffic is there, poll by poll? Seventeen shapes of an hour, each of mean 1 where nothing else is said.

A shape multiplies the rate. Some shapes also say how requests hang together; the world reads that from `Shape`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.bench.canary.luck import Luck

Floats = NDArray[np.float64]
TICK_S = 5.0
"""A tick of the virtual clock: the shortest poll."""
HOUR = 720
"""Ticks in the hour that every run is watched for."""
FIRST = 1
"""Luck's channels 1 to 9 belong to shapes."""
Curve = Callable[[Luck, Floats], Floats]


@dataclass(frozen=True, slots=True)
class Shape:
    """A load shape. `curve` gives (runs, ticks) from luck and the ticks' minutes.

    `sessions`: requests of a person follow one another on one process, in sessions of so many (0: none). `skew`: the
    busiest process gets so many times the traffic of the next (Zipf's exponent). `retries`: callers repeat what failed,
    so that load rises. `closed`: callers wait, so that load falls when answers are slow. `mean_s`: how long a request
    lasts, where that is longer than a poll (0: at once). `routes`: two kinds of callers whose mix differs by version.
    `rps`: the rate, whatever was asked for (0: as asked).
    """

    name: str
    about: str
    curve: Curve
    sessions: float = 0.0
    skew: float = 0.0
    retries: bool = False
    closed: bool = False
    mean_s: float = 0.0
    routes: bool = False
    rps: float = 0.0


def minutes() -> Floats:
    """The middle of each tick."""
    return (np.arange(HOUR) + 0.5) * TICK_S / 60.0


def steady(luck: Luck, t: Floats) -> Floats:
    return np.ones((len(luck.keys), len(t)))


def diurnal(luck: Luck, t: Floats) -> Floats:
    """An hour of a day that swings by 60 %, begun at any time of it."""
    phase = luck.uniform(FIRST, 0, (1,))
    return 1.0 + 0.6 * np.sin(2 * np.pi * (t / 1440.0 + phase))


def office_day(luck: Luck, t: Floats) -> Floats:
    """Peaks at 10 and at 15 o'clock; the hour begins between 8 and 17."""
    hour = 8.0 + 9.0 * luck.uniform(FIRST, 0, (1,)) + t / 60.0
    return 0.4 + 1.2 * np.exp(-((hour - 10.0) ** 2) / 1.5) + 1.0 * np.exp(-((hour - 15.0) ** 2) / 2.5)


def bursts(luck: Luck, t: Floats) -> Floats:
    """Two states that change at random: quiet for a minute, five times as much for a quarter of one."""
    u, busy = luck.uniform(FIRST, 0, (len(t),)), np.zeros((len(luck.keys), len(t)), bool)
    for k in range(1, len(t)):
        busy[:, k] = np.where(busy[:, k - 1], u[:, k] > 1 / 3, u[:, k] < 1 / 12)
    return np.where(busy, 2.8, 0.55)


def flash_crowd(luck: Luck, t: Floats) -> Floats:
    """Ten times the load within half a minute, gone after about ten; it comes between minutes 2 and 20."""
    since = t - (2.0 + 18.0 * luck.uniform(FIRST, 0, (1,)))
    rising = np.clip(since / 0.5, 0.0, 1.0)
    return 1.0 + 9.0 * rising * np.exp(-np.maximum(since - 0.5, 0.0) / 4.0)


def ramp_up(luck: Luck, t: Floats) -> Floats:
    return steady(luck, t) * (0.2 + 1.6 * t / 60.0)


def fade(luck: Luck, t: Floats) -> Floats:
    """From double to nothing by minute 40."""
    return steady(luck, t) * np.maximum(2.0 * (1.0 - t / 40.0), 0.0)


def cron(luck: Luck, t: Floats) -> Floats:
    """A quarter of a minute of nine times as much, each five minutes."""
    phase = 5.0 * luck.uniform(FIRST, 0, (1,))
    return 0.6 + 8.0 * (((t + phase) % 5.0) < 0.25)


def sawtooth(luck: Luck, t: Floats) -> Floats:
    """A batch arrives each ten minutes and is drained."""
    phase = 10.0 * luck.uniform(FIRST, 0, (1,))
    return 1.9 * (1.0 - ((t + phase) % 10.0) / 10.0) + 0.05


def tenants(luck: Luck, t: Floats) -> Floats:
    """One tenant in forty percent of all requests comes and goes by the minute."""
    on = luck.uniform(FIRST, 0, (len(t) // 12 + 1,)) < 0.5
    return 0.6 + 0.8 * np.repeat(on, 12, axis=1)[:, : len(t)]


def idle_then_wake(luck: Luck, t: Floats) -> Floats:
    """Nothing at all until minute 15."""
    return steady(luck, t) * np.where(t < 15.0, 0.0, 4.0 / 3.0)


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("steady", "the same all the time", steady),
        Shape("diurnal", "an hour of a day that swings by 60 %", diurnal),
        Shape("office-day", "an hour of a day with two peaks", office_day),
        Shape("bursts", "two states that change at random (MMPP)", bursts),
        Shape("flash-crowd", "ten times the load, within half a minute", flash_crowd),
        Shape("ramp-up", "from a fifth to nearly double", ramp_up),
        Shape("fade", "from double to nothing by minute 40", fade),
        Shape("cron", "spikes of nine times as much each five minutes", cron),
        Shape("sawtooth", "a batch each ten minutes, drained", sawtooth),
        Shape("sticky", "sessions of twenty requests stay with their process", steady, sessions=20.0),
        Shape("tenants", "one tenant brings 40 %, comes and goes; processes unevenly loaded", tenants, skew=0.7),
        Shape("client-retries", "callers repeat what failed: load rises with errors", steady, retries=True),
        Shape("closed-loop", "callers wait for answers: load falls when they are slow", steady, closed=True),
        Shape("very-low", "0.2 requests a second, whatever was asked for", steady, rps=0.2),
        Shape("idle-wake", "nothing for a quarter of an hour, then a third more", idle_then_wake),
        Shape("streams", "requests last 45 s (model streams); latency is the first token's", steady, mean_s=45.0),
        Shape("route-mix", "two routes, one ten times worse; their mix differs by version", steady, routes=True),
    )
}
