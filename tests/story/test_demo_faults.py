"""A bad v2, of three kinds: the demo ends in a rollback by itself and names the right signal."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TIDEGATE = Path(sys.executable).parent / "tidegate"

pytestmark = [pytest.mark.story, pytest.mark.envoy, pytest.mark.apertium, pytest.mark.redis]


def demo(tmp_path: Path, *words: str) -> tuple[int, dict[str, Any], str]:
    seen = tmp_path / "demo.json"
    done = subprocess.run(
        [TIDEGATE, "demo", "--rate", "100", "--json", str(seen), *words],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert seen.exists(), f"{done.stdout}\n{done.stderr}"
    return done.returncode, json.loads(seen.read_text()), done.stdout


@pytest.mark.parametrize(
    ("fault", "signals"),
    [("errors", {"attempts"}), ("internal", {"outcomes"}), ("crash", {"no ready endpoint", "attempts", "outcomes"})],
    ids=["retried errors show in attempts", "INTERNAL shows in outcomes", "a version that dies over and over"],
)
def test_a_bad_version_is_rolled_back_for_the_right_reason(fault: str, signals: set[str], tmp_path: Path) -> None:
    code, seen, printed = demo(tmp_path, "--fault", fault)
    status = seen["shift"]["status"]
    assert code == 3, printed
    assert status["phase"] == "RolledBack"
    assert status["share"]["configured"] == "0"
    assert seen["observedAfterwards"] == 0
    assert any(signal in why_it_went_back(seen) for signal in signals), why_it_went_back(seen)
    assert status["firstBadAt"] or fault == "crash"  # a process may die between two requests
    assert (status["firstBadAt"] or "") <= status["finishedAt"]


def why_it_went_back(seen: dict[str, Any]) -> str:
    """The sentence of the journal entry that sent all traffic back."""
    back = [entry["sentence"] for entry in seen["history"] if entry["reason"] in ("HarmFound", "CanaryGone")]
    assert len(back) == 1, seen["history"]
    return back[0]
