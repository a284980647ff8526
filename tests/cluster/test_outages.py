"""A part of the cluster is away in the middle of a step: istiod, the API server, its store, or what it remembers."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import aiohttp
import pytest

from tests.cluster.test_shift import RATE, ended
from tests.support.cluster_faults import away, killed, pid_of, stopped
from tests.support.cluster_story import Scene, shift
from tests.support.cluster_tape import compact
from tests.support.control_story import Load, load
from tests.support.mesh_wait import until

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module")]
STEPS: dict[str, Any] = {"kind": "steps", "steps": ["10%", "40%", "100%"], "hold": "3s"}
ENTERED = ("StepEntered", "FullEntered")
AWAY_S = 20.0
Fault = Callable[[Scene], Awaitable[None]]


def in_force(share: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda status: status["share"]["acknowledged"] == share


async def meanwhile(stage: Scene, fault: Awaitable[None]) -> Sequence[Mapping[str, Any]]:
    """What the shift's status says while something happens."""
    found: list[Mapping[str, Any]] = []
    task = asyncio.ensure_future(fault)
    while not task.done():
        found.append(await stage.status())
        await asyncio.wait({task}, timeout=0.5)
    await task
    return found


def check_outlived(stage: Scene, done: Mapping[str, Any], traffic: Load, what: str) -> None:
    """No request was lost, no weight written that state did not say, and all of it is told."""
    entered = [entry["step"] for entry in done["history"] if entry["reason"] in ENTERED]
    unsaid, shares = stage.tape.unsaid(), [float(each) for each in stage.tape.shares("echo")]
    requests = sum(traffic.answers.values())
    print(f"{what}: {requests:,} requests, {len(traffic.failures)} failed; weights {shares}; not said {len(unsaid)}")
    assert (done["phase"], done["share"]["acknowledged"]) == ("Promoted", "1"), done["reason"]
    assert traffic.failures == []
    assert unsaid == []
    assert shares == sorted(shares)
    assert entered == [1, 2, 3]
    assert [entry["at"] for entry in done["history"]] == sorted(entry["at"] for entry in done["history"])


async def stop_istiod(stage: Scene) -> None:
    with stopped(pid_of(stage.cluster, "istiod")):
        await asyncio.sleep(AWAY_S)


async def kill_istiod(stage: Scene) -> None:
    await away(stage.cluster, "istiod", AWAY_S)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(stop_istiod, id="stopped"),
        pytest.param(kill_istiod, id="killed and started again", marks=pytest.mark.long),
    ],
)
async def test_nothing_is_acknowledged_while_istiod_is_away(shared: Scene, fault: Fault) -> None:
    await shared.hire()
    async with load(shared.stage, rate=RATE) as traffic:
        await shared.apply_shift(strategy=STEPS, settle="60s")
        await shared.told(in_force("1/10"), "10 % is in force")
        seen = await meanwhile(shared, fault(shared))
        done = await shared.told(ended, "it ends")
    second = [each for each in seen if each["step"] == 2]
    print(f"istiod away for {AWAY_S:g} s: {len(second)} of {len(seen)} statuses of step 2")
    assert second
    assert {each["share"]["acknowledged"] for each in second} == {None}
    assert {each["steps"][1]["acknowledgedAt"] for each in second} == {None}
    check_outlived(shared, done, traffic, "istiod away")


@pytest.mark.long
async def test_where_istiod_cannot_be_asked_the_settle_time_counts_and_is_called_that(shared: Scene) -> None:
    """The weight is written, and no proxy gets it: neither is the next one written, nor is it said to be in force."""
    await shared.hire()
    async with load(shared.stage, rate=RATE) as traffic:
        await shared.apply_shift(strategy=STEPS, settle="4s")
        await shared.told(in_force("1/10"), "10 % is in force")
        seen = await meanwhile(shared, stop_istiod(shared))
        done = await shared.told(ended, "it ends")
    told = [entry for entry in done["history"] if entry["reason"] == "StepSettled"]
    print([entry["sentence"] for entry in told])
    assert [entry["step"] for entry in told] == [2]
    assert {each["share"]["acknowledged"] for each in seen if each["step"] == 2} == {None}
    assert max(each["step"] for each in seen) == 2, "nothing of 40 % was seen, and yet it went on"
    check_outlived(shared, done, traffic, "istiod away, settled")


