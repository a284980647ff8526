"""`tidegate` on a cluster: the same verbs, on the objects themselves, under the caller's own name."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.test_shift import RATE
from tests.support.cluster_story import SHIFT, Scene
from tests.support.control_story import ROOT, load

pytestmark = pytest.mark.cluster


async def tidegate(stage: Scene, *words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "control.cli.main", "--kubeconfig", str(stage.cluster.places.kubeconfig)),
        *words,
        cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, error = await process.communicate()
    return process.returncode or 0, out.decode(), error.decode()


def text_of(**spec: Any) -> str:
    return json.dumps({**SHIFT, "spec": SHIFT["spec"] | spec})


async def test_a_shift_is_applied_looked_at_moved_and_deleted(stage: Scene, tmp_path: Path) -> None:
    file = tmp_path / "shift.yaml"
    file.write_text(text_of(strategy={"kind": "steps", "steps": ["10%", "50%", "100%"], "hold": "1h"}))
    await stage.hire()
    async with load(stage.stage, rate=RATE):
        assert (await tidegate(stage, "apply", str(file)))[0] == 0
        await stage.told(lambda status: status["share"]["acknowledged"] == "1/10", "10 % is in force")
        code, out, _ = await tidegate(stage, "get", "echo", "-o", "json")
        assert (code, json.loads(out)["status"]["phase"]) == (0, "Progressing")
        code, out, error = await tidegate(stage, "promote", "echo", "--expect-step", "3")
        assert code == 2
        assert "is at step 1, not 3" in error
        code, out, error = await tidegate(stage, "promote", "echo", "--expect-step", "1", "--reason", "looks good")
        assert code == 0, error
        await stage.told(lambda status: status["share"]["acknowledged"] == "1/2", "50 % is in force")
        code, out, error = await tidegate(stage, "history", "echo")
        assert "looks good" in out
        assert "admin (verified)" in out
        assert (await tidegate(stage, "rollback", "echo", "--dry-run"))[0] == 0
        assert (await tidegate(stage, "rollback", "echo"))[0] == 0
        code, _, error = await tidegate(stage, "wait", "echo", "--for", "rolled-back", "--timeout", "60s")
        assert code == 0, error
        assert (await tidegate(stage, "delete", "echo"))[0] == 0


async def test_mistakes_have_their_place_before_anything_is_sent(stage: Scene, tmp_path: Path) -> None:
    file = tmp_path / "shift.yaml"
    file.write_text(text_of(canary="v1"))
    code, _, error = await tidegate(stage, "apply", str(file))
    assert code == 2
    assert f"{file}:1:" in error


async def test_without_a_controller_a_command_says_who_is_missing(stage: Scene) -> None:
    await stage.apply_shift()
    code, _, error = await tidegate(stage, "pause", "echo")
    assert code == 4
    assert "no controller has taken the command yet" in error
