"""Other hands on the same documents: a pipeline that applies the original, somebody who gives traffic back, tools that
write without end, and a document that goes away.
"""

import asyncio
import json
from typing import Any

import pytest

from tests.cluster.test_shift import RATE, ended
from tests.support.cluster_story import Scene
from tests.support.cluster_writers import writers
from tests.support.control_story import load
from tests.support.mesh_wait import until

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module")]
WRITERS = 50
BY = "tidegate.dev/command-by=admin"
STEPS: dict[str, Any] = {"kind": "steps", "steps": ["10%", "40%", "100%"], "hold": "3s"}


@pytest.fixture
def stage(shared: Scene) -> Scene:
    return shared


async def weights(stage: Scene, name: str, stable: int, canary: int) -> None:
    path = "/spec/http/0/route"
    patch = [
        {"op": "replace", "path": f"{path}/0/weight", "value": stable},
        {"op": "replace", "path": f"{path}/1/weight", "value": canary},
    ]
    await stage.cluster.kubectl_run("patch", "virtualservice", name, "--type=json", "-p", json.dumps(patch))


async def at_forty(stage: Scene) -> None:
    await stage.told(lambda status: status["share"]["acknowledged"] == "2/5", "40 % is in force")


async def test_the_original_applied_again_is_repaired_after_the_grace_period(stage: Scene) -> None:
    original = {name: await stage.document(name) for name in ("echo", "edge")}
    await stage.hire()
    async with load(stage.stage, rate=RATE) as traffic:
        await stage.apply_shift(strategy=STEPS, gracePeriod="2s")
        await at_forty(stage)
        for document in original.values():
            await stage.cluster.apply(json.dumps(document))
        done = await stage.told(ended, "it ends")
    assert done["phase"] == "Promoted", done["reason"]
    assert "DriftRepaired" in [entry["reason"] for entry in done["history"]]
    assert traffic.failures == []


async def test_who_gives_traffic_back_by_hand_is_respected(stage: Scene) -> None:
    await stage.hire()
    async with load(stage.stage, rate=RATE):
        await stage.apply_shift(strategy=STEPS | {"hold": "1h"}, gracePeriod="1h")
        await stage.told(lambda status: status["share"]["acknowledged"] == "1/10", "10 % is in force")
        for name in ("echo", "edge"):
            await weights(stage, name, 100, 0)
        await stage.told(
            lambda status: any(each["type"] == "ForeignChange" for each in status["conditions"]), "it is told"
        )
        await asyncio.sleep(3)
        assert set((await stage.weights()).values()) == {(100, 0)}


@pytest.mark.parametrize("goes", [pytest.param("forward", marks=pytest.mark.long), "back"])
async def test_writers_without_end_keep_no_weight_from_being_written(stage: Scene, goes: str) -> None:
    await stage.hire()
    loop = asyncio.get_running_loop()
    async with load(stage.stage, rate=RATE) as traffic:
        await stage.apply_shift(strategy=STEPS | {"hold": "1h" if goes == "back" else "2s"})
        await stage.told(lambda status: status["share"]["acknowledged"] == "1/10", "10 % is in force")
        async with writers(stage.cluster, "echo", WRITERS) as busy:
            await until(lambda: busy.written > WRITERS, within_s=120, what="they write")
            before, began = busy.written, loop.time()
            if goes == "back":
                command = json.dumps({"id": "back", "verb": "rollback"})
                await stage.cluster.kubectl_run(
                    "annotate", "trafficshift", "echo", f"tidegate.dev/command={command}", BY
                )
            done = await stage.told(ended, "it ends")
            took_s = loop.time() - began
    rate = (busy.written - before) / took_s
    print(f"{WRITERS} writers, {goes}: {done['phase']} after {took_s:.1f} s beside {rate:.0f} writes a second")
    assert done["phase"] == ("RolledBack" if goes == "back" else "Promoted"), done["reason"]
    assert (traffic.failures, stage.tape.unsaid()) == ([], [])
    assert {canary for _, canary in (await stage.weights()).values()} == ({0} if goes == "back" else {100})


async def test_a_third_destination_keeps_the_weight_that_a_person_gave_it(stage: Scene) -> None:
    """20 % go elsewhere from the middle on: stable and canary divide what is left to them."""
    await stage.hire()
    third = {"destination": {"host": "echo", "port": {"number": 50051}}, "weight": 20}
    path = "/spec/http/0/route"
    async with load(stage.stage, rate=RATE) as traffic:
        await stage.apply_shift(strategy=STEPS)
        await at_forty(stage)
        patch = [
            {"op": "replace", "path": f"{path}/0/weight", "value": 48},
            {"op": "replace", "path": f"{path}/1/weight", "value": 32},
            {"op": "add", "path": f"{path}/-", "value": third},
        ]
        await stage.cluster.kubectl_run("patch", "virtualservice", "echo", "--type=json", "-p", json.dumps(patch))
        done = await stage.told(ended, "it ends")
    found = (await stage.document("echo"))["spec"]["http"][0]["route"]
    print(f"a third destination: {await stage.weights()}, {done['phase']}")
    assert (done["phase"], done["share"]["configured"]) == ("Promoted", "1"), done["reason"]
    assert await stage.weights() == {"echo": (0, 80, 20), "edge": (0, 100)}
    assert found[2] == third
    assert "DriftRepaired" not in [entry["reason"] for entry in done["history"]]
    assert (traffic.failures, stage.tape.unsaid()) == ([], [])


async def test_what_others_add_in_the_middle_stays(stage: Scene) -> None:
    await stage.hire()
    async with load(stage.stage, rate=RATE):
        await stage.apply_shift(strategy=STEPS)
        await at_forty(stage)
        added = [
            {"op": "add", "path": "/spec/http/0/timeout", "value": "9s"},
            {"op": "add", "path": "/spec/http/0/headers", "value": {"request": {"set": {"x-team": "shop"}}}},
            {"op": "add", "path": "/metadata/annotations", "value": {"example.com/owner": "shop"}},
            {
                "op": "add",
                "path": "/spec/http/-",
                "value": {"name": "more", "route": [{"destination": {"host": "echo"}}]},
            },
        ]
        await stage.cluster.kubectl_run("patch", "virtualservice", "echo", "--type=json", "-p", json.dumps(added))
        done = await stage.told(ended, "it ends")
    assert done["phase"] == "Promoted", done["reason"]
    document = await stage.document("echo")
    assert document["spec"]["http"][0]["timeout"] == "9s"
    assert document["spec"]["http"][0]["headers"] == {"request": {"set": {"x-team": "shop"}}}
    assert document["spec"]["http"][1]["name"] == "more"
    assert document["metadata"]["annotations"] == {"example.com/owner": "shop"}


async def test_a_shift_whose_document_is_gone_can_be_deleted(stage: Scene) -> None:
    await stage.hire()
    async with load(stage.stage, rate=RATE):
        await stage.apply_shift(strategy=STEPS | {"hold": "1h"})
        await stage.told(lambda status: status["share"]["acknowledged"] == "1/10", "10 % is in force")
        await stage.cluster.kubectl_run("delete", "virtualservice", "echo")
        await stage.told(lambda status: "RouteMissing" in json.dumps(status["conditions"]), "it is told")
        await stage.cluster.kubectl_run("delete", "trafficshift", "echo", "--timeout=60s")
        assert (await stage.weights_of("edge"))[1] == 0
