"""The API server says no: to a weight, to one of several documents, to a spec, for good."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from fractions import Fraction
from typing import Any

import pytest

from control.errors import StartFailed
from tests.cluster.test_outages import STEPS, check_outlived, in_force
from tests.cluster.test_people import BY
from tests.cluster.test_shift import RATE, ended
from tests.support.cluster_story import Scene, shift
from tests.support.control_story import load
from tests.support.mesh_wait import until

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module")]
NAME = "no-weights"
WEIGHT = "/spec/http/0/route/1/weight"


def policy(names: Sequence[str]) -> list[dict[str, Any]]:
    """Nobody may change the routes of these VirtualServices."""
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": NAME}}
    rule = {
        "apiGroups": ["networking.istio.io"],
        "apiVersions": ["*"],
        "operations": ["UPDATE"],
        "resources": ["virtualservices"],
        "resourceNames": list(names),
    }
    refuses = {"expression": "object.spec == oldObject.spec", "message": "the routes are frozen until Monday"}
    spec = {"failurePolicy": "Fail", "matchConstraints": {"resourceRules": [rule]}, "validations": [refuses]}
    bound = {"policyName": NAME, "validationActions": ["Deny"]}
    return [
        {**kind, "kind": "ValidatingAdmissionPolicy", "spec": spec},
        {**kind, "kind": "ValidatingAdmissionPolicyBinding", "spec": bound},
    ]


@asynccontextmanager
async def refusing(stage: Scene, *names: str) -> AsyncIterator[None]:
    """No weight of these documents can be written until the context ends."""
    await stage.cluster.apply("\n---\n".join(json.dumps(each) for each in policy(names)))
    try:
        await until(lambda: _refused(stage, names[-1]), within_s=60, what="the policy is in force")
        yield
    finally:
        kinds = "validatingadmissionpolicy,validatingadmissionpolicybinding"
        await stage.cluster.kubectl_run("delete", kinds, NAME)
        await until(lambda: _allowed(stage, names), within_s=60, what="the policy is gone")


async def _allowed(stage: Scene, names: Sequence[str]) -> bool:
    return not any([await _refused(stage, name) for name in names])


async def _refused(stage: Scene, name: str) -> bool:
    patch = json.dumps([{"op": "replace", "path": WEIGHT, "value": 77}])
    words = ("patch", "virtualservice", name, "--type=json", "--dry-run=server", "-p", patch)
    try:
        await stage.cluster.kubectl_run(*words)
    except StartFailed:
        return True
    return False


async def test_a_return_writes_what_it_can_where_one_document_is_refused(shared: Scene) -> None:
    await shared.hire()
    async with load(shared.stage, rate=RATE) as traffic:
        await shared.apply_shift(strategy=STEPS | {"hold": "1h"})
        await shared.told(in_force("1/10"), "10 % is in force")
        async with refusing(shared, "edge"):
            command = json.dumps({"id": "back", "verb": "rollback"})
            await shared.cluster.kubectl_run("annotate", "trafficshift", "echo", f"tidegate.dev/command={command}", BY)
            partial = await shared.told(
                lambda status: _rejected(status) and _shares(status)["echo"] == "0", "one is written, one refused"
            )
            weights = await shared.weights()
        done = await shared.told(ended, "it goes back once it may")
    print(f"one of two refused: {weights}, {partial['phase']}; {_rejected(partial)}")
    assert weights == {"echo": (100, 0), "edge": (90, 10)}
    assert partial["phase"] == "RollingBack"
    assert partial["share"]["configured"] is None, "two documents that differ have no share in common"
    assert "frozen until Monday" in _rejected(partial)
    assert done["phase"] == "RolledBack"
    assert set((await shared.weights()).values()) == {(100, 0)}
    assert (traffic.failures, shared.tape.unsaid()) == ([], [])


def _rejected(status: Any) -> str:
    return next((each["message"] for each in status["conditions"] if each["type"] == "Rejected"), "")


def _shares(status: Any) -> dict[str, str]:
    return {each["route"].split("/")[1].split(",")[0]: each["configured"] for each in status["proxies"]}


async def test_a_step_that_one_document_refuses_is_shown_and_goes_on_when_it_may(shared: Scene) -> None:
    await shared.hire()
    async with load(shared.stage, rate=RATE) as traffic:
        async with refusing(shared, "edge"):
            await shared.apply_shift(strategy=STEPS)
            partial = await shared.told(lambda status: "frozen until Monday" in json.dumps(status), "it is told")
            await asyncio.sleep(4)
            held = await shared.status()
        done = await shared.told(ended, "it ends")
    print(f"a step that one of two refuses: {_shares(held)}, {held['phase']} at step {held['step']}")
    assert (partial["phase"], held["step"]) == ("Progressing", 1)
    assert _shares(held) == {"echo": "1/10", "edge": "0"}
    assert held["share"]["acknowledged"] is None
    check_outlived(shared, done, traffic, "one of two refused")


@pytest.mark.long
async def test_a_deletion_ends_where_a_weight_is_refused_for_good(shared: Scene) -> None:
    await shared.hire()
    loop = asyncio.get_running_loop()
    async with load(shared.stage, rate=RATE) as traffic:
        await shared.apply_shift(strategy=STEPS | {"hold": "1h"})
        await shared.told(in_force("1/10"), "10 % is in force")
        async with refusing(shared, "edge"):
            began = loop.time()
            await shared.cluster.kubectl_run("delete", "trafficshift", "echo", "--timeout=120s")
            took_s, weights = loop.time() - began, await shared.weights()
            events = await until(lambda: _events(shared, "LetGo"), within_s=60, what="an Event tells of it")
    print(f"deleted while one of two is refused: gone after {took_s:.0f} s, {weights}; {events[0]}")
    assert weights == {"echo": (100, 0), "edge": (90, 10)}
    assert "frozen until Monday" in events[0]
    assert (traffic.failures, shared.tape.unsaid()) == ([], [])


async def _events(stage: Scene, reason: str) -> list[str]:
    found = json.loads(await stage.cluster.kubectl_run("get", "events.events.k8s.io", "-o", "json"))
    return [each["note"] for each in found["items"] if each["reason"] == reason]


async def test_a_shift_whose_documents_are_all_gone_can_be_deleted(shared: Scene) -> None:
    await shared.hire()
    async with load(shared.stage, rate=RATE):
        await shared.apply_shift(strategy=STEPS | {"hold": "1h"})
        await shared.told(in_force("1/10"), "10 % is in force")
        await shared.cluster.kubectl_run("delete", "virtualservice", "echo", "edge")
        await shared.told(lambda status: "RouteMissing" in json.dumps(status["conditions"]), "it is told")
        await shared.cluster.kubectl_run("delete", "trafficshift", "echo", "--timeout=120s")
    assert shared.tape.unsaid() == []


BROKEN = {
    "name": "errors",
    "prometheus": {"kind": "gauge", "value": 'sum(rate(x{version="{{ version }}"}[1m])', "max": 1},
}


async def test_a_spec_that_the_api_server_cannot_see_through_changes_nothing(shared: Scene) -> None:
    await shared.hire()
    good = shift(strategy=STEPS | {"hold": "1h"})["spec"]["metrics"]
    async with load(shared.stage, rate=RATE) as traffic:
        await shared.apply_shift(strategy=STEPS | {"hold": "1h"})
        await shared.told(in_force("1/10"), "10 % is in force")
        await shared.apply_shift(strategy=STEPS, metrics=[*good, BROKEN])
        told = await shared.told(lambda status: _invalid(status), "it is told")
        await asyncio.sleep(4)
        held = await shared.status()
        await shared.apply_shift(strategy=STEPS)
        done = await shared.told(ended, "it ends")
    print(f"a PromQL that does not parse: {_invalid(told)}")
    assert (held["phase"], held["step"]) == ("Progressing", 1)
    assert held["accepted"]["spec"]["strategy"]["hold"] == "1h"
    assert "metrics" in _invalid(told)
    assert not _invalid(done)
    check_outlived(shared, done, traffic, "an invalid spec")


def _invalid(status: Any) -> str:
    return next((each["message"] for each in status["conditions"] if each["type"] == "Invalid"), "")


async def test_one_that_was_never_right_says_so_and_can_be_deleted(shared: Scene) -> None:
    await shared.hire()
    await shared.apply_shift(metrics=[{"name": "outcomes"}, BROKEN])
    told = await shared.told(lambda status: status["phase"] == "Invalid", "it is told")
    assert "metrics" in told["reason"]
    await shared.cluster.kubectl_run("delete", "trafficshift", "echo", "--timeout=60s")
    assert shared.tape.shares("echo") in ([], [Fraction(0)])
