"""`make bench`: every benchmark, one after the other, and docs/benchmarks.md with what this run showed."""

import datetime
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.bench_start import tidegate

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

One run of `make bench`; figures of one machine at one moment. Read the ratios, and the quantiles against their aims;
the absolute figures move with the machine and with whatever else it does. What several runs showed, and why an aim was
missed, stands in [benchmark-notes.md](benchmark-notes.md).

- When: {when}
- Where: {cores} cores, {machine}, Python {python}, load average {load} when it began
"""


def run(*words: str) -> str:
    """A benchmark's tables; its progress goes to stderr. Raises CalledProcessError."""
    done = subprocess.run([sys.executable, "-m", *words], check=True, stdout=subprocess.PIPE, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("|") or not line]
    return "\n".join(lines).strip()


@contextmanager
def mesh() -> Iterator[Path]:
    """The run file of a mesh that lives while the context lasts."""
    with tempfile.TemporaryDirectory() as folder:
        state_dir = Path(folder) / "state"
        tidegate("up", "--detach", state_dir=state_dir)
        try:
            yield state_dir / "run.json"
        finally:
            tidegate("down", state_dir=state_dir)


def sections() -> Iterator[tuple[str, str, str]]:
    """Title, command, tables."""
    yield "A weight step", "python -m tests.bench.bench_mesh", run("tests.bench.bench_mesh")
    yield "A tick of one shift, in milliseconds", "python -m tests.bench.bench_tick", run("tests.bench.bench_tick")
    yield "Start", "python -m tests.bench.bench_start", run("tests.bench.bench_start")
    with mesh() as run_file:
        serving = run("tests.bench.bench_serving", "--run-file", str(run_file))
    yield "Serving: direct, and through gateway and sidecars", "python -m tests.bench.bench_serving", serving
    yield (
        "Apertium: a warm pipeline beside spawning",
        "python -m tests.bench.bench_engine",
        run("tests.bench.bench_engine"),
    )


def head() -> str:
    return HEAD.format(
        when=f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        cores=os.cpu_count(),
        machine=platform.machine(),
        python=platform.python_version(),
        load=f"{os.getloadavg()[0]:.1f}",
    )


def main() -> None:
    text = head()
    for title, command, tables in sections():
        print(f"== {title}\n{tables}\n", flush=True)
        text += f"\n## {title}\n\n`{command}`\n\n{tables}\n"
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
