"""`tidegate demo`: a whole canary on this machine, from an empty folder to the last sentence of its summary."""

import asyncio
import contextlib
import json
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from control.api.client import GrpcShiftClient
from control.cancellation import until_interrupted
from control.cli.follow import Sight, follow
from control.cli.live import LiveProgress, render_summary
from control.cli.look import look_at
from control.cli.verbs.diff import ShareType
from control.errors import TidegateError, TimedOut, Unavailable
from control.local.byhand import Texts, split_by_hand, texts
from control.local.children import Options
from control.local.faults import FAULTS
from control.local.load import Load, load
from control.local.manifests import SHIFT
from control.local.scenario import BY_HAND, Scenario
from control.local.system import running
from control.view.plain import plain
from control.view.summary import summary_view

NAMESPACE, NAME = "default", "translator"
FINISHED = {"Promoted": 0, "RolledBack": 3, "Failed": 1, "Conflict": 1}
WARM_REQUESTS = 400
ENDS_WITHIN_S = 170.0
AFTERWARDS_S = 4
OBSERVED_OVER = 2
REFRESH_S = 0.5
STOPS = (signal.SIGINT, signal.SIGTERM)
STOPS_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class Ending:
    """What the demo saw. `observed` is the canary's share in the load generator's last seconds, 0 to 1. `unwritten`:
    are the mesh's documents, byte for byte, as they were before an observing shift? None for one that controls.
    """

    document: Mapping[str, Any]
    history: list[Mapping[str, Any]]
    load: Mapping[str, Any]
    observed: float | None
    unwritten: bool | None = None

    @property
    def exit_code(self) -> int:
        return 1 if self.unwritten is False else FINISHED.get(self.document["status"]["phase"], 1)


FAULTS_TOLD = "\b\nFaults of v2 that it can show (--fault):\n" + "\n".join(
    f"  {kind:10}{fault.seen}" for kind, fault in FAULTS.items()
)


@click.command("demo", epilog=FAULTS_TOLD)
@click.option("--fault", type=click.Choice(list(FAULTS)), help="Give v2 a fault: all but `heals` end in a rollback.")
@click.option("--both-fail", type=ShareType(), metavar="SHARE", help="Let both versions fail this share: promoted.")
@click.option("--observe", is_flag=True, help="Split the traffic by hand; the shift decides and writes nothing.")
@click.option("--rate", type=click.FloatRange(25, 500), default=200.0, show_default=True, help="Requests a second.")
@click.option(
    "--shift",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=SHIFT,
    show_default="mesh/manifests/translator-shift.yaml",
    help="The shift to show.",
)
@click.option(
    "--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write what it saw here too."
)
def command(
    fault: str | None, both_fail: Fraction | None, observe: bool, rate: float, file: Path, json_file: Path | None
) -> None:
    """Watch a real canary move real traffic from v1 to v2, on this machine.

    Starts three services, Redis, five Envoys and the controller; sends real load; moves the translator from v1 to v2
    as fast as the evidence allows; ends by itself with a summary. Exit code 0: promoted; 3: rolled back.
    """
    scenario = Scenario(fault, both_fail, observe, file)
    refuse_contradiction(scenario)
    folder = Path(tempfile.mkdtemp(prefix="tidegate-demo-"))
    try:
        ending = asyncio.run(until_interrupted(play(folder, rate, scenario), STOPS, again_s=STOPS_WITHIN_S))
    except KeyboardInterrupt:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    except TidegateError as error:
        error.hint = f"{error.hint}; the logs are in {folder / 'logs'}".removeprefix("; ")
        raise
    shutil.rmtree(folder, ignore_errors=True)
    if json_file:
        json_file.write_text(json.dumps(as_json(ending), indent=2, default=str) + "\n", encoding="utf-8")
    show(ending)
    sys.exit(ending.exit_code)


def refuse_contradiction(scenario: Scenario) -> None:
    """Raises click.UsageError: a version fails in one way, and a shift is known before anything is started."""
    if scenario.fault and scenario.both_fail:
        raise click.UsageError("--fault and --both-fail are two different demos: give one of them")
    if scenario.shift.key != (NAMESPACE, NAME):
        raise click.UsageError(f"the demo's mesh has {NAMESPACE}/{NAME}; this shift is {'/'.join(scenario.shift.key)}")