async def pause_etcd(stage: Scene) -> None:
    with stopped(pid_of(stage.cluster, "etcd")):
        await asyncio.sleep(10)


async def stop_api_server(stage: Scene) -> None:
    with stopped(pid_of(stage.cluster, "kube-apiserver")):
        await asyncio.sleep(AWAY_S)


async def kill_api_server(stage: Scene) -> None:
    await away(stage.cluster, "kube-apiserver", AWAY_S)


FAULTS = [
    pytest.param(pause_etcd, id="etcd paused"),
    pytest.param(stop_api_server, id="API server stopped"),
    pytest.param(kill_api_server, id="API server killed", marks=pytest.mark.long),
]


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_shift_outlives_its_store(shared: Scene, fault: Fault) -> None:
    await shared.hire()
    async with load(shared.stage, rate=RATE) as traffic:
        await shared.apply_shift(strategy=STEPS)
        await shared.told(lambda status: status["step"] == 1, "the first step")
        await fault(shared)
        done = await shared.told(ended, "it ends")
    check_outlived(shared, done, traffic, fault.__name__)


SPARE = json.dumps(
    {
        "apiVersion": "networking.istio.io/v1",
        "kind": "VirtualService",
        "metadata": {"name": "spare", "namespace": "default"},
        "spec": {
            "hosts": ["spare"],
            "http": [{"name": "primary", "route": [{"destination": {"host": "echo", "subset": "v1"}, "weight": 100}]}],
        },
    }
)


async def test_what_the_api_server_has_forgotten_is_listed_again(shared: Scene) -> None:
    """The controller sleeps, documents change and go, and nobody can tell it of that any more: 410, list again."""
    await shared.cluster.apply(SPARE)
    controller = await shared.hire()
    async with load(shared.stage, rate=RATE) as traffic:
        await shared.cluster.apply(json.dumps(spare_shift()))
        await shared.apply_shift(strategy=STEPS | {"hold": "1h"})
        await shared.told(in_force("1/10"), "10 % is in force")
        before = await version_of(shared, "virtualservices")
        with stopped(controller.pid):
            await shared.cluster.kubectl_run("delete", "virtualservice", "spare")
            await shared.apply_shift(strategy=STEPS)
            await compact(shared.cluster.places.etcd)
            await killed(shared.cluster, "kube-apiserver")
            await until(lambda: answer_to_old_watch(shared, before), within_s=120, what="the API server has forgotten")
        done = await shared.told(ended, "it ends")
        gone = await shared.told(lambda status: "RouteMissing" in json.dumps(status), "the other is told", of="spare")
    again = re.findall(r'"kind": ?"(\w+)"', "\n".join(listed_again(shared)))
    print(f"listed again after a 410: {sorted(again)}; {gone['reason']}")
    assert {"virtualservices", "trafficshifts"} <= set(again)
    assert "SpecChanged" in [entry["reason"] for entry in done["history"]]
    check_outlived(shared, done, traffic, "forgotten")


def spare_shift() -> dict[str, Any]:
    return shift("spare", target={"host": "echo", "routes": [{"virtualService": "spare", "route": "primary"}]})


def listed_again(stage: Scene) -> list[str]:
    return [line for line in stage.log_of(len(stage.crew) - 1).read_text().splitlines() if "listed again" in line]


async def version_of(stage: Scene, plural: str) -> str:
    """The resource version of a list as the API server has it now."""
    text = await stage.cluster.kubectl_run("get", "--raw", f"/apis/networking.istio.io/v1/{plural}")
    return str(json.loads(text)["metadata"]["resourceVersion"])


async def answer_to_old_watch(stage: Scene, version: str) -> bool:
    """Does the API server answer 410 to a watch from that version on?"""
    place = stage.cluster.places
    token = place.tokens.read_text().partition(",")[0]
    query = f"?watch=true&resourceVersion={version}&timeoutSeconds=1"
    url = f"https://{place.api_server}/apis/networking.istio.io/v1/virtualservices{query}"
    try:
        async with (
            aiohttp.ClientSession(headers={"authorization": f"Bearer {token}"}) as session,
            session.get(url, ssl=False) as response,
        ):
            return response.status == 410 or b'"code":410' in await response.read()
    except aiohttp.ClientError:
        return False
