"""Values that are impossible, alone or together: what is wrong, where, and what to do."""

import pytest

from tests.support.spec_shifts import places, problems

V = '{version="{{ version }}"}'


def metric(text: str) -> str:
    return f"metrics:\n- {{name: outcomes}}\n- {{name: mine, {text}}}"


def ratio(more: str = "") -> str:
    return f"prometheus: {{kind: ratio, bad: 'm{V}', total: 'n{V}'{more}}}"


def histogram(more: str = "") -> str:
    return f"prometheus: {{kind: histogram, buckets: 'm_bucket{V}'{more}}}"


def gauge(more: str) -> str:
    return f"prometheus: {{kind: gauge, value: 'm{V}'{more}}}"


ALONE = {
    "alpha of nothing": ("alpha: 0%", "spec.alpha: 0% is not above 0% and at most 20%"),
    "alpha too high": ("alpha: 20.1%", "spec.alpha: 20.1% is not above 0% and at most 20%"),
    "alpha without a unit": ("alpha: 0.01", "spec.alpha: 0.01 is not a part of requests: write it as 1%"),
    "negative alpha": ("alpha: -1%", "spec.alpha: '-1%' is not a part of requests"),
    "alpha that is not a number": ("alpha: .nan", "spec.alpha: nan is not a part of requests"),
    "beta of nothing": ("beta: 0/5", "spec.beta: 0/5 is not above 0% and at most 20%"),
    "beta too high": ("beta: 50%", "spec.beta: 50% is not above 0%"),
    "a budget of 0": ("budget: 0", "spec.budget: 0 is no budget: how many requests may fail, such as 50, or auto"),
    "a list that is none": (
        "changes: timeout",
        "spec.changes: 'timeout' is no list (write it in brackets, such as [a, b])",
    ),
    "a negative budget": ("budget: -5", "spec.budget: -5 is no budget"),
    "an endless budget": ("budget: .inf", "spec.budget: inf is not a finite number"),
    "a budget in words": ("budget: lots", "spec.budget: 'lots' is not a number"),
    "a budget that is true": ("budget: yes!", "spec.budget: 'yes!' is not a number"),
    "an objective of all": ("objective: 100%", "spec.objective: 100% is not above 0% and below 100%"),
    "an objective of none": ("objective: 0%", "spec.objective: 0% is not above 0% and below 100%"),
    "an objective beyond all": ("objective: 101%", "spec.objective: 101% is more than 100%"),
    "an unknown mode": ("mode: watch", "spec.mode: 'watch' is not possible (expected 'control' or 'observe')"),
    "an unknown source": (
        "source: datadog",
        "spec.source: 'datadog' is not possible (expected 'mesh' or",
    ),
    "a warm-up of hours": ("warmUp: 2h", "spec.warmUp: 2h is not between 0 s and 3600 s"),
    "a negative warm-up": ("warmUp: -1s", "spec.warmUp: '-1s' is not a duration"),
    "never blind": ("blindFor: 0s", "spec.blindFor: 0s is not between 1 s and 86400 s"),
    "blind for years": ("blindFor: 2d", "spec.blindFor: 2d is not between 1 s and 86400 s"),
    "a window of months": ("rollbackWindow: 30d", "spec.rollbackWindow: 30d is not between 0 s and 604800 s"),
    "a return of a day": ("return: {over: 1d}", "spec.return.over: 1d is not between 0 s and 3600 s"),
    "an unknown field of return": ("return: {after: 1s}", "spec.return.after: no such field (known here: over)"),
    "too many labels": (
        metric(ratio(", by: [a, b, c, d, e]")),
        "spec.metrics[2].prometheus.by: at most 4 labels",
    ),
    "an unknown change": ("changes: [colour]", "spec.changes[1]: 'colour' is not possible (expected 'timeout' or"),
    "no metric at all": ("metrics: []", "spec.metrics: list should have at least 1 item"),
    "an unknown metric": (
        "metrics: [{name: errors}]",
        "spec.metrics[1].name: 'errors' is not built in (outcomes, attempts, abandoned, latency); a metric of your own",
    ),
    "a metric without a name": ("metrics: [{weight: 1}]", "spec.metrics[1].name is missing"),
    "a metric that is no mapping": (
        "metrics: [outcomes]",
        "spec.metrics[1]: 'outcomes' is no mapping (write fields, such as {name: value})",
    ),
    "an unknown field of a metric": (
        "metrics: [{name: outcomes, tolerence: {ratio: 2}}]",
        "spec.metrics[1].tolerence: no such field (did you mean tolerance?)",
    ),
    "edges of what has none": (
        "metrics: [{name: outcomes, edges: auto}]",
        "spec.metrics[1].edges: no such field (known here: tolerance, proof, weight, name)",
    ),
    "a ratio below 1": (
        "metrics: [{name: outcomes, tolerance: {ratio: 0.9}}]",
        "spec.metrics[1].tolerance.ratio: 0.9 is not between 1 and 100",
    ),
    "a ratio that is not a number": (
        "metrics: [{name: outcomes, tolerance: {ratio: .nan}}]",
        "spec.metrics[1].tolerance.ratio: nan is not a finite number",
    ),
    "a ratio without end": (
        "metrics: [{name: outcomes, proof: {ratio: .inf}}]",
        "spec.metrics[1].proof.ratio: inf is not a finite number",
    ),
    "a negative extra": (
        "metrics: [{name: outcomes, tolerance: {extra: -0.1%}}]",
        "spec.metrics[1].tolerance.extra: '-0.1%' is not a part of requests: write it as 1%",
    ),
    "an extra of everything": (
        "metrics: [{name: outcomes, tolerance: {extra: 100%}}]",
        "spec.metrics[1].tolerance.extra: 100% would tolerate everything",
    ),
    "an unknown field of a margin": (
        "metrics: [{name: outcomes, tolerance: {ration: 2}}]",
        "spec.metrics[1].tolerance.ration: no such field (did you mean ratio?)",
    ),
    "a weight of 0": (
        "metrics: [{name: outcomes, weight: 0}]",
        "spec.metrics[1].weight: 0 is no weight: it must be above 0 and at most 1,000,000",
    ),
    "a weight that is not a number": ("metrics: [{name: latency, weight: .nan}]", "spec.metrics[1].weight: nan is not"),
    "an edge without a unit": (
        "metrics: [{name: latency, edges: [100]}]",
        "spec.metrics[1].edges[1]: 100 is not an edge: write it with a unit, such as 100ms or 2s",
    ),
    "an edge of 0": ("metrics: [{name: latency, edges: [0s]}]", "edges[1]: 0s is not between 0.001 ms and a day"),
    "too many edges": (
        "metrics: [{name: latency, edges: [1s, 2s, 3s, 4s]}]",
        "spec.metrics[1].edges: at most 3 edges",
    ),
    "a metric of one's own without a kind": (
        metric(f"prometheus: {{bad: 'm{V}', total: 'n{V}'}}"),
        "spec.metrics[2].prometheus.kind is missing",
    ),
    "an unknown kind": (
        metric(f"prometheus: {{kind: summary, value: 'm{V}', max: 1}}"),
        "spec.metrics[2].prometheus.kind: 'summary' is not possible (expected 'ratio', 'histogram' or 'gauge')",
    ),
    "a query that is no mapping": (
        metric("prometheus: up"),
        "spec.metrics[2].prometheus: 'up' is no mapping",
    ),
    "an unknown direction": (metric(f"direction: up, {ratio()}"), "spec.metrics[2].direction: 'up' is not possible"),
    "a ratio without its total": (
        metric(f"prometheus: {{kind: ratio, bad: 'm{V}'}}"),
        "spec.metrics[2].prometheus.total is missing",
    ),
    "an empty query": (
        metric("prometheus: {kind: ratio, bad: ' ', total: 'n{version=\"{{ version }}\"}'}"),
        "spec.metrics[2].prometheus.bad: ' ' is no PromQL",
    ),
    "an endless query": (
        metric(f"prometheus: {{kind: gauge, value: '{'a' * 5000}', max: 1}}"),
        "spec.metrics[2].prometheus.value: the query has 5,000 characters; 4,096 are the most",
    ),
    "a stratum that is no label": (metric(ratio(", by: [a-b]")), "prometheus.by[1]: 'a-b' is no label of Prometheus"),
    "the edge as a stratum": (metric(histogram(", by: [le]")), "prometheus.by[1]: 'le' tells buckets apart"),
    "an unknown unit": (metric(histogram(", unit: min")), "prometheus.unit: 'min' is not possible (expected 's', 'ms'"),
    "a limit that is not a number": (metric(gauge(", max: .nan")), "prometheus.max: nan is not a finite number"),
    "an unknown field of a gauge": (
        metric(gauge(", maxx: 1, max: 1")),
        "prometheus.maxx: no such field (did you mean max?)",
    ),
    "a rung of everything": (
        "strategy: {rungs: [5%, 100%]}",
        "spec.strategy.rungs[2]: 100% is no rung: all traffic is what follows the last one",
    ),
    "a rung of nothing": ("strategy: {rungs: [0%]}", "spec.strategy.rungs[1]: 0% is no step"),
    "no rung": ("strategy: {rungs: []}", "spec.strategy.rungs: list should have at least 1 item"),
    "a first share of everything": ("strategy: {first: 100%}", "spec.strategy.first: 100% is no rung"),
    "a bake with hardly a stable": (
        "strategy: {bake: {at: 96%}}",
        "spec.strategy.bake.at: 96% leaves stable too little to compare with: bake at 95% at most, 20% is advised",
    ),
    "a negative bake": ("strategy: {bake: {for: -1m}}", "spec.strategy.bake.for: '-1m' is not a duration"),
    "an unknown capacity": ("strategy: {capacity: cpu}", "spec.strategy.capacity: 'cpu' is not possible"),
    "steps without their kind": ("strategy: {steps: [50%, 100%]}", "spec.strategy.kind is missing"),
    "steps of another kind": (
        "strategy: {kind: magic, steps: [50%, 100%]}",
        "spec.strategy.kind: 'magic' is not possible (expected 'evidence' or 'steps')",
    ),
    "another kind": ("strategy: {kind: magic}", "spec.strategy.kind: 'magic' is not possible (expected 'evidence' or"),
    "a field of the other kind": (
        "strategy: {kind: evidence, hold: 1m}",
        "spec.strategy.hold: no such field (known here: kind, rungs, bake, first, capacity)",
    ),
    "a moment without its offset": (
        "source: prometheus\nbaseline: {from: 2026-05-01T10:00:00, to: 2026-05-01T11:00:00Z}",
        "spec.baseline.from: '2026-05-01T10:00:00' is not a moment: write it as 2026-05-01T10:00:00Z",
    ),
    "half a baseline": ("source: prometheus\nbaseline: {from: 2026-05-01T10:00:00Z}", "spec.baseline.to is missing"),
}