async def play(folder: Path, rate: float, scenario: Scenario) -> Ending:
    """The demo, to its end. Raises StartFailed, TimedOut, Unavailable."""
    with LiveProgress(look_at(sys.stderr)) as progress:
        for line in scenario.told():
            progress.stage(line)
        async with (
            running(folder, Options(faults=scenario.faults), progress.stage) as system,
            load(system.run.gateway, rate, folder / "logs" / "loadgen.err.log") as traffic,
            GrpcShiftClient(system.run.control, system.token) as client,
        ):
            progress.stage(f"sending {rate:,g} requests a second to the gateway {system.run.gateway}")
            await traffic.served(WARM_REQUESTS)
            before = await _handed_over(system.layout.documents, traffic, scenario)
            await client.apply(scenario.text, scenario.file.name)
            await _followed(client, traffic, progress)
            observed = await _observed_afterwards(traffic)
            summary = await traffic.finish()
            shift, history = await client.get(NAMESPACE, NAME), await client.history(NAMESPACE, NAME)
            unwritten = None if before is None else texts(system.layout.documents) == before
            return Ending(shift.document, list(history), summary, observed, unwritten)


async def _handed_over(documents: Path, traffic: Load, scenario: Scenario) -> Texts | None:
    """The documents as somebody else has left them, once traffic follows them; None where the shift controls."""
    if not scenario.observe:
        return None
    shift = scenario.shift
    split_by_hand(documents, shift, BY_HAND)
    await traffic.answered_by(shift.canary)
    return texts(documents)


async def _followed(client: GrpcShiftClient, traffic: Load, progress: LiveProgress) -> None:
    """Shows the shift until it has finished. Raises TimedOut, Unavailable."""
    async with _deadline("the shift did not end"), aclosing(_sights(client)) as sights:
        async for sight in sights:
            progress.update(sight.view, traffic.ticks[-1] if traffic.ticks else None)
            if traffic.ended:
                raise Unavailable("the load generator ended before the shift did")
            if sight.view.phase in FINISHED:
                return


def _sights(client: GrpcShiftClient) -> AsyncGenerator[Sight]:
    return follow(client, NAMESPACE, NAME, every_s=REFRESH_S)


@contextlib.asynccontextmanager
async def _deadline(what: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(ENDS_WITHIN_S):
            yield
    except TimeoutError:
        raise TimedOut(f"{what} within {ENDS_WITHIN_S:g} s") from None


async def _observed_afterwards(traffic: Load) -> float | None:
    """The canary's share of the last seconds' answers, seen by the callers after the end."""
    begin = len(traffic.ticks)
    async with traffic.news:
        await traffic.news.wait_for(lambda: len(traffic.ticks) >= begin + AFTERWARDS_S or traffic.ended)
    last = [tick["versions"] for tick in traffic.ticks[-OBSERVED_OVER:]]
    served = {version: sum(tick.get(version, {}).get("n", 0) for tick in last) for version in ("v1", "v2")}
    total = sum(served.values())
    return served["v2"] / total if total else None


def show(ending: Ending) -> None:
    """The summary, on stdout."""
    look = look_at(sys.stdout)
    summary = summary_view(ending.document, ending.history, datetime.now(UTC))
    look.print(render_summary(summary, ending.load, look))
    if ending.observed is not None:
        click.echo(f"Callers' last seconds: {ending.observed:.1%} of the answers came from v2.")
    if ending.unwritten is not None:
        click.echo(f"The mesh's documents: {'byte for byte as before' if ending.unwritten else 'CHANGED'}.")


def as_json(ending: Ending) -> dict[str, Any]:
    """What `--json` writes: the whole document, its history, the load report, the view of the summary."""
    summary = summary_view(ending.document, ending.history, datetime.now(UTC))
    seen = {"shift": ending.document, "history": ending.history, "load": ending.load}
    after = {"observedAfterwards": ending.observed, "documentsUnwritten": ending.unwritten}
    return {**seen, **after, "summary": plain(summary)}
