"""What does a warm pipeline save beside starting Apertium for every request?

    python -m tests.bench.bench_engine --json -

For each pair, real sentences go through three paths: the stages started for each sentence and waited for (what a
service without a pool does; the same stages as here, no shell), the warm pipeline with one sentence in flight, and the
warm pipeline with many. Rounds of the first two are taken in turns, so that a noisy machine disturbs both alike. Ratios
and quantiles of one run; not a test.
"""

import asyncio
import json
import subprocess
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any

import click

from services.translator.engines.apertium.catalog import chains
from services.translator.engines.apertium.engine import ApertiumEngine, open_apertium
from services.translator.engines.apertium.modes import Mode, read_mode
from services.translator.engines.apertium.stream_format import encode
from services.translator.engines.engine import Segment
from services.translator.languages import LanguageSet, Pair
from services.translator.shield import shielded_spans

DATA = Path(__file__).resolve().parents[2] / "services" / "loadgen" / "data"
ROUNDS, SPAWNED_A_ROUND, WARM_A_ROUND = 5, 4, 80


def sentences(language: str, count: int) -> list[str]:
    """Real sentences of a language, repeated as need be."""
    lines = [line for line in (DATA / f"{language}.txt").read_text(encoding="utf-8").splitlines() if line]
    return list(islice(cycle(lines), count))


def spawned(mode: Mode, sentence: str) -> float:
    """Seconds for one sentence through stages that are started for it alone."""
    begun, source = perf_counter(), subprocess.PIPE
    running: list[subprocess.Popen[bytes]] = []
    for stage in mode.stages:
        running.append(subprocess.Popen(stage, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
        if len(running) > 1:
            running[-2].stdout.close()
        source = running[-1].stdout
    running[0].stdin.write(encode(sentence, shielded_spans(sentence)).body.encode() + b"\0")
    running[0].stdin.close()
    assert running[-1].stdout.read().endswith(b"\0")
    running[-1].stdout.close()
    for process in running:
        process.wait()
    return perf_counter() - begun


async def warm(engine: ApertiumEngine, pair: Pair, sentence: str) -> float:
    """Seconds for one sentence through the engine."""
    begun = perf_counter()
    await engine.translate_batch([Segment(sentence, tuple(shielded_spans(sentence)))], pair)
    return perf_counter() - begun


async def pipelined(engine: ApertiumEngine, pair: Pair, texts: Sequence[str]) -> float:
    """Sentences a second with many in flight."""
    segments = [Segment(text, tuple(shielded_spans(text))) for text in texts]
    begun = perf_counter()
    await engine.translate_batch(segments, pair)
    return len(texts) / (perf_counter() - begun)


async def measured(engine: ApertiumEngine, pair: Pair, mode: Mode, count: int) -> dict[str, Any]:
    """All paths of one pair."""
    texts = sentences(pair.source, count)
    first = await warm(engine, pair, texts[0])
    spawn_s: list[float] = []
    warm_s: list[float] = []
    for _ in range(ROUNDS):
        spawn_s += [await asyncio.to_thread(spawned, mode, text) for text in texts[:SPAWNED_A_ROUND]]
        warm_s += [await warm(engine, pair, text) for text in texts[:WARM_A_ROUND]]
    return {
        "pair": str(pair),
        "stages": len(mode.stages),
        "first_ms": round(first * 1000, 1),
        "spawn_p50_ms": round(median(spawn_s) * 1000, 2),
        "warm_p50_ms": round(median(warm_s) * 1000, 3),
        "warm_p99_ms": round(quantiles(warm_s, n=100)[98] * 1000, 3),
        "ratio": round(median(spawn_s) / median(warm_s), 1),
        "pipelined_per_s": round(await pipelined(engine, pair, texts)),
    }


async def run(languages: LanguageSet, pairs: Sequence[str], count: int) -> list[dict[str, Any]]:
    """One row a pair."""
    rows = []
    async with open_apertium(languages) as engine:
        for pair, chain in sorted(chains(languages).items()):
            if not chain.route.via and (not pairs or str(pair) in pairs) and (DATA / f"{pair.source}.txt").is_file():
                rows.append(await measured(engine, pair, read_mode(chain.modes[0]), count))
    return rows


COLUMNS = {
    "pair": "pair",
    "stages": "stages",
    "spawn p50 ms": "spawn_p50_ms",
    "warm p50 ms": "warm_p50_ms",
    "warm p99 ms": "warm_p99_ms",
    "ratio": "ratio",
    "pipelined /s": "pipelined_per_s",
    "start + first ms": "first_ms",
}


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = [[str(row[key]) for key in COLUMNS.values()] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in [list(COLUMNS), ["---"] * len(COLUMNS), *lines])


@click.command()
@click.option("--languages", type=click.Choice([s.value for s in LanguageSet]), default="base", show_default=True)
@click.option("--pair", "pairs", multiple=True, help="Only this pair (en-es); repeatable.")
@click.option("--sentences", "count", type=click.IntRange(WARM_A_ROUND), default=1_000, show_default=True)
@click.option(
    "--json", "target", type=click.File("w"), default=None, help="Where to write the rows as JSON; - is stdout."
)
def main(languages: str, pairs: tuple[str, ...], count: int, target: Any) -> None:
    """Measure the warm pipeline beside starting the engine for each request."""
    rows = asyncio.run(run(LanguageSet(languages), pairs, count))
    if target is not None:
        json.dump({"engine": rows}, target, indent=2)
        target.write("\n")
    if target is None or target.name != "<stdout>":
        click.echo(table(rows))


if __name__ == "__main__":
    main()
