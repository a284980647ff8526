"""The canary's Deployment gets another image in the middle of a shift: what was learned is about the one before."""

import json
from typing import Any

import pytest

from tests.cluster.test_shift import RATE, ended
from tests.support.cluster_story import Scene
from tests.support.control_story import load

pytestmark = pytest.mark.cluster
LABELS = {"app": "echo", "version": "v2"}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "echo-v2", "namespace": "default"},
    "spec": {
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": LABELS},
        "template": {
            "metadata": {"labels": LABELS},
            "spec": {"containers": [{"name": "echo", "image": "registry.example/echo:1"}]},
        },
    },
}


async def test_a_new_image_takes_the_weight_to_0_and_begins_anew(stage: Scene) -> None:
    """The pods never run, for want of a node; which build they are of is all that this is about."""
    await stage.cluster.apply(json.dumps(DEPLOYMENT))
    await stage.hire()
    try:
        async with load(stage.stage, rate=RATE) as traffic:
            await stage.apply_shift()
            await stage.told(lambda status: status["step"] == 2, "its second step")
            await stage.cluster.kubectl_run("set", "image", "deployment/echo-v2", "echo=registry.example/echo:2")
            again = await stage.told(lambda status: status["run"] == 2, "a second run")
            assert again["share"]["configured"] in ("0", "1/10")
            done = await stage.told(ended, "it ends")
    finally:
        await stage.cluster.kubectl_run("delete", "deployment", "echo-v2")
    assert (done["phase"], done["run"]) == ("Promoted", 2), done["reason"]
    assert traffic.failures == []
    moves = [entry for entry in done["history"] if entry["reason"] in ("Revised", "RolledBack", "Renewed", "Promoted")]
    assert [entry["reason"] for entry in moves] == ["Revised", "RolledBack", "Renewed", "Promoted"]
    assert "another build of v2" in moves[0]["sentence"]
