"""5,000 requests through a whole shift on istiod's Envoys: every try is counted, none fails, whoever has the weight."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import grpc.aio
import pytest

from control.local.cluster.running import Cluster
from tests.cluster.test_shift import ended
from tests.support.backend import Backend, Client, backend, client
from tests.support.cluster_story import scene

pytestmark = pytest.mark.cluster
REQUESTS = 5_000
WORKERS = 4
PAUSE_S = 0.02
FAILURES = (0, 0, 0, 1, 0, 0, 2, 0, 0)
"""How often a request fails first, by its number; istiod's default is two more tries."""


class Load:
    """`asked` is how often each request was told to fail first; `failed` has those that did fail in the end."""

    def __init__(self) -> None:
        self.numbers = count()
        self.asked: dict[str, int] = {}
        self.failed: list[str] = []
        self.versions: Counter[str] = Counter()

    async def work(self, caller: Client, way: str) -> None:
        for number in self.numbers:
            if number >= REQUESTS:
                return
            name, failures = f"{way}-{number}", FAILURES[number % len(FAILURES)]
            self.asked[name] = failures
            try:
                answer = await caller.call(request_id=name, fail_first=str(failures), x_envoy_attempt_count="9")
                self.versions[answer] += 1
            except grpc.aio.AioRpcError as error:
                self.failed.append(f"{name}: {error.code().name} {error.details()}")
            await asyncio.sleep(PAUSE_S)

    def counted_wrong(self, backends: list[Backend]) -> list[str]:
        """Requests whose tries were not counted 1..k+1, or were not all made on one version."""
        wrong = []
        for name, failures in self.asked.items():
            seen = [served.attempts[name] for served in backends if name in served.attempts]
            if seen != [[str(attempt) for attempt in range(1, failures + 2)]]:
                wrong.append(f"{name}: {seen}")
        return wrong


async def test_every_try_is_counted_at_every_weight(cluster: Cluster, tmp_path: Path) -> None:
    backends: list[Backend] = []

    @asynccontextmanager
    async def serve(places: Mapping[tuple[str, int], str]) -> AsyncIterator[None]:
        first, second = (f"{places[version, 0]}:50051" for version in ("v1", "v2"))
        async with backend("v1", first) as v1, backend("v2", second) as v2:
            backends.extend((v1, v2))
            yield

    traffic = Load()
    async with scene(cluster, tmp_path, serve) as stage:
        (gateway, edge), (sidecar, inside) = stage.stage.entrances
        async with client(gateway, edge) as outside, client(sidecar, inside) as within:
            await stage.hire()
            async with asyncio.TaskGroup() as group:
                for _ in range(WORKERS):
                    group.create_task(traffic.work(outside, "gateway"))
                    group.create_task(traffic.work(within, "sidecar"))
                await stage.apply_shift(strategy={"kind": "steps", "steps": ["10%", "50%", "100%"], "hold": "4s"})
                done = await stage.told(ended, "it ends")
                await stage.cluster.kubectl_run("delete", "trafficshift", "echo", "--timeout=60s")
    print(f"{len(traffic.asked)} requests, {dict(traffic.versions)}, {len(traffic.failed)} failed")
    assert done["phase"] == "Promoted", done["reason"]
    assert traffic.failed == []
    assert traffic.counted_wrong(backends) == []
    assert len(traffic.asked) == REQUESTS
    assert min(traffic.versions.values()) > REQUESTS / 20
