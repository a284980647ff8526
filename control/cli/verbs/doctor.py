"""`tidegate doctor`: can a shift do its work here, and what must be done if not?"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from control.cli.connection import chosen_cluster, controller, read_token, run, running
from control.cli.options import Output, examples, name_argument, namespace_option, output_option
from control.cli.printing import emit, progress, screen
from control.settings import settings, state_dir_option

if TYPE_CHECKING:
    from control.doctor.checks import Finding

FAILED = 1


@click.command(
    "doctor",
    epilog=examples("tidegate doctor", "tidegate --context shop doctor cart -n shop", "tidegate doctor -o json"),
)
@name_argument
@namespace_option
@output_option
@state_dir_option
@click.pass_context
def command(ctx: click.Context, name: str, namespace: str, output: str, state_dir: Path) -> None:
    """Look at everything that a shift needs, NAME or each there is: rights, policies, who leads, istiod, Prometheus,
    documents, endpoints, proxies, counters.

    Each line is ok, warn, fail, or unknown where it could not be asked from here, and says what to do. Nothing is
    written. On a cluster it asks under your own rights, and reaches istiod and Prometheus from where you are
    (TIDEGATE_ISTIOD, TIDEGATE_PROMETHEUS_URL). Exit code 1 when a line says fail.
    """
    from control.doctor.checks import Level

    found = run(_examined(state_dir, namespace, name))
    emit(found, output, screen("tables:doctor_table", found))
    counts = {level: sum(each.level is level for each in found) for level in Level}
    if output == Output.TABLE:
        progress(", ".join(f"{count} {level}" for level, count in counts.items() if count))
    ctx.exit(FAILED if counts[Level.FAIL] else 0)


async def _examined(state_dir: Path, namespace: str, name: str) -> "Sequence[Finding]":
    from control.doctor.checks import findings
    from control.wiring_doctor import on_a_cluster, on_a_laptop

    async with controller(state_dir) as client:
        shifts = [await client.get(namespace, name)] if name else await client.list(namespace)
    cluster = chosen_cluster()
    if cluster:
        async with on_a_cluster(settings(), cluster, namespace) as practice:
            return findings(practice.around, await practice.examined(shifts))
    here = running(state_dir)
    async with on_a_laptop(settings(state_dir=state_dir), here.mesh, read_token(Path(here.token_file))) as practice:
        return findings(practice.around, await practice.examined(shifts))
