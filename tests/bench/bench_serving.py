"""What do the gateway and the sidecars cost a request, and how much memory does each process take?

    python -m tests.bench.bench_serving --run-file ~/.local/state/tidegate/default/run.json

Two targets get the same calls, in turns, so that a noisy machine disturbs both alike: the gateway of a running mesh
(`tidegate up`), and a second set of the same services without any Envoy, which this script starts unless `--direct`
names one. All texts are cached, so that the path is measured and not the engine. Ratios and quantiles of one run;
not a test.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from services.loadgen.client import TranslationClient
from services.loadgen.mix import Call, Mix, Pair, calls
from services.loadgen.run import Limits, Run
from services.loadgen.schedule import Spacing, arrivals
from services.loadgen.tally import OK, Tally
from tests.support.work_process import module

AUTHORITY = "translate.example.com"
MIX = Mix(pairs=(Pair("en", "es"),), detect_share=0, hot_share=1, hot_texts=20)
CALLS = 400
WARM_S = 2.0


@dataclass
class Target:
    """One way to the translator and what was measured on it."""

    name: str
    address: str
    tally: Tally = field(default_factory=Tally)
    closed_loop: list[float] = field(default_factory=list)

    def client(self) -> TranslationClient:
        return TranslationClient(self.address, authority=AUTHORITY, channels=4, deadline_s=10)


@dataclass(frozen=True)
class Effort:
    """How much to measure. Units: requests a second, seconds, callers at once."""

    rate: float
    round_s: float
    rounds: int
    callers: int


@dataclass(frozen=True)
class Memory:
    """A process with its children. Units: MiB; `pss` divides shared pages among those that share them."""

    name: str
    processes: int
    rss: float
    pss: float


async def measure(targets: Iterable[Target], effort: Effort) -> None:
    """Open loop at a rate, then closed loop with some callers, in turns."""
    targets = list(targets)
    for target in targets:
        await _closed_loop(target, callers=2, seconds=WARM_S)
        target.closed_loop.clear()
    for _ in range(effort.rounds):
        for target in targets:
            await _open_loop(target, effort)
            await _closed_loop(target, callers=effort.callers, seconds=effort.round_s)


async def _open_loop(target: Target, effort: Effort) -> None:
    client = target.client()
    run = Run(client, Limits(), total=target.tally)
    times = arrivals(effort.rate, duration_s=effort.round_s, spacing=Spacing.EVEN, seed=1)
    await run.send_all(times, _calls(), stop=asyncio.Event())
    await client.close()


async def _closed_loop(target: Target, *, callers: int, seconds: float) -> None:
    client, started, done = target.client(), perf_counter(), 0

    async def caller(own: Iterator[Call]) -> None:
        nonlocal done
        while perf_counter() - started < seconds:
            outcome = await client.send(next(own), intended_at=perf_counter())
            done += outcome.status == OK

    await asyncio.gather(*[caller(_calls()) for _ in range(callers)])
    target.closed_loop.append(done / (perf_counter() - started))
    await client.close()


def _calls() -> Iterator[Call]:
    return cycle(islice(calls(MIX, seed=1), CALLS))


@asynccontextmanager
async def direct_services() -> AsyncIterator[str]:
    """The address of a translator with its own detector and cache, no Envoy between them."""
    async with module("services.lang_detector") as detector, module("services.cache_proxy") as cache:
        addresses = ("--detector", (await detector.line())["listen"], "--cache", (await cache.line())["listen"])
        async with module("services.translator", *addresses) as translator:
            yield (await translator.line())["listen"]


def memory(processes: Mapping[str, int]) -> list[Memory]:
    """The memory of each named process together with its descendants."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    named = set(processes.values())

    def family(pid: int) -> list[int]:
        own = [child for child in children.get(pid, ()) if child not in named]
        return [pid, *(other for child in own for other in family(child))]

    return [_memory_of(name, family(pid)) for name, pid in processes.items() if Path(f"/proc/{pid}").exists()]


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            yield int(entry.name), int(stat[1])


