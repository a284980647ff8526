"""`tidegate plan`: what will a shift do and how long will it take? From the file alone; nothing needs to run."""

from typing import BinaryIO

import click

from control.cli.inputs import read_input
from control.cli.options import examples, output_option
from control.cli.printing import emit, screen


@click.command("plan", epilog=examples("tidegate plan shift.yaml", "tidegate plan shift.yaml --rate 200"))
@click.argument("file", type=click.File("rb"))
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    metavar="PER_SECOND",
    help="Requests a second that the host gets, both versions together.",
)
@output_option
def command(file: BinaryIO, rate: float | None, output: str) -> None:
    """Show the steps of the TrafficShift in FILE (- is standard input): when each begins, how long it takes, and how
    many requests it needs.

    Works without a controller. With --rate, steps whose traffic is too thin for their hold are told.
    """
    from control.cli.manifest import parsed
    from control.view.plan import plan_view

    plan = plan_view(parsed(*read_input(file)), rate=rate)
    emit(plan, output, screen("tables:plan_screen", plan))