@pytest.mark.parametrize(("spec", "expected"), ALONE.values(), ids=ALONE.keys())
def test_an_impossible_value_is_the_only_mistake(spec: str, expected: str) -> None:
    found = problems(spec)
    assert len(found) == 1, found
    assert expected in found[0]


TOGETHER = {
    "two metrics of one name": (
        "metrics: [{name: outcomes}, {name: latency}, {name: outcomes}]",
        "spec.metrics[3].name: there are two metrics named 'outcomes' (each needs a name of its own)",
    ),
    "one's own metric with the name of a built-in one": (
        f"metrics: [{{name: latency, {histogram()}}}]",
        "spec.metrics[1].name: 'latency' is built in (give your own metric another name, or leave prometheus out)",
    ),
    "a proof narrower than the tolerance, by its ratio": (
        "metrics: [{name: outcomes, tolerance: {ratio: 1.3}, proof: {ratio: 1.2}}]",
        "spec.metrics[1].proof: the proof margin (1.2 x stable + 0.5%) is narrower than the tolerance"
        " (1.3 x stable + 0.05%) (widen proof, or tolerate less)",
    ),
    "a tolerance wider than the usual proof, by its extra": (
        "metrics: [{name: latency, tolerance: {extra: 2%}}]",
        "spec.metrics[1].tolerance: the proof margin (1.25 x stable + 1%) is narrower",
    ),
    "a tolerance wider than the usual proof, given as nothing": (
        "metrics: [{name: latency, tolerance: {extra: 2%}, proof: {extra: }}]",
        "spec.metrics[1].proof: the proof margin (1.25 x stable + 1%) is narrower",
    ),
    "a tolerance of one's own metric wider than the usual proof": (
        metric(f"tolerance: {{ratio: 2}}, {ratio()}"),
        "spec.metrics[2].tolerance: the proof margin (1.25 x stable + 0.5%) is narrower than the tolerance",
    ),
    "a proof of nothing": (
        "metrics: [{name: outcomes, tolerance: {ratio: 1, extra: 0%}, proof: {ratio: 1, extra: 0%}}]",
        "spec.metrics[1].proof: a margin of nothing can't be proven (give proof a ratio above 1, or an extra above 0%)",
    ),
    "edges that fall": (
        "metrics: [{name: latency, edges: [250ms, 0.1s]}]",
        "spec.metrics[1].edges[2]: it is not above the edge before it (write edges in rising order)",
    ),
    "an edge twice": ("metrics: [{name: latency, edges: [1s, 1000ms]}]", "spec.metrics[1].edges[2]: it is not above"),
    "edges of one's own that fall": (metric(histogram(", edges: [2s, 1s]")), "prometheus.edges[2]: it is not above"),
    "plain edges that fall": (metric(histogram(", unit: none, edges: [2, 1]")), "prometheus.edges[2]: it is not above"),
    "plain edges of time": (metric(histogram(", edges: [0.5]")), "prometheus.edges[1]: 0.5 does not fit the unit"),
    "edges of time for what is none": (
        metric(histogram(", unit: none, edges: [1s]")),
        "prometheus.edges[1]: '1s' does not fit the unit (unit: none is for what is no time: write plain numbers)",
    ),
    "a gauge without limits": (
        metric(gauge("")),
        "spec.metrics[2].prometheus: a gauge without min and max allows everything (say what it may",
    ),
    "limits the wrong way round": (
        metric(gauge(", min: 5, max: 1")),
        "spec.metrics[2].prometheus.max: max 1 is below min 5 (no value could be right)",
    ),
    "a gauge with a direction": (
        metric(f"direction: higher, {gauge(', max: 1')}"),
        "spec.metrics[2].direction: a gauge is not compared with stable, and has none (leave it out)",
    ),
    "a gauge with a tolerance": (metric(f"tolerance: {{ratio: 2}}, {gauge(', max: 1')}"), "[2].tolerance: a gauge is"),
    "a gauge with a weight": (metric(f"weight: 3, {gauge(', max: 1')}"), "spec.metrics[2].weight: a gauge is not"),
    "gauges only": (
        f"metrics: [{{name: mine, {gauge(', max: 1')}}}]",
        "spec.metrics: nothing here compares the two versions: a gauge proves nothing (add one that does,",
    ),
    "rungs that fall": (
        "strategy: {rungs: [5%, 1%]}",
        "spec.strategy.rungs[2]: 1% comes after 5% (each must",
    ),
    "a rung twice": ("strategy: {rungs: [1%, 1/100]}", "spec.strategy.rungs[2]: 1% is repeated"),
    "a first share above all rungs": (
        "strategy: {rungs: [1%, 5%], first: 10%}",
        "spec.strategy.first: 10% is above the highest rung, 5% (begin lower, or add a rung)",
    ),
    "a bake below the first share": (
        "strategy: {first: 35%}",
        "spec.strategy.first: the canary begins with 35% and is to bake at 20% (begin lower, bake higher (bake.at), or",
    ),
    "a bake below all rungs": (
        "strategy: {rungs: [10%, 50%], bake: {at: 5%}}",
        "spec.strategy.bake.at: the canary begins with 10% and is to bake at 5%",
    ),
    "the usual bake below all rungs": (
        "strategy: {rungs: [30%, 50%]}",
        "spec.strategy.rungs: the canary begins with 30% and is to bake at 20%",
    ),
    "a deadline within the bake": (
        "deadline: 5m",
        "spec.deadline: 5m is over before a bake of 10m is (give it more time, or bake for less (strategy.bake.for))",
    ),
    "blind between two looks": (
        "poll: 1m\nblindFor: 90s",
        "spec.blindFor: 1m30s is less than two looks, 1m apart (give it 2m or more, or look more often (poll))",
    ),
    "a past that the mesh doesn't have": (
        "baseline: {from: 2026-05-01T10:00:00Z, to: 2026-05-01T11:00:00Z}",
        "spec.baseline: the proxies of the mesh remember nothing (the past needs source: prometheus)",
    ),
    "a baseline that ends before it begins": (
        "source: prometheus\nbaseline: {from: 2026-05-01T10:00:00Z, to: 2026-05-01T11:00:00+02:00}",
        "spec.baseline.to: it ends before it begins (`from` is the earlier moment)",
    ),
    "a time-out that nobody watches": (
        "changes: [timeout]\nmetrics: [{name: outcomes}, {name: attempts}]",
        "spec.metrics: changes says that the release changes its time-out, and latency is not watched"
        " (add {name: latency}: failures alone would look better)",
    ),
    "retries and time-out that nobody watches": (
        "changes: [retries, timeout]\nmetrics: [{name: outcomes}]",
        "the release changes its retries and its time-out, and latency and attempts are not watched"
        " (add {name: latency} and {name: attempts}",
    ),
}


@pytest.mark.parametrize(("spec", "expected"), TOGETHER.values(), ids=TOGETHER.keys())
def test_what_is_impossible_together_is_the_only_mistake(spec: str, expected: str) -> None:
    found = problems(spec)
    assert len(found) == 1, found
    assert expected in found[0]


def test_each_has_its_place_and_all_come_at_once() -> None:
    spec = """\
alpha: 0%
metrics:
- {name: outcomes, tolerance: {ratio: 0.5}}
- name: mine
  prometheus:
    kind: gauge
    value: 'm{'
    min: 3
    max: 1
- {name: latency, edges: [2s, 1s]}
strategy:
  rungs: [5%, 1%, 2%]
  bake: {at: 97%}
budget: -1
"""
    assert places(spec) == [(1, 8), (3, 39), (7, 12), (9, 10), (10, 31), (12, 15), (13, 14), (14, 9)]
