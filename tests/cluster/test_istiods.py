"""Two istiods, each with proxies of its own: both are asked, and where one can't be, nobody knows.

The second one listens on all addresses. From loopback istiod's debug interface answers anybody, whatever address it
listens on; asked from the machine's own address it wants to know who asks, and really says 401.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace

import aiohttp
import pytest
import pytest_asyncio

from control.local.cluster import children
from control.local.cluster.running import Cluster
from control.local.cluster.tools import ISTIO, folder
from mesh.lease import lease
from mesh.process import Supervisor
from tests.cluster.test_outages import STEPS, check_outlived, in_force
from tests.cluster.test_shift import RATE, ended
from tests.support.cluster_faults import stopped
from tests.support.cluster_story import Scene, scene
from tests.support.control_story import load

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio(loop_scope="module")]
GATEWAY, CALLER = "ingress.default", "caller.default"


@dataclass
class Second:
    """The other istiod: its debug interface's port, on every address of this machine, and its process."""

    port: int
    pid: int


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def second(cluster: Cluster) -> AsyncIterator[tuple[Second, str]]:
    """It, and where it serves proxies."""
    with lease() as net:
        places = replace(cluster.places, net=net.net)
        spec = children.istiod(places, folder(ISTIO))
        port = _free_port()
        words = [f"--monitoringAddr=:{port}" if "--monitoringAddr" in word else word for word in spec.command]
        async with Supervisor() as supervisor:
            child = await supervisor.start(replace(spec, name="istiod-1", command=tuple(words)))
            yield Second(port, child.pid or 0), places.istiod_xds


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kept_stage(
    cluster: Cluster, second: tuple[Second, str], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Scene]:
    """The gateway is told what to do by the second istiod."""
    async with scene(cluster, tmp_path_factory.mktemp("istiods"), served_by={GATEWAY: second[1]}) as made:
        yield made
    await asyncio.sleep(0)


def own_address() -> str:
    """This machine's address that is not loopback; empty where it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return ""
        address = str(probe.getsockname()[0])
    return "" if address.startswith("127.") else address


def both(stage: Scene, second: Second, host: str = "127.0.0.1") -> dict[str, str]:
    return {"TIDEGATE_ISTIOD": f"http://{stage.cluster.places.istiod_monitoring},http://{host}:{second.port}"}


def holders(status: Mapping[str, object]) -> set[str]:
    return {name for route in status["proxies"] for name in route["holders"]}  # type: ignore[attr-defined]


async def test_every_istiod_is_asked(shared: Scene, second: tuple[Second, str]) -> None:
    await shared.hire(**both(shared, second[0]))
    async with load(shared.stage, rate=RATE) as traffic:
        await shared.apply_shift(strategy=STEPS)
        done = await shared.told(ended, "it ends")
    print(f"two istiods: proxies {sorted(holders(done))}")
    assert holders(done) == {GATEWAY, CALLER}
    assert "StepSettled" not in [entry["reason"] for entry in done["history"]]
    check_outlived(shared, done, traffic, "two istiods")


@pytest.mark.long
async def test_one_that_does_not_answer_leaves_it_unknown(shared: Scene, second: tuple[Second, str]) -> None:
    """The other one says that its proxy runs the weight; that of the silent one does not, and nobody claims it."""
    await shared.hire(**both(shared, second[0]))
    async with load(shared.stage, rate=RATE) as traffic:
        await shared.apply_shift(strategy=STEPS | {"hold": "10s"}, settle="5s")
        await shared.told(in_force("1/10"), "10 % is in force")
        with stopped(second[0].pid):
            settled = await shared.told(lambda status: "StepSettled" in str(status["history"]), "time settles it")
        done = await shared.told(ended, "it ends")
    assert settled["share"]["acknowledged"] is None
    told = [entry["sentence"] for entry in done["history"] if entry["reason"] == "StepSettled"]
    print(f"one of two istiods stopped: {told}")
    assert told[0].startswith("nobody can say which proxies run 40 %")
    check_outlived(shared, done, traffic, "one of two istiods stopped")


async def test_one_that_wants_to_know_who_asks_leaves_it_unknown(shared: Scene, second: tuple[Second, str]) -> None:
    host = own_address()
    if not host:
        pytest.skip("this machine has no address but loopback: no istiod refuses anybody there")
    async with aiohttp.ClientSession() as session:
        answers = {}
        for each in ("127.0.0.1", "127.99.1.2", host):
            async with session.get(f"http://{each}:{second[0].port}/debug/syncz") as response:
                answers[each] = response.status
    print(f"/debug/syncz answers {answers}")
    assert (answers["127.0.0.1"], answers["127.99.1.2"]) == (200, 200)
    assert answers[host] in (401, 403)
    await shared.hire(**both(shared, second[0], host))
    async with load(shared.stage, rate=RATE) as traffic:
        await shared.apply_shift(strategy=STEPS, settle="3s")
        done = await shared.told(ended, "it ends")
    told = [entry["reason"] for entry in done["history"]]
    assert told.count("StepSettled") == 3
    assert "StepAcknowledged" not in told
    assert "nobody can say which proxies run it" in done["reason"]
    assert done["phase"] == "Promoted"
    assert (traffic.failures, shared.tape.unsaid()) == ([], [])
