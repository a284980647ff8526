"""What did the benchmark show? Pages of Markdown: gates and costs, every scenario, and the cross with every shape."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.bench.canary.choose import AGAINST_PEERS, BRIEF, CROSS_TITLE, HOURLY, OURS, RIVALS, Stage
from tests.bench.canary.conditions import PUBLISHED
from tests.bench.canary.costs import WEIGHTINGS, Costs, Place, costs, lost, place, pooled
from tests.bench.canary.entrants import ENTRANTS
from tests.bench.canary.heats import Run
from tests.bench.canary.reasons import REASONS
from tests.bench.canary.scenarios import SCENARIOS, Fate
from tests.bench.canary.shapes import SHAPES
from tests.bench.canary.summary import Summary, fated, grouped, steady, summary
from tests.bench.canary.tables import measured, or_dash, percent, short, table
from tests.bench.canary.verdicts import MISS, OK, Row
from tests.bench.canary.wilson import Estimate

MAIN, SCENARIO_PAGE, CROSS_PAGE = "benchmark.md", "benchmark-scenarios.md", "benchmark-shapes.md"
GOOD, BAD, NONE = Fate.PROMOTE, Fate.ROLL_BACK, Fate.WAIT
EXCESS_PLOT, FALSE_PLOT, SHARES_PLOT = "excess.svg", "false-rollbacks.svg", "shares.svg"
DESERVED = {
    Fate.PROMOTE: "should be promoted",
    Fate.ROLL_BACK: "should be rolled back",
    Fate.WAIT: "says nothing: should neither be promoted nor blamed",
    Fate.EITHER: "either end is right: reported, not judged",
}
METHOD = """\
Each run is one hour of one release in a simulator: requests arrive at the processes of both versions, fail, are
retried, given up or slow with the chance that the scenario gives each process at that moment, and policies see counters
every five seconds. What they decide reaches the traffic five seconds later (fifteen with Prometheus). All policies meet
the same traffic: a run's chance is a function of its name (stream, scenario, shape, rate, seed) and of nothing else.
Ours is the very code that the controller runs (`control/engine/evidence`), with runs on its leading axis; the peers
follow the described behaviour of Flagger, Argo Rollouts, Kayenta, iter8 (v1), mSPRT, and a z-test that is looked at
often (`tests/bench/canary/policies`). *Excess* is how many requests failed beyond stable's rate, as expected for the
requests that the canary served, counted for the whole hour, also after a promotion. Ours is watched for ten minutes
after 100 %, as the controller does. The whole controller, over HTTP and on a virtual clock, can be raced as well
(`CONTROLLER=1`). Constants were chosen on other streams; what is here is of the stream "{stream}". Intervals
are 95 %: Wilson's for parts (of the worst of many: for all at once), normal for means, by order statistics for
quantiles."""
GATES_SAID = """\
An aim that is missed is published with its reason; below the floor the run fails. `tests/bench/test_canary_gates.py`
holds the floors with fewer runs."""
POLICIES_SAID = """\
All scenarios at a steady 50 requests a second, each counted the same. *Good* and *bad*: scenarios that should be
promoted, or rolled back. *Blamed or promoted*: of runs without data, in which nothing can be judged."""
COSTS_SAID = """\
In failed requests a release: excess failures of the hour, plus so much for a good version that goes back to stable,
plus so much a minute until a good one is promoted (60 minutes where it never is). Scenarios with a right end count the
same each. The weightings were chosen before any policy was run."""
CHEAPER_SAID = """\
Every cell in which a peer's mean cost is below ours: our cost, then the peers with theirs, the cheapest first."""
SCENARIOS_SAID = """\
[The benchmark](benchmark.md) in parts: each scenario, with a steady load, and each policy that ran in it. Parts are in
percent with Wilson's interval; excess is in requests, mean with interval and 95th percentile; requests and minutes are
medians of the runs that ended so."""
SHAPES_SAID = """\
[The benchmark](benchmark.md) under every shape, and with a steady load at other rates: all scenarios together."""
POLICY_HEAD = (
    "policy",
    "false rollback %",
    "missed %",
    "budget stops %, good / bad",
    "undecided %, good / bad",
    "blamed or promoted %",
    "mean excess, bad",
    "minutes to promote",
    "minutes to roll back",
    "right metric %",
)
SHAPE_COLUMNS = (0, 1, 2, 3, 4, 6, 7)
"""Those of POLICY_HEAD that are told of each shape; the cost is put behind them."""
WARNING = "**Few runs ({fewest} a cell at least): these figures say little.**"
FEW = 100


@dataclass(frozen=True, slots=True)
class Raced:
    """A stage and what came of it."""

    stage: Stage
    runs: tuple[Run, ...]
    took_s: float


def pages(raced: Sequence[Raced], rows: Sequence[Row], when: str, where: str) -> Iterator[tuple[str, str]]:
    """Name and text of each page."""
    plain = [run for each in raced if each.stage.title != CROSS_TITLE for run in each.runs]
    crossed = [run for each in raced if each.stage.title == CROSS_TITLE for run in each.runs]
    yield MAIN, main_page(raced, plain, rows, when, where, crossed=bool(crossed))
    yield SCENARIO_PAGE, scenario_page(plain)
    if crossed:
        yield CROSS_PAGE, cross_page([*plain, *crossed])


