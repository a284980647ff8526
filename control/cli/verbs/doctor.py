"""`tidegate doctor`: can a shift do its work here, and what must be done if not?"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from control.cli.connection import chosen_cluster, controller, read_token, run, running
from control.cli.options import Output, examples, name_argument, namespace_option, output_option
from control.cli.printing import emit, progress, screen
from control.errors import NotFound, TidegateError, Unavailable
from control.settings import settings, state_dir_option

if TYPE_CHECKING:
    from control.api.model import ShiftDocument
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
    (TIDEGATE_ISTIOD, TIDEGATE_PROMETHEUS_URL).

    Exit code 0 when no line says fail, 1 when one does, 2 when there is no such shift, 5 when the API server does not
    answer. A laptop on which nothing runs is looked at all the same.
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
    from control.wiring_doctor import on_a_cluster, on_a_laptop, on_a_still_laptop

    cluster = chosen_cluster()
    shifts, trouble = await _shifts(state_dir, namespace, name, cluster=bool(cluster))
    known = settings(state_dir=state_dir)
    if cluster:
        async with on_a_cluster(known, cluster, namespace) as practice:
            return findings(replace(practice.around, trouble=trouble), await practice.examined(shifts))
    try:
        here = running(state_dir)
        token = read_token(Path(here.token_file))
    except TidegateError as error:
        return findings(replace(await on_a_still_laptop(known), trouble=error.message), ())
    async with on_a_laptop(known, here.mesh, token) as practice:
        return findings(replace(practice.around, trouble=trouble), await practice.examined(shifts))


async def _shifts(
    state_dir: Path, namespace: str, name: str, *, cluster: bool
) -> "tuple[Sequence[ShiftDocument], str]":
    """The shifts to look at, and why none can be read. Raises NotFound for a name that is not there, and Unavailable
    when an API server does not answer: nothing at all can be asked then.
    """
    try:
        async with controller(state_dir) as client:
            listed = await client.list(namespace)
    except Unavailable as error:
        if cluster:
            raise
        return (), error.message
    except TidegateError as error:
        return (), error.message
    chosen = [each for each in listed if name in ("", each.name)]
    if name and not chosen:
        names = ", ".join(sorted(each.name for each in listed))
        raise NotFound(f"there is no shift {namespace}/{name}", f"there are: {names}" if names else "there is none")
    return chosen, ""
