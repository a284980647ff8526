"""How does it look? Excess by policy and scenario, false rollbacks by policy, and a few releases minute by minute."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from tests.bench.canary.choose import OURS, RIVALS
from tests.bench.canary.entrants import ENTRANTS
from tests.bench.canary.gates import tagged
from tests.bench.canary.heats import Cell, Run, name_of
from tests.bench.canary.race import NEVER, Field, Outcomes, begin, pass_tick
from tests.bench.canary.report import EXCESS_PLOT, FALSE_PLOT, SHARES_PLOT, levelled
from tests.bench.canary.scenarios import SCENARIOS, Fate
from tests.bench.canary.shapes import HOUR, TICK_S
from tests.bench.canary.summary import fated, grouped, steady, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLE: Any = {"svg.hashsalt": "tidegate", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9}
MINE, THEIRS = "#0b6e99", "#b9bec4"
WATCHED = (OURS, "flagger", "argo", "kayenta-1m")
LINES = dict(zip(WATCHED, ("#0b6e99", "#d1495b", "#edae49", "#7a7a7a"), strict=True))
STORIES = ("aa-iid-0.3", "aa-shared-outage-0.3", "errors-0.3-2", "tail")
LEAST = 1.0
"""Less than one failed request is drawn as one."""


def draw(runs: Sequence[Run], folder: Path, stream: str, stories: Sequence[str] = STORIES) -> None:
    """All plots, into a folder. `stories`: scenarios of which one release is drawn minute by minute."""
    mpl.use("Agg")
    with mpl.rc_context(STYLE):
        _save(excess(steady(runs)), folder / EXCESS_PLOT)
        _save(false_rollbacks(steady(runs)), folder / FALSE_PLOT)
        if stories:
            _save(shares_figure(stories, stream), folder / SHARES_PLOT)


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")


def excess(runs: Sequence[Run]) -> Figure:
    """Mean excess failures: a row a policy, a column a scenario that should be rolled back and fails requests."""
    found = grouped(fated(runs, Fate.ROLL_BACK), lambda run: (run.cell.policy, run.cell.scenario))
    means = {key: summary(each).excess.value for key, each in found.items()}
    policies = [policy for policy in RIVALS if any(policy == each for each, _ in means)]
    worst = {case: max(value for (_, each), value in means.items() if each == case) for _, case in means}
    cases = [case for case in SCENARIOS if worst.get(case, 0.0) >= LEAST]
    values = np.array([[means.get((policy, case), np.nan) for case in cases] for policy in policies])
    figure = Figure(figsize=(11, 4.6))
    axes = figure.add_subplot()
    image = axes.imshow(np.maximum(values, LEAST), norm=LogNorm(LEAST, 3000), cmap="YlOrRd", aspect="auto")
    _written(axes, values)
    axes.set_xticks(range(len(cases)), cases, rotation=35, ha="right")
    axes.set_yticks(range(len(policies)), policies)
    axes.get_yticklabels()[0].set_fontweight("bold")
    axes.set_title("Requests that failed beyond stable's rate, mean of an hour at 50 a second")
    figure.colorbar(image, ax=axes, pad=0.01)
    return figure


def _written(axes: "Axes", values: np.ndarray) -> None:
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            text = f"{value:.1f}" if value < 10 else f"{value:.0f}"
            axes.text(
                column, row, text, ha="center", va="center", color="white" if value > 400 else "black", fontsize=8
            )


def false_rollbacks(runs: Sequence[Run]) -> Figure:
    """Good versions that were rolled back: pooled with interval, and the worst scenario."""
    alike = set(tagged("aa"))
    by_policy = grouped([run for run in runs if run.cell.scenario in alike], lambda run: run.cell.policy)
    policies = [policy for policy in RIVALS if policy in by_policy][::-1]
    figure = Figure(figsize=(8, 4.2))
    axes = figure.add_subplot()
    for at, policy in enumerate(policies):
        found = summary(levelled(by_policy[policy])).ends["rolled back"]
        cells = grouped(by_policy[policy], lambda run: run.cell.scenario).values()
        worst = max(summary(each).ends["rolled back"].value for each in cells)
        reach = [[100 * (found.value - found.low)], [100 * (found.high - found.value)]]
        axes.barh(
            at, 100 * found.value, xerr=reach, color=MINE if policy == OURS else THEIRS, ecolor="#444", height=0.6
        )
        axes.plot(100 * worst, at, "D", color="#d1495b", markersize=5, label="worst scenario" if at == 0 else None)
        axes.text(103, at, f"{100 * found.value:.1f} %", va="center", fontsize=8)
    axes.set_yticks(range(len(policies)), policies)
    axes.set_xlim(-1, 101)
    axes.set_xlabel("% of good versions rolled back, all noises pooled (95 % interval)")
    axes.legend(loc="upper right", bbox_to_anchor=(1.0, -0.08), frameon=False)
    axes.set_title("False rollbacks: both versions alike")
    return figure


def shares_figure(stories: Sequence[str], stream: str) -> Figure:
    """One release each (seed 1), minute by minute."""
    figure = Figure(figsize=(11, 6))
    minutes = (np.arange(HOUR) + 1) * TICK_S / 60.0
    for place, case in enumerate(stories):
        axes = figure.add_subplot(2, 2, place + 1)
        for policy in WATCHED:
            axes.step(minutes, 100 * shares(Cell(policy, case), 1, stream), color=LINES[policy], label=policy, lw=1.6)
        axes.set_title(f"{case}: should be {'promoted' if SCENARIOS[case].fate is Fate.PROMOTE else 'rolled back'}")
        axes.set_ylim(-3, 103)
        axes.set_xlabel("minutes")
        axes.set_ylabel("canary's share, %")
    figure.axes[0].legend(loc="center right")
    figure.tight_layout()
    return figure


def shares(cell: Cell, seed: int, stream: str) -> np.ndarray:
    """The canary's share in each tick of one run."""
    name, entrant = name_of(cell, seed), ENTRANTS[cell.policy]
    held = entrant.settled(name)
    at = begin([name], stream, lambda case: entrant.enter(held, case))
    outcomes, found = Outcomes.fresh(1), np.zeros(HOUR)
    for tick in range(HOUR):
        pass_tick(at, tick, outcomes)
        found[tick:] = at.share[0]
        if _is_over(at):
            break
    return found


def _is_over(at: Field) -> bool:
    return bool(at.done[0] and at.due[0] == NEVER)