def main_page(
    raced: Sequence[Raced], runs: Sequence[Run], rows: Sequence[Row], when: str, where: str, *, crossed: bool
) -> str:
    more = f" and [{CROSS_PAGE}]({CROSS_PAGE})" if crossed else ""
    parts = [
        "# The benchmark",
        f"`make bench-canary` wrote this page and [{SCENARIO_PAGE}]({SCENARIO_PAGE}){more} on {when}, {where}.",
        *few(raced),
        stages_table(raced),
        "## How it is measured",
        METHOD.format(stream=PUBLISHED),
        "## Gates",
        GATES_SAID,
        gates_table(rows),
        *missed(rows),
        "## Policies",
        POLICIES_SAID,
        policies_table(runs),
        f"![False rollbacks by policy]({FALSE_PLOT})",
        f"![Excess failures by policy and scenario]({EXCESS_PLOT})",
        f"![The canary's share over time]({SHARES_PLOT})",
        *cost_parts(steady(runs)),
        "## Who is who",
        entrants_table(),
    ]
    return "\n\n".join(parts) + "\n"


def entrants_table() -> str:
    rows = [(name, each.about) for name, each in ENTRANTS.items()]
    return table(("policy", "what it does"), rows).replace("---:", "---")


def few(raced: Iterable[Raced]) -> list[str]:
    fewest = min(len(each.stage.seeds) for each in raced if each.stage.title != CROSS_TITLE)
    return [WARNING.format(fewest=fewest)] if fewest < min(FEW, HOURLY, BRIEF, AGAINST_PEERS) else []


def stages_table(raced: Iterable[Raced]) -> str:
    head = ("stage", "cells", "seeds", "runs", "took")
    return table(head, [_stage_row(each.stage, len(each.runs), each.took_s) for each in raced])


def _stage_row(stage: Stage, runs: int, took_s: float) -> tuple[str, ...]:
    return stage.title, f"{len(stage.cells):,}", seeds_said(stage.seeds), f"{runs:,}", f"{took_s:.0f} s"


def seeds_said(seeds: Sequence[int]) -> str:
    """Example: 1, 2, 3 is "1 to 3"."""
    first, last = min(seeds), max(seeds)
    return f"{first} to {last}" if len(seeds) == last - first + 1 else f"{len(seeds)} of {first} to {last}"


def gates_table(rows: Iterable[Row]) -> str:
    return table(("gate", "", "found", "aim", "floor", "runs"), map(_gate_row, rows))


def _gate_row(row: Row) -> tuple[str, ...]:
    mark = row.mark if row.mark == OK else f"**{row.mark}**"
    return row.gate, mark, row.found, row.aim, row.floor, f"{row.runs:,}"


def missed(rows: Iterable[Row]) -> Iterator[str]:
    reasons = [f"- *{row.gate}*: {REASONS.get(row.gate, '**no reason is given**')}" for row in rows if row.mark == MISS]
    if reasons:
        yield "Why aims are missed:"
        yield "\n".join(reasons)


def policies_table(runs: Iterable[Run]) -> str:
    mine = grouped(steady(runs), lambda run: run.cell.policy)
    return table(POLICY_HEAD, [policy_row(policy, mine[policy]) for policy in RIVALS if policy in mine])


def policy_row(policy: str, runs: Sequence[Run]) -> tuple[str, ...]:
    by_fate = {fate: levelled(fated(runs, fate)) for fate in (GOOD, BAD, NONE)}
    good, bad, none = (summary(by_fate[fate]) if by_fate[fate] else None for fate in (GOOD, BAD, NONE))
    return (
        f"**{policy}**" if policy == OURS else policy,
        end_of(good, "rolled back"),
        end_of(bad, "promoted"),
        f"{plain_end(good, 'budget spent')} / {plain_end(bad, 'budget spent')}",
        f"{plain_end(good, 'undecided')} / {plain_end(bad, 'undecided')}",
        "—" if none is None else short(100 * (1 - none.ends["undecided"].value - none.ends["budget spent"].value)),
        "—" if bad is None else measured(bad.excess),
        or_dash(None if good is None else good.promote_minutes),
        or_dash(None if bad is None else bad.rollback_minutes),
        "—" if bad is None or bad.named is None else percent(bad.named),
    )


def levelled(runs: Sequence[Run]) -> list[Run]:
    """As many runs of each cell, those of the lowest seeds: a cell with more runs does not count for more."""
    cells = grouped(sorted(runs, key=lambda run: run.seed), lambda run: run.cell)
    fewest = min(map(len, cells.values()), default=0)
    return [run for each in cells.values() for run in each[:fewest]]


def end_of(found: Summary | None, end: str) -> str:
    return "—" if found is None else percent(found.ends[end])


def plain_end(found: Summary | None, end: str) -> str:
    return "—" if found is None else short(round(100 * found.ends[end].value, 2))


