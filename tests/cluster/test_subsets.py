"""`manageSubsets`: the subset of a new version comes with the shift that moves traffic to it."""

import json

import pytest

from control.local.cluster.running import MANIFESTS
from tests.cluster.test_admission import put, refused
from tests.cluster.test_shift import RATE, ended
from tests.support.cluster_story import Scene
from tests.support.control_story import load

pytestmark = pytest.mark.cluster
COMPONENT = str(MANIFESTS / "manage-subsets" / "rights.yaml")
SMUGGLED = {
    "a traffic policy": ([put("/spec/trafficPolicy", {"tls": {"mode": "DISABLE"}})], "beside them"),
    "another host": ([put("/spec/host", "evil")], "beside them"),
    "a label of a subset": ([put("/spec/subsets/0/labels/version", "v9")], "those that are there"),
    "one subset less": ([{"op": "remove", "path": "/spec/subsets/0"}], "those that are there"),
    "a subset with a policy": (
        [put("/spec/subsets/-", {"name": "x", "labels": {"version": "x"}, "trafficPolicy": {}})],
        "one label",
    ),
    "metadata": ([put("/metadata/labels", {"a": "b"})], "metadata"),
}


async def test_a_missing_subset_is_added_and_the_rest_of_the_rule_stays(stage: Scene) -> None:
    run = stage.cluster.kubectl_run
    missing = [{"op": "remove", "path": "/spec/subsets/1"}, put("/spec/trafficPolicy", {"connectionPool": {}})]
    await run("patch", "destinationrule", "echo", "--type=json", "-p", json.dumps(missing))
    await stage.hire()
    async with load(stage.stage, rate=RATE) as traffic:
        await stage.apply_shift(manageSubsets=True)
        await stage.told(lambda status: "forbidden" in status["reason"], "the missing right is told")
        await run("apply", "-f", COMPONENT)
        try:
            done = await stage.told(ended, "it ends")
            for name, (patch, why) in SMUGGLED.items():
                said = await refused(stage.cluster, "destinationrule", "echo", patch)
                assert "tidegate-subsets-only" in said, (name, said)
                assert why in said, (name, said)
        finally:
            await run("delete", "-f", COMPONENT)
    assert done["phase"] == "Promoted", done["reason"]
    assert traffic.failures == []
    spec = json.loads(await run("get", "destinationrule", "echo", "-o", "json"))["spec"]
    assert [each["name"] for each in spec["subsets"]] == ["v1", "v2"]
    assert spec["trafficPolicy"] == {"connectionPool": {}}
    assert "SubsetsAdded" in [entry["reason"] for entry in done["history"]]