def _memory_of(name: str, pids: list[int]) -> Memory:
    rss, pss = (sum(_rollup(pid, key) for pid in pids) / 1024 for key in ("Rss", "Pss"))
    return Memory(name, len(pids), rss, pss)


def _rollup(pid: int, key: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{key}:")), 0)


def serving_table(direct: Target, gateway: Target) -> list[str]:
    """Both targets side by side as Markdown."""
    one, other = direct.tally.to_json(), gateway.tally.to_json()
    rows = [
        "| | direct | gateway and sidecars | |",
        "|---|---|---|---|",
        *(
            _latency_row(label, one[key], other[key])
            for label, key in (("p50", "p50Ms"), ("p95", "p95Ms"), ("p99", "p99Ms"))
        ),
    ]
    best, meshed = (max(target.closed_loop) for target in (direct, gateway))
    rows.append(f"| requests/s, closed loop | {best:.0f} | {meshed:.0f} | ×{meshed / best:.2f} |")
    rows.append(f"| failed of sent | {one['failed']} of {one['sent']} | {other['failed']} of {other['sent']} | |")
    return rows


def _latency_row(label: str, direct_ms: float, meshed_ms: float) -> str:
    change = f"{meshed_ms - direct_ms:+.2f} ms, ×{meshed_ms / direct_ms:.2f}"
    return f"| {label} | {direct_ms:.2f} ms | {meshed_ms:.2f} ms | {change} |"


def memory_table(found: Iterable[Memory]) -> list[str]:
    """The processes as Markdown, largest first."""
    ordered = sorted(found, key=lambda one: -one.pss)
    rows = [f"| {one.name} | {one.processes} | {one.rss:.0f} MiB | {one.pss:.0f} MiB |" for one in ordered]
    return ["| process, with its children | processes | RSS | PSS |", "|---|---|---|---|", *rows]


async def bench(gateway: str, direct: str | None, effort: Effort, processes: Mapping[str, int]) -> list[str]:
    """The whole report as Markdown lines."""
    if direct is None:
        async with direct_services() as address:
            return await bench(gateway, address, effort, processes)
    one, other = Target("direct", direct), Target("gateway", gateway)
    await measure([one, other], effort)
    tables = serving_table(one, other)
    return [*tables, "", *memory_table(memory(processes))] if processes else tables


def read_run_file(path: Path) -> tuple[str, dict[str, int]]:
    """The gateway's address and the processes of a mesh that runs."""
    run: dict[str, Any] = json.loads(path.expanduser().read_text(encoding="utf-8"))
    return run["gateway"], {name: pid for name, pid in run["processes"].items() if pid}


def _named_pids(items: Iterable[str]) -> dict[str, int]:
    pairs = (item.partition("=") for item in items)
    return {name: int(pid) for name, _, pid in pairs}


@click.command(context_settings={"show_default": True})
@click.option("--run-file", type=click.Path(path_type=Path), help="run.json of a running mesh: gateway and processes.")
@click.option("--gateway", help="HOST:PORT of the gateway, instead of a run file.")
@click.option("--direct", help="HOST:PORT of a translator without Envoys; started here when absent.")
@click.option("--pid", "pids", multiple=True, help="NAME=PID of a process whose memory is wanted. Repeatable.")
@click.option("--rate", type=float, default=50.0, help="Requests a second of the open loop.")
@click.option("--round-seconds", type=float, default=5.0)
@click.option("--rounds", type=int, default=3)
@click.option("--callers", type=int, default=16, help="Of the closed loop.")
def main(
    run_file: Path | None, gateway: str | None, direct: str | None, pids: tuple[str, ...], rate: float, **effort: Any
) -> None:
    """Print requests/s, latency and memory as Markdown tables."""
    found, processes = read_run_file(run_file) if run_file else (gateway, {})
    if not found:
        raise click.UsageError("name a --run-file or a --gateway")
    plan = Effort(rate, effort["round_seconds"], effort["rounds"], effort["callers"])
    print("\n".join(asyncio.run(bench(gateway or found, direct, plan, {**processes, **_named_pids(pids)}))))


if __name__ == "__main__":
    main()
