"""How long does one tick of one shift think? From a reading to the course that follows from it.

    python -m tests.bench.bench_tick --json -

A shift that watches six metrics (outcomes, attempts, abandoned, latency at three edges, two of one's own) behind some
proxies. Each stage is timed alone, the least of many rounds, since the machine may have other work: what it takes when
nothing disturbs it. Reading, deciding and storing are not in it. Figures of one run; not a test.
"""

import gc
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from math import inf
from time import perf_counter
from typing import Any

import click
import numpy as np

from control.engine.codec import Numbers
from control.engine.cursor import Cursor
from control.engine.evidence import Standing, Tide, course, findings, weigh
from control.engine.increments import increments
from control.engine.learn import learn
from control.engine.polls import Moment, poll_of
from control.engine.readings import Counts, PodCounts, PodKey, Ratio, Reading, SeriesKey
from control.engine.settle import Past, settled
from control.engine.state import Flow, ShiftState, Window
from control.engine.terms import terms_of
from control.spec import RatioQuery, TrafficShift, UserMetric
from tests.support.fake_ports import START
from tests.support.shifts import by_evidence
from tests.support.situations import seen, state

ROUNDS = 300
EDGES = (0.5, 1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000)
OWN = tuple(UserMetric(name, RatioQuery("a", "b")) for name in ("misses", "fallbacks"))
SHIFT = replace(by_evidence(), metrics=(*by_evidence().metrics, *OWN))


def reading(number: int, proxies: int, processes: int) -> Reading:
    """Counters after so many polls, 50 requests a second, a tenth of them on the canary."""
    luck = np.random.default_rng(number)
    series, pods, own = {}, {}, {}
    for version, rate in (("v1", 225), ("v2", 25)):
        for proxy in range(proxies):
            n = number * rate + int(luck.integers(0, rate))
            key = SeriesKey(version, f"proxy-{proxy}#1", f"proxy-{proxy}")
            slow = {float(edge): n - n // (2 + place * place) for place, edge in enumerate(EDGES)} | {inf: n}
            series[key] = Counts({0: n - n // 300, 14: n // 300}, n // 100, 0, 2, slow)
            own[key] = Ratio(n, n // 20)
            for pod in range(processes):
                pods[PodKey(version, f"{version}-{pod}", f"proxy-{proxy}#1")] = PodCounts(n // processes, n // 900)
    ratios = {each.name: own for each in OWN}
    return Reading(START + number * timedelta(seconds=5), series, pods=pods, ratios=ratios)


def running(proxies: int, processes: int) -> ShiftState:
    """A run that has seen a few polls."""
    first = reading(100, proxies, processes)
    bare = replace(state(), watched=None, tide=Numbers(), flow=Flow(), window=Window(), cursor=Cursor(), intent=None)
    known = learn(SHIFT, settled(SHIFT, bare, first, 2, Past()), first, seen())
    known = replace(known, intent=state().intent, acknowledged_at=START)
    for number in range(101, 130):
        known = learn(SHIFT, known, reading(number, proxies, processes), seen())
    return known


def least_ms(stage: Callable[[], Any]) -> float:
    """The least of many rounds, in milliseconds."""
    gc.collect()
    gc.disable()
    took = []
    for _ in range(ROUNDS):
        begun = perf_counter()
        stage()
        took.append(perf_counter() - begun)
    gc.enable()
    return round(min(took) * 1000, 3)


def measured(proxies: int, processes: int, wanted: TrafficShift = SHIFT) -> dict[str, Any]:
    """Each stage of one tick."""
    known, now = running(proxies, processes), reading(130, proxies, processes)
    assert known.watched is not None
    terms, edges = terms_of(wanted, known.watched), known.watched.edges_ms
    (new,), _ = increments(known.cursor, now, edges)
    at = Moment("v1", "v2", 0.1, 60.0)
    poll, _ = poll_of(new, known.watched, terms, at)
    tide = Tide.of(terms, known.tide.values)
    one, yes = np.array([1.0]), np.array([True])
    standing = Standing(one * 0.1, one * 5, one * 50, one, ~yes, one * 0, yes)
    stages: dict[str, Callable[[], Any]] = {
        "increments": lambda: increments(known.cursor, now, edges),
        "poll": lambda: poll_of(new, known.watched, terms, at),  # type: ignore[arg-type]
        "weigh": lambda: weigh(terms, tide, poll),
        "course": lambda: course(terms, findings(terms, tide), standing),
    }
    row: dict[str, Any] = {"proxies": proxies, "processes": processes, "tests": len(terms.tests)}
    row |= {name: least_ms(stage) for name, stage in stages.items()}
    row["in all"] = round(sum(row[name] for name in stages), 3)
    return row | {"learn": least_ms(lambda: learn(wanted, known, now, seen()))}


COLUMNS = ("proxies", "processes", "tests", "increments", "poll", "weigh", "course", "in all", "learn")


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown, in milliseconds."""
    lines = [[str(row[key]) for key in COLUMNS] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in [list(COLUMNS), ["---"] * len(COLUMNS), *lines])


@click.command()
@click.option("--json", "target", type=click.File("w"), default=None, help="Where to write the rows; - is stdout.")
def main(target: Any) -> None:
    """Measure one tick of one shift."""
    rows = [measured(proxies, processes) for proxies, processes in ((1, 3), (2, 8), (20, 8), (100, 8))]
    if target is not None:
        json.dump({"tick": rows}, target, indent=2)
        target.write("\n")
    if target is None or target.name != "<stdout>":
        click.echo(table(rows))


if __name__ == "__main__":
    main()
