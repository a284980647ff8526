"""A pipeline that applies its documents server-side, as Argo CD and Flux do, beside a shift that moves weights."""

import json

import pytest

from control.errors import StartFailed
from tests.cluster.test_people import STEPS
from tests.cluster.test_shift import RATE, ended
from tests.support.cluster_story import Scene
from tests.support.control_story import load

pytestmark = pytest.mark.cluster


async def applied(stage: Scene, text: str, *, force: bool) -> str:
    """What the API server says against it; empty when it was applied."""
    words = ("apply", "--server-side", "--field-manager=pipeline", f"--force-conflicts={str(force).lower()}")
    try:
        await stage.cluster.kubectl_run(*words, "-f", "-", stdin=text)
    except StartFailed as error:
        return error.message
    return ""


async def test_who_applies_without_force_is_told_who_has_the_weights_and_with_force_is_set_back(stage: Scene) -> None:
    """Lists of a VirtualService are atomic: whoever wrote one weight has the whole list of routes."""
    original = json.dumps(await stage.document("echo"))
    assert await applied(stage, original, force=True) == ""
    await stage.hire()
    async with load(stage.stage, rate=RATE) as traffic:
        await stage.apply_shift(strategy=STEPS | {"hold": "6s"}, gracePeriod="1s")
        await stage.told(lambda status: status["share"]["acknowledged"] == "2/5", "40 % is in force")
        said = await applied(stage, original, force=False)
        assert 'conflict with "tidegate"' in said
        assert ".spec.http" in said
        stable, canary = await stage.weights_of("echo")
        assert canary * 3 == stable * 2
        labelled = json.loads(original)
        labelled["metadata"]["labels"] = {"team": "shop"}
        del labelled["spec"]["http"]
        assert await applied(stage, json.dumps(labelled), force=False) == ""
        assert await applied(stage, original, force=True) == ""
        done = await stage.told(ended, "it ends")
    assert done["phase"] == "Promoted", done["reason"]
    assert "DriftRepaired" in [entry["reason"] for entry in done["history"]]
    assert traffic.failures == []
