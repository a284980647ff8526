"""`tidegate plan`: what will a shift do and how long will it take? From the file alone; nothing needs to run."""

from typing import BinaryIO

import click

from control.cli.inputs import read_input
from control.cli.options import examples, output_option
from control.cli.printing import emit, screen

SLOWEST, FASTEST = 0.001, 1e9


class RateType(click.ParamType[float]):
    """Requests a second, from one in a quarter of an hour to more than any host gets."""

    name = "rate"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            rate = float(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a number of requests a second", param, ctx)
        if not SLOWEST <= rate <= FASTEST:  # nan is neither
            self.fail(f"{value} is not between {SLOWEST:g} and {FASTEST:,.0f} requests a second", param, ctx)
        return rate


@click.command("plan", epilog=examples("tidegate plan shift.yaml", "tidegate plan shift.yaml --rate 200"))
@click.argument("file", type=click.File("rb"))
@click.option(
    "--rate",
    type=RateType(),
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
