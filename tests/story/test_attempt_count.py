"""The story of the attempt count: through a whole shift and back, with forced failures, nobody counts wrong.

20,000 requests go through the gateway and through a sidecar while the weights of both go 0 -> 100 -> 0; a quarter of
them fails once, twice or three times first, all carry a false count of their own. For every single one the service
sees exactly 1..k+1; none fails; and two streams end on the version on which they began.
"""

import asyncio
from collections import Counter
from fractions import Fraction
from itertools import count
from pathlib import Path

import grpc.aio
import pytest

from tests.support.backend import Backend, Client, backend, client
from tests.support.mesh_running import ECHO, EDGE, running_mesh
from tests.support.mesh_wait import until

pytestmark = [pytest.mark.envoy, pytest.mark.story]

REQUESTS = 20_000
WORKERS = 12
SHARES = [Fraction(p, 100) for p in (0, 1, 5, 20, 50, 80, 100, 50, 10, 1, 0)]
FAILURES = (0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 1, 0, 3)
"""How often a request fails first, by its number."""


class Story:
    """The load. `sent` is how often each request was told to fail; `failed` has those that did fail in the end."""

    def __init__(self) -> None:
        self.numbers = count()
        self.sent: dict[str, int] = {}
        self.failed: list[str] = []
        self.versions: Counter[str] = Counter()

    async def work(self, caller: Client, way: str) -> None:
        """Sends requests until there were enough."""
        for number in self.numbers:
            if number >= REQUESTS:
                return
            name, failures = f"{way}-{number}", FAILURES[number % len(FAILURES)]
            self.sent[name] = failures
            try:
                version = await caller.call(request_id=name, fail_first=str(failures), x_envoy_attempt_count="9")
                self.versions[version] += 1
            except grpc.aio.AioRpcError as error:
                self.failed.append(f"{name}: {error.code().name} {error.details()}")

    async def reached(self, share: float) -> None:
        """Returns when that share of all requests was sent."""
        await until(lambda: len(self.sent) >= REQUESTS * share, within_s=180)


def counted_wrong(story: Story, backends: list[Backend]) -> list[str]:
    """Requests whose tries were not counted 1..k+1, or were not all made on one version."""
    wrong = []
    for name, failures in story.sent.items():
        seen = [served.attempts[name] for served in backends if name in served.attempts]
        if seen != [[str(attempt) for attempt in range(1, failures + 2)]]:
            wrong.append(f"{name}: {seen}")
    return wrong


async def test_every_try_is_counted_through_a_whole_shift_and_back(tmp_path: Path) -> None:
    story = Story()
    async with (
        running_mesh(tmp_path) as mesh,
        backend("v1", f"{mesh.net}.11:50051") as v1,
        backend("v2", f"{mesh.net}.12:50051") as v2,
        client(mesh.gateway, EDGE) as edge,
        client(mesh.sidecar, ECHO) as inside,
    ):
        early = [edge.stream(), inside.stream()]
        assert [await stream.read() for stream in early] == [b"v1", b"v1"]
        async with asyncio.TaskGroup() as group:
            for _ in range(WORKERS):
                group.create_task(story.work(edge, "gateway"))
                group.create_task(story.work(inside, "sidecar"))
            for step, share in enumerate(SHARES):
                await story.reached(step / len(SHARES))
                await mesh.shift(share)
                if share == 1:
                    late = edge.stream()
                    assert await late.read() == b"v2"
        assert [await stream.read() for stream in [*early, late]] == [b"v1", b"v1", b"v2"]
        assert story.failed == []
        assert counted_wrong(story, [v1, v2]) == []
        assert len(story.sent) == REQUESTS
        assert min(story.versions["v1"], story.versions["v2"]) > REQUESTS / 10
