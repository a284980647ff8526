"""`tidegate simulate`: how would this very shift go? From the file and a few guesses alone; nothing needs to run."""

from datetime import timedelta
from typing import BinaryIO

import click

from control.cli.inputs import read_input
from control.cli.options import examples, output_option
from control.cli.printing import emit, err_look, progress, screen
from control.cli.values import DURATION, FACTOR, PART, RATE

WOULD_DO = "every run would stay Pending: raise spec.budget"
HOURS_S = 2 * 3600.0
DAY_S = 24 * 3600.0
EVERY = 0.1
"""Of the work: how often progress is told where lines can't be drawn over."""


@click.command(
    "simulate",
    epilog=examples(
        "tidegate simulate -f shift.yaml --rps 50",
        "tidegate simulate -f shift.yaml --rps 50 --baseline-errors 0.3% --canary-errors 2%",
        "tidegate simulate -f shift.yaml --rps 50 --latency-factor 1.5 --runs 200 -o json",
    ),
)
@click.option("-f", "--file", type=click.File("rb"), required=True, help="The TrafficShift (- is standard input).")
@click.option(
    "--rps", type=RATE, required=True, metavar="PER_SECOND", help="Requests a second, both versions together."
)
@click.option("--baseline-errors", type=PART, default="0.3%", show_default=True, help="Stable's failed requests.")
@click.option("--canary-errors", type=PART, help="The canary's failed requests; as many as stable's.")
@click.option(
    "--latency-factor",
    type=FACTOR,
    metavar="TIMES",
    default=1.0,
    show_default=True,
    help="How many times as long as stable's the canary's requests take.",
)
@click.option("--processes", type=click.IntRange(1, 8), default=3, show_default=True, help="That serve each version.")
@click.option(
    "--retries", type=click.IntRange(0, 20), default=2, show_default=True, help="The most that routes allow a request."
)
@click.option("--within", type=DURATION, help="How long each run is followed: its deadline; 2h where it has none.")
@click.option("--runs", type=click.IntRange(1, 100_000), default=500, show_default=True, help="How many.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Another one is other luck.")
@output_option
def command(
    file: BinaryIO,
    rps: float,
    baseline_errors: float,
    canary_errors: float | None,
    latency_factor: float,
    processes: int,
    retries: int,
    within: timedelta | None,
    runs: int,
    seed: int,
    output: str,
) -> None:
    """Tell how the TrafficShift in a file would go: how likely each end is, how long it takes, and how many requests
    and failures of the canary it costs.

    Traffic is drawn at random; every decision on it is made by the very code that decides when it is real. Works
    without a controller.
    """
    import numpy as np

    from control.cli.manifest import parsed
    from control.engine.foresee import Assumed, foresee, setting
    from control.errors import Refused
    from control.view.plan import would_not_begin
    from control.view.simulate import simulation_view

    shift = parsed(*read_input(file))
    canary = baseline_errors if canary_errors is None else canary_errors
    given = Assumed(rps, baseline_errors, canary, latency_factor, retries, processes)
    at = setting(shift, given)
    if refused := would_not_begin(at):
        raise Refused(refused, WOULD_DO if shift.budget is None else f"{WOULD_DO}, or leave it out")
    deadline_s = shift.deadline.total_seconds() if shift.deadline is not None else HOURS_S
    within_s = within.total_seconds() if within is not None else min(deadline_s, DAY_S)
    rng = np.random.default_rng(seed)
    found = foresee(shift, given, runs=runs, within_s=within_s, rng=rng, told=_Telling(runs))
    view = simulation_view(at, found, seed=seed, within_s=within_s)
    emit(view, output, screen("foresight:simulate_screen", view))


class _Telling:
    """Says on standard error how far the work is, now and then."""

    def __init__(self, runs: int) -> None:
        self.runs, self.told, self.in_place = runs, 0.0, err_look().in_place

    def __call__(self, part: float) -> None:
        """Units: `part` of the work is done, 0 to 1."""
        if self.in_place:
            self._draw(round(part, 2))
        elif part >= self.told + EVERY and part < 1:
            self.told = part
            progress(f"{self.runs:,} runs, {part:.0%} done")

    def _draw(self, part: float) -> None:
        if part != self.told:
            self.told = part
            click.echo(f"\r{self.runs:,} runs, {part:.0%} " if part < 1 else "\r\033[K", nl=False, err=True)
