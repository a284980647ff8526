"""`tidegate plan`: what will a shift do and how long will it take? From the file alone; nothing needs to run."""

from math import inf
from typing import TYPE_CHECKING, BinaryIO

import click

from control.cli.inputs import read_input
from control.cli.options import examples, output_option
from control.cli.printing import emit, screen
from control.cli.values import PART, RATE

if TYPE_CHECKING:
    from control.engine.foresee import Assumed, Foreseen
    from control.spec import TrafficShift

RUNS, SEED = 60, 1


@click.command("plan", epilog=examples("tidegate plan shift.yaml", "tidegate plan shift.yaml --rate 200"))
@click.argument("file", type=click.File("rb"))
@click.option(
    "--rate", type=RATE, metavar="PER_SECOND", help="Requests a second that the host gets, both versions together."
)
@click.option(
    "--baseline-errors",
    type=PART,
    metavar="PART",
    default="0.3%",
    show_default=True,
    help="Of the requests, how many fail on stable.",
)
@output_option
def command(file: BinaryIO, rate: float | None, baseline_errors: float, output: str) -> None:
    """Show the steps of the TrafficShift in FILE (- is standard input): when each begins, how long it takes, and how
    many requests it needs. Where evidence leads: what must be proven, and how a good version usually goes.

    Works without a controller. With --rate, times are told, and what would help where the traffic is too thin.
    """
    from control.cli.manifest import parsed
    from control.engine.foresee import Assumed
    from control.view.plan import plan_view

    shift = parsed(*read_input(file))
    given = Assumed(inf if rate is None else rate, baseline_errors, baseline_errors)
    plan = plan_view(shift, rate=rate, given=given, foreseen=_foreseen(shift, given))
    emit(plan, output, screen("foresight:plan_screen", plan))


def _foreseen(shift: "TrafficShift", given: "Assumed") -> "Foreseen | None":
    """Some runs of a version as good as stable, where that is soon done."""
    import numpy as np

    from control.engine.foresee import foresee
    from control.view.plan import worth_foreseeing_s

    within_s = worth_foreseeing_s(shift, given)
    if within_s is None:
        return None
    return foresee(shift, given, runs=RUNS, within_s=within_s, rng=np.random.default_rng(SEED))