def cost_parts(runs: Sequence[Run]) -> Iterator[str]:
    """What releasing costs, and where a peer is cheaper."""
    by_weighting = [costs(runs, weighting) for weighting in WEIGHTINGS]
    yield "## Costs"
    yield COSTS_SAID
    yield pooled_table(by_weighting)
    yield "## Where a peer is cheaper"
    yield CHEAPER_SAID
    yield lost_table(by_weighting)


def pooled_table(by_weighting: Sequence[Costs]) -> str:
    found = [pooled(each, RIVALS) for each in by_weighting]
    rows = [
        (f"**{policy}**" if policy == OURS else policy, *(measured(each[policy]) for each in found))
        for policy in RIVALS
        if all(policy in each for each in found)
    ]
    return table(("policy", *map(str, WEIGHTINGS)), rows)


def lost_table(by_weighting: Sequence[Costs]) -> str:
    wins = [lost(each, RIVALS) for each in by_weighting]
    places = dict.fromkeys(where for each in wins for where in each)
    rows = [
        (place_said(where), *(_wins(found, each, where) for found, each in zip(by_weighting, wins, strict=True)))
        for where in places
    ]
    return table(("cell", *map(str, WEIGHTINGS)), rows) if rows else "None."


def _wins(found: Costs, wins: Mapping[Place, Mapping[str, Estimate]], where: Place) -> str:
    if where not in wins:
        return "—"
    peers = ", ".join(f"{policy} {short(each.value)}" for policy, each in wins[where].items())
    return f"{short(found[OURS][where].value)}: {peers}"


def place_said(where: Place) -> str:
    """Example: `late`; `late`, bursts; `late`, 500 a second."""
    scenario, shape, rps = where
    return f"`{scenario}`" + (f", {shape}" if shape != "steady" else "") + (f", {rps:g} a second" if rps != 50 else "")


def scenario_page(runs: Sequence[Run]) -> str:
    parts = [
        "# Every scenario",
        SCENARIOS_SAID,
        *scenario_parts(runs),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def scenario_parts(runs: Iterable[Run]) -> Iterator[str]:
    """A heading and a table for each scenario, shape and rate."""
    by_place = grouped(runs, lambda run: place(run.cell))
    order = {name: number for number, name in enumerate(SCENARIOS)}
    for where in sorted(by_place, key=lambda where: (order[where[0]], where[1:])):
        scenario = SCENARIOS[where[0]]
        shape = "" if where[1] == "steady" else f" {SHAPES[where[1]].about.capitalize()}."
        yield f"## {place_said(where)}"
        yield f"{scenario.about.capitalize()}; {DESERVED[scenario.fate]}.{shape}"
        yield scenario_table(by_place[where], scenario.fate)


def scenario_table(runs: Iterable[Run], fate: Fate) -> str:
    by_policy = grouped(runs, lambda run: run.cell.policy)
    rolled_back = {GOOD: "false rollback %", NONE: "blamed %"}.get(fate, "rolled back %")
    promoted = {BAD: "missed %", NONE: "promoted without data %"}.get(fate, "promoted %")
    head = (
        "policy", "runs", rolled_back, promoted, "budget stops %", "undecided %", "excess", "p95",
        "requests to roll back", "minutes to roll back", "minutes to promote", "right metric %",
    )  # fmt: skip
    return table(head, [scenario_row(name, summary(by_policy[name])) for name in ENTRANTS if name in by_policy])


def scenario_row(policy: str, found: Summary) -> tuple[str, ...]:
    ends = (percent(found.ends[end]) for end in ("rolled back", "promoted", "budget spent", "undecided"))
    took = (or_dash(each) for each in (found.rollback_requests, found.rollback_minutes, found.promote_minutes))
    named = "—" if found.named is None else percent(found.named)
    name = f"**{policy}**" if policy == OURS else policy
    return (name, f"{found.runs:,}", *ends, measured(found.excess), short(found.excess_p95), *took, named)


def cross_page(runs: Sequence[Run]) -> str:
    """Shapes instead of scenarios."""
    parts = [
        "# Every shape of load",
        SHAPES_SAID,
    ]
    for (shape, rps), mine in grouped(runs, lambda run: (run.cell.shape, run.cell.rps)).items():
        rate = SHAPES[shape].rps or rps
        parts += [f"## {shape}, {rate:g} a second", f"{SHAPES[shape].about.capitalize()}.", shape_table(mine)]
    parts += ["## All of them", *cost_parts(runs)]
    return "\n\n".join(parts).replace("\n## Costs", "\n### Costs").replace("\n## Where", "\n### Where") + "\n"


def shape_table(runs: Sequence[Run]) -> str:
    by_policy, spent = grouped(runs, lambda run: run.cell.policy), pooled(costs(runs, WEIGHTINGS[0]), RIVALS)
    rows = []
    for policy in (policy for policy in RIVALS if policy in by_policy):
        row = policy_row(policy, by_policy[policy])
        cost = measured(spent[policy]) if policy in spent else "—"
        rows.append((*(row[column] for column in SHAPE_COLUMNS), cost))
    return table((*(POLICY_HEAD[column] for column in SHAPE_COLUMNS), f"cost ({WEIGHTINGS[0]})"), rows)
