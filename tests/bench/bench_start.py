"""How long from `tidegate up` to the first translated sentence?

    python -m tests.bench.bench_start [--rounds 3]

Each round starts everything in an empty state folder, translates one sentence through the gateway, and stops it again.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import click

TIDEGATE = str(Path(sys.executable).parent / "tidegate")
AIM = "<= 6 s"


def tidegate(*words: str, state_dir: Path) -> str:
    """What it printed. Raises CalledProcessError."""
    command = [TIDEGATE, *words, "--state-dir", str(state_dir)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def start(state_dir: Path) -> tuple[float, float]:
    """Seconds until it is ready, and until the first sentence is there."""
    begun = perf_counter()
    tidegate("up", "--detach", state_dir=state_dir)
    ready = perf_counter() - begun
    assert "biblioteca" in tidegate("translate", "Where is the library?", "--to", "es", state_dir=state_dir)
    return ready, perf_counter() - begun


def table(times: list[tuple[float, float]]) -> str:
    ready, first = (statistics.median(column) for column in zip(*times, strict=True))
    worst = max(time for _, time in times)
    return "\n".join(
        (
            "| from `tidegate up` (s) | rounds | median | max | aim |",
            "|---|---|---|---|---|",
            f"| everything is ready | {len(times)} | {ready:.1f} | {max(each for each, _ in times):.1f} | |",
            f"| first translated sentence | {len(times)} | {first:.1f} | {worst:.1f} | {AIM} |",
        )
    )


@click.command()
@click.option("--rounds", default=3, show_default=True)
@click.option("--json", "file", type=click.Path(path_type=Path))
def main(rounds: int, file: Path | None) -> None:
    """Measure the start of the whole mesh."""
    times = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            try:
                times.append(start(Path(folder) / "state"))
            finally:
                tidegate("down", state_dir=Path(folder) / "state")
    click.echo(table(times))
    if file:
        file.write_text(json.dumps(times) + "\n")


if __name__ == "__main__":
    main()
