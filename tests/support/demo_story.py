"""A demo as a person runs it: the real `tidegate demo` in a process of its own, and what it wrote of itself."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from control.local.manifests import SHIFT

ROOT = Path(__file__).parents[2]
TIDEGATE = Path(sys.executable).parent / "tidegate"
WITHIN_S = 240.0
RATES = (100.0, 50.0, 25.0)
"""Requests a second, the most first: what a busy machine can't serve in time, it may serve at the next."""
AT_EASE = 0.25
"""A larger share of stable's requests beyond the latency that is watched: the machine is slow, whatever the canary."""


@dataclass(frozen=True, slots=True)
class Told:
    """How a demo ended, and what it wrote with `--json`."""

    code: int
    seen: Mapping[str, Any]
    printed: str

    @property
    def status(self) -> Mapping[str, Any]:
        status: Mapping[str, Any] = self.seen["shift"]["status"]
        return status

    def sentence(self, *reasons: str) -> str:
        """What the one journal entry with one of these reasons says."""
        (found,) = [entry["sentence"] for entry in self.seen["history"] if entry["reason"] in reasons]
        return str(found)

    @property
    def at_ease(self) -> bool:
        """The machine had room for the version without a fault, so that latency could tell the two apart."""
        late = [row["stable"]["rate"] for row in self.status["evidence"] if row["metric"] == "latency"]
        return bool(late) and late[0] <= AT_EASE


def demo_at_ease(folder: Path, *words: str, **spec: Any) -> Told:
    """The demo at the highest of RATES that the machine serves in time; where none is, the last one."""
    told = demo(folder, *words, rate=RATES[0], **spec)
    for rate in RATES[1:]:
        if told.at_ease:
            return told
        print(f"stable was slow at more than {rate:g} requests a second, so the demo is run once more")
        told = demo(folder, *words, rate=rate, **spec)
    return told


def demo(folder: Path, *words: str, rate: float = 100, **spec: Any) -> Told:
    """The demo with these words, its shift that of the manifests with some fields of its spec changed."""
    seen, shift = folder / "demo.json", folder / "shift.yaml"
    document = yaml.safe_load(SHIFT.read_text(encoding="utf-8"))
    document["spec"] |= spec
    shift.write_text(yaml.safe_dump(document), encoding="utf-8")
    done = subprocess.run(
        [TIDEGATE, "demo", "--rate", f"{rate:g}", "--json", seen, "--shift", shift, *words],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert seen.exists(), f"{done.stdout}\n{done.stderr}"
    return Told(done.returncode, json.loads(seen.read_text(encoding="utf-8")), done.stdout)
