"""`tidegate doctor` on a cluster: all is well, then one thing after another is not, and the right line says so."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from typing import Any

import pytest

from control.local.cluster.running import MANIFESTS, Cluster
from tests.cluster.test_shift import RATE
from tests.cluster.test_verbs import tidegate
from tests.support.cluster_story import Scene
from tests.support.control_story import ROOT, load
from tests.support.mesh_wait import until

pytestmark = pytest.mark.cluster


async def lines(stage: Scene, monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, list[dict[str, Any]]]:
    monkeypatch.setenv("TIDEGATE_PROMETHEUS_URL", stage.prometheus_url)
    monkeypatch.setenv("TIDEGATE_ISTIOD", f"http://{stage.cluster.places.istiod_monitoring}")
    code, out, error = await tidegate(stage, "doctor", "-o", "json", *words)
    assert out, error
    return code, json.loads(out)


def of(found: list[dict[str, Any]], code: str) -> list[tuple[str, str]]:
    return [(each["level"], each["seen"]) for each in found if each["code"] == code]


async def test_what_is_well_is_called_ok_and_what_is_not_by_its_name(
    stage: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stage.cluster.kubectl_run
    _, found = await lines(stage, monkeypatch)
    assert of(found, "LEASE") == [("fail", "nobody leads: no controller is running")]
    await stage.hire()
    async with load(stage.stage, rate=RATE):
        await stage.apply_shift(strategy={"kind": "steps", "steps": ["10%", "100%"], "hold": "1h"})
        await stage.told(lambda status: status["share"]["acknowledged"] == "1/10", "10 % is in force")
        await stage.told(lambda status: status["verdict"] not in ("no data", "unavailable"), "both are counted")

        async def well() -> list[dict[str, Any]] | None:
            code, found = await lines(stage, monkeypatch)
            return found if code == 0 and {each["level"] for each in found} == {"ok"} else None

        found = await until(well, within_s=60, what="every line is ok")
        assert {each["code"] for each in found} >= {"KIND", "RIGHTS", "POLICY", "LEASE", "ISTIOD", "PROM", "PROXY"}
        await run("delete", "validatingadmissionpolicybinding", "tidegate-weights-only")
        await run("annotate", "virtualservice", "echo", "tidegate.dev/hands-off=true")
        wrong = [{"op": "replace", "path": "/spec/subsets/1/labels/version", "value": "nowhere"}]
        await run("patch", "destinationrule", "echo", "--type=json", "-p", json.dumps(wrong))
        await run("delete", "clusterrolebinding", "tidegate-traffic")
        try:
            code, found = await lines(stage, monkeypatch, "echo")
        finally:
            await run("apply", "--server-side", "-f", str(MANIFESTS / "cluster" / "binding.yaml"))
            await run("apply", "--server-side", "-f", str(MANIFESTS / "base" / "policies.yaml"))
    assert code == 1
    assert ("warn", "tidegate-weights-only is not in force") in of(found, "POLICY")
    assert of(found, "HANDS") == [("warn", "the annotation tidegate.dev/hands-off stops every write")]
    assert ("fail", "v2 has no ready endpoint") in of(found, "READY")
    ((level, said),) = of(found, "RIGHTS")
    assert (level, "patch virtualservices" in said) == ("fail", True)


async def alone(cluster: Cluster, *words: str) -> tuple[int, list[dict[str, Any]]]:
    """Exit code and lines of the tool on a cluster on which nothing of ours runs."""
    line = (sys.executable, "-m", "control.cli.main", "--kubeconfig", str(cluster.places.kubeconfig), *words)
    process = await asyncio.create_subprocess_exec(*line, cwd=ROOT, stdout=PIPE, stderr=PIPE)
    out, error = await process.communicate()
    assert out, error.decode()
    return process.returncode or 0, json.loads(out)


async def test_who_may_not_ask_is_told_so_and_nothing_is_taken_to_be_bad(cluster: Cluster) -> None:
    _, found = await alone(cluster, "--context", "controller", "doctor", "-o", "json")
    ((level, said),) = of(found, "RIGHTS")
    assert (level, "subjectaccessreviews" in said) == ("unknown", True)
    policies = dict(map(reversed, of(found, "POLICY")))
    assert policies["tidegate-weights-only may not be looked at"] == "unknown"
    assert of(found, "SHIFTS") == []


async def test_without_the_kind_there_is_a_line_that_says_so(cluster: Cluster) -> None:
    crd = str(MANIFESTS / "base" / "crd.yaml")
    await cluster.kubectl_run("delete", "-f", crd)
    try:
        code, found = await alone(cluster, "doctor", "cart", "-o", "json")
    finally:
        await cluster.kubectl_run("apply", "--server-side", "-f", crd)
        await cluster.kubectl_run("wait", "--for=condition=Established", "-f", crd)
    assert code == 1
    assert of(found, "KIND") == [("fail", "the API server does not know TrafficShifts")]
    assert [level for level, _ in of(found, "SHIFTS")] == ["fail"]
