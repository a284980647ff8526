"""`python -m services.loadgen`: open-loop load on the translation service, outcomes as JSON."""

import asyncio
import json
import secrets
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any, TextIO

import click

from services.loadgen.client import TranslationClient
from services.loadgen.mix import Mix, MixError, calls, parse_pairs
from services.loadgen.progress import progress_line
from services.loadgen.run import Limits, Run
from services.loadgen.schedule import Spacing, arrivals

Report = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that defines a run. Units: seconds, requests a second."""

    target: str
    authority: str | None
    rate: float
    duration_s: float | None
    deadline_s: float
    channels: int
    spacing: Spacing
    every_s: float | None
    max_in_flight: int
    seed: int
    mix: Mix

    def to_json(self) -> dict[str, Any]:
        pairs = ",".join(f"{pair}={pair.weight:g}" for pair in self.mix.pairs)
        mix = {_camel(name): value for name, value in asdict(self.mix).items() if name != "pairs"}
        head = {"target": self.target, "authority": self.authority, "rate": self.rate, "seed": self.seed}
        return {**head, "deadlineS": self.deadline_s, "mix": {"pairs": pairs, **mix}}


@dataclass(frozen=True, slots=True)
class Reports:
    """Where the reports go: JSON lines to `out`, lines for a person to `screen`; ticks to `out` only if asked for."""

    out: TextIO
    screen: TextIO | None
    every_s: float | None

    @property
    def interval_s(self) -> float | None:
        return self.every_s or (1.0 if self.screen else None)

    def tick(self, report: Report) -> None:
        if self.every_s:
            self.write(report)
        elif self.screen:
            print(progress_line(report), file=self.screen, flush=True)

    def write(self, report: Report) -> None:
        print(json.dumps(report, separators=(",", ":")), file=self.out, flush=True)
        if self.screen:
            print(progress_line(report), file=self.screen, flush=True)


class Seconds(click.ParamType[float]):
    """A positive time: 500ms, 1s, 1.5, 2m; bare numbers are seconds."""

    name = "time"
    units: Mapping[str, float] = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        unit = next((unit for unit in self.units if text.endswith(unit)), "")
        try:
            seconds = float(text.removesuffix(unit)) * self.units.get(unit, 1.0)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds < float("inf"):
            self.fail(f"{value!r} is not a time above 0, such as 500ms, 1s or 2m", param, ctx)
        return seconds


SHARE = click.FloatRange(0, 1)


@click.command(context_settings={"show_default": True})
@click.option("--target", required=True, help="HOST:PORT or unix:PATH of the gateway or the service.")
@click.option("--authority", help="The host that the request names (:authority), for the gateway's routes.")
@click.option("--rate", type=click.FloatRange(0, min_open=True), default=200.0, help="Requests a second.")
@click.option("--duration", type=Seconds(), help="Ends then; without it at SIGTERM or SIGINT.")
@click.option("--deadline", type=Seconds(), default="5s", help="Deadline of each call.")
@click.option("--channels", type=click.IntRange(1, 256), default=4, help="Connections.")
@click.option("--spacing", type=click.Choice([str(kind) for kind in Spacing]), default="even", help="Of the arrivals.")
@click.option("--pairs", default="en>es,es>en,fr>es,es>fr", help="Directions, with weights: en>es=3,fr>es.")
@click.option("--detect-share", type=SHARE, default=0.25, help="Share of calls that name no source language.")
@click.option("--hot-share", type=SHARE, default=0.7, help="Share of calls with a repeated text (cache hits).")
@click.option("--hot-texts", type=click.IntRange(1, 100_000), default=200, help="Number of repeated texts a language.")
@click.option("--zipf", type=click.FloatRange(0, 10), default=1.0, help="Exponent of the repeated texts' frequencies.")
@click.option("--stream-share", type=SHARE, default=0.0, help="Share of StreamTranslate calls.")
@click.option("--seed", type=int, help="Of texts and arrivals; drawn and printed in the summary when absent.")
@click.option("--max-in-flight", type=click.IntRange(1), default=10_000, help="Most open calls at once.")
@click.option("--every", type=Seconds(), help="Print what happened in each such interval too.")
@click.option("--json", "json_path", default="-", help="File for the JSON lines, - for stdout.")
@click.option("--progress", is_flag=True, help="A line a second on stderr.")
def main(json_path: str, progress: bool, **options: Any) -> None:
    """Send calls at a given rate; print one JSON line for each interval and a summary at the end."""
    plan = _plan(options)
    with ExitStack() as stack:
        out = sys.stdout if json_path == "-" else stack.enter_context(_opened(json_path))
        asyncio.run(generate(plan, reports=Reports(out, sys.stderr if progress else None, plan.every_s)))


async def generate(plan: Plan, *, reports: Reports) -> None:
    """Run the plan until its end or a signal; the last report is the summary."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    client = TranslationClient(
        plan.target, authority=plan.authority, channels=plan.channels, deadline_s=plan.deadline_s
    )
    run = Run(client, Limits(plan.max_in_flight, drain_s=plan.deadline_s + 1))
    times = arrivals(plan.rate, duration_s=plan.duration_s, spacing=plan.spacing, seed=plan.seed)
    async with _ticking(run, reports, stop):
        await run.send_all(times, calls(plan.mix, plan.seed), stop=stop)
    reports.write({**run.summary(), "plan": plan.to_json()})
    await client.close()


@asynccontextmanager
async def _ticking(run: Run, reports: Reports, stop: asyncio.Event) -> AsyncIterator[None]:
    """Reports as they come. When nobody reads them any more (the reader died), the load ends too."""
    if reports.interval_s is None:
        yield
        return
    ticks = asyncio.create_task(run.report_every(reports.interval_s, reports.tick))
    ticks.add_done_callback(lambda _: stop.set())
    try:
        yield
    finally:
        ticks.cancel()
        with suppress(asyncio.CancelledError, BrokenPipeError):
            await ticks


def _plan(options: Mapping[str, Any]) -> Plan:
    seed = options["seed"] if options["seed"] is not None else secrets.randbelow(2**31)
    return Plan(
        target=options["target"],
        authority=options["authority"],
        rate=options["rate"],
        duration_s=options["duration"],
        deadline_s=options["deadline"],
        channels=options["channels"],
        spacing=Spacing(options["spacing"]),
        every_s=options["every"],
        max_in_flight=options["max_in_flight"],
        seed=seed,
        mix=_mix(options),
    )


def _mix(options: Mapping[str, Any]) -> Mix:
    try:
        return Mix(
            pairs=parse_pairs(options["pairs"]),
            detect_share=options["detect_share"],
            hot_share=options["hot_share"],
            stream_share=options["stream_share"],
            hot_texts=options["hot_texts"],
            zipf=options["zipf"],
        )
    except MixError as error:
        raise click.UsageError("; ".join(error.args)) from error


def _opened(path: str) -> TextIO:
    try:
        return open(path, "w", encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"can't write {path}: {error.strerror}") from error


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


if __name__ == "__main__":
    main()
