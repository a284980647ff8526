"""`make bench-canary`: races the evidence engine and its peers, prints table and gates, writes docs/evidence/.

    make bench-canary
    make bench-canary SEEDS=1-1000 SCENARIO=errors-0.3-2,aa-* POLICY=tidegate,flagger JSON=runs.jsonl
    make bench-canary FULL=1

SCENARIO, SHAPE, RPS and POLICY narrow what runs (then no page is written); PAGES=folder writes the pages elsewhere.
JSON writes an object a run and line. Ends with 1 if a gate is below its floor, or misses its aim and nobody said why;
with 2 if something is asked for that does not exist. Progress goes to stderr.
"""

import datetime
import json
import os
import platform
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from tests.bench.canary.choose import GATES_TITLE, OURS, Choice, Refused, Stage, chosen, plan
from tests.bench.canary.conditions import PUBLISHED
from tests.bench.canary.gates import GATES
from tests.bench.canary.heats import Run, run_all
from tests.bench.canary.plots import draw
from tests.bench.canary.report import Raced, cost_parts, pages, scenario_parts, seeds_said
from tests.bench.canary.verdicts import Row, broken, strangers, unexplained, verdicts

EVIDENCE = Path(__file__).parents[3] / "docs" / "evidence"
GATES_S, ALL_S = 120, 1200
"""What the gates and everything may take on two quiet cores."""


def race_stage(stage: Stage, stream: str = PUBLISHED) -> Raced:
    """Runs it on two processes, with a line before and after on stderr."""
    cells = f"{len(stage.cells):,} cells, seeds {seeds_said(stage.seeds)}: {stage.runs:,} runs"
    print(f"{stage.title}: {cells}", file=sys.stderr, flush=True)
    begun = time.monotonic()
    runs = tuple(run_all(stage.cells, stage.seeds, stream))
    return Raced(stage, runs, time.monotonic() - begun)


def write_json(path: Path, runs: Iterable[Run], stream: str = PUBLISHED) -> None:
    """An object a run and line, in the order of policy, scenario, shape, rate and seed."""
    ordered = sorted(runs, key=lambda run: (run.cell.policy, run.cell.scenario, run.cell.shape, run.cell.rps, run.seed))
    with path.open("w", encoding="utf-8") as file:
        for run in ordered:
            file.write(json.dumps({"stream": stream, **run.as_json()}, default=np.generic.item) + "\n")


def write_pages(folder: Path, raced: Sequence[Raced], rows: Sequence[Row], load: float) -> None:
    when = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    machine = f"{platform.machine()}, Python {platform.python_version()}, load average {load:.1f} when it began"
    where = f"on {os.cpu_count()} cores ({machine})"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages(raced, rows, when, where):
        (folder / name).write_text(text, encoding="utf-8")
    draw([run for each in raced for run in each.runs], folder, PUBLISHED)
    print(f"pages and plots are in {folder}", file=sys.stderr)


def print_found(choice: Choice, runs: Sequence[Run], rows: Iterable[Row]) -> None:
    """Tables of what was chosen, costs where they can be compared, gates last."""
    parts = [*scenario_parts(runs)] if not choice.whole else []
    if {OURS} < {run.cell.policy for run in runs}:
        parts += cost_parts(runs)
    print("\n\n".join(parts))
    print("\n## Gates\n")
    print("\n".join(row.line for row in rows) or "The cells that ran decide none of them.")


def print_times(raced: Iterable[Raced]) -> None:
    took = [(each.stage.title, each.took_s) for each in raced]
    gates = sum(seconds for title, seconds in took if title == GATES_TITLE)
    for title, seconds in took:
        print(f"{title}: {seconds:.0f} s", file=sys.stderr)
    if gates:
        print(f"gates in all: {gates:.0f} s (may take {GATES_S} on two quiet cores)", file=sys.stderr)
    print(f"everything: {sum(seconds for _, seconds in took):.0f} s (may take {ALL_S})", file=sys.stderr)


def main(environ: Mapping[str, str] = os.environ) -> int:
    try:
        choice = chosen(environ)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 2
    load = os.getloadavg()[0]
    raced = [race_stage(stage) for stage in plan(choice)]
    runs = [run for each in raced for run in each.runs]
    rows = verdicts(runs)
    if choice.json:
        write_json(choice.json, runs)
    print_found(choice, runs, rows)
    if choice.whole:
        write_pages(choice.pages or EVIDENCE, raced, rows, load)
    print_times(raced)
    return said(broken(rows), unexplained(rows) if choice.whole else [], strangers(GATES))


def said(*problems: Sequence[str]) -> int:
    """Prints what is wrong. The exit code."""
    for each in (problem for some in problems for problem in some):
        print(each, file=sys.stderr)
    return 1 if any(problems) else 0


if __name__ == "__main__":
    sys.exit(main())
