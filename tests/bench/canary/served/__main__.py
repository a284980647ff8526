"""`make bench-canary CONTROLLER=1`: the whole controller in simulated runs, one JSON object a run and line.

    make bench-canary CONTROLLER=1 SEEDS=1-5 SCENARIO=late,aa-* JSON=runs.jsonl
    python -m tests.bench.canary.served --scenario late --seeds 1-5

Runs have the names and the luck of the vectorised mode, and objects its form. Words are those of the environment there;
an option wins. A run takes some seconds: without a word a few seeds of five scenarios are run. On stderr: how many runs
end as they do in the vectorised mode. Ends with 2 if something is asked for that does not exist.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product

from control.telemetry import configure_logs
from tests.bench.canary.choose import RATES, Choice, Refused, chosen
from tests.bench.canary.conditions import PUBLISHED
from tests.bench.canary.heats import Cell, Run
from tests.bench.canary.served.beside import Said, beside
from tests.bench.canary.served.whole import POLICY, Pace, played
from tests.bench.canary.shapes import SHAPES

WORDS = ("SCENARIO", "SEEDS", "SHAPE", "RPS", "JSON")
SCENARIOS, SEEDS = ("aa-iid-0.3", "errors-0.3-20", "retry-storm", "tail", "scrape-gone"), (1, 2, 3)
PROCESSES = 2


def asked(environ: Mapping[str, str], arguments: Sequence[str]) -> Choice:
    """What is to run. Raises: Refused."""
    parser = argparse.ArgumentParser("python -m tests.bench.canary.served")
    for word in WORDS:
        parser.add_argument(f"--{word.lower()}", default=environ.get(word, ""))
    said = vars(parser.parse_args(arguments))
    choice = chosen({word: said[word.lower()] for word in WORDS})
    if environ.get("POLICY"):
        raise Refused(["POLICY: there is one with CONTROLLER=1, the controller's own"])
    if lasting := [name for name in choice.shapes if SHAPES[name].mean_s]:
        raise Refused(
            [f"SHAPE={', '.join(lasting)}: requests that outlast every edge are not told of in Istio's words"]
        )
    return choice


def cells(choice: Choice) -> list[Cell]:
    every = product(choice.scenarios or SCENARIOS, choice.shapes or ("steady",), choice.rates or RATES)
    return [Cell(POLICY, scenario, shape, rps) for scenario, shape, rps in every]


def run_all(wanted: Sequence[Cell], seeds: Sequence[int]) -> Iterable[Run]:
    """Every run, in order."""
    pairs = list(product(wanted, seeds))
    with ProcessPoolExecutor(PROCESSES, initializer=_quiet) as pool:
        yield from pool.map(played, *zip(*pairs, strict=True), [PUBLISHED] * len(pairs))


def _quiet() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    configure_logs("error")


def compare(runs: Sequence[Run], seeds: Sequence[int]) -> Iterable[str]:
    """A line a cell: how many runs end as in the vectorised mode, and those that do not."""
    for cell in dict.fromkeys(run.cell for run in runs):
        here, there = [run for run in runs if run.cell == cell], beside(cell, seeds, PUBLISHED, Pace())
        other = [run for run in here if not there[run.seed].agrees(run)]
        told = "".join(f"; seed {run.seed} {Said.of(run)} here, {there[run.seed]} there" for run in other)
        alike = len(here) - len(other)
        yield f"{cell.scenario}, {cell.shape}, {cell.rps:g} rps: {alike} of {len(here)} as in the vectorised mode{told}"


def main(environ: Mapping[str, str] = os.environ, arguments: Sequence[str] | None = None) -> int:
    try:
        choice = asked(environ, sys.argv[1:] if arguments is None else arguments)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 2
    seeds, lines, runs = choice.seeds or SEEDS, [], []
    for run in run_all(cells(choice), seeds):
        runs.append(run)
        lines.append(json.dumps({"stream": PUBLISHED, **run.as_json()}))
        print(lines[-1], flush=True)
    if choice.json:
        choice.json.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for line in compare(runs, seeds):
        print(line, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
