"""Readings from Envoys: which requests are counted, once and only once, and which Envoys could not be read."""

import asyncio
from pathlib import Path

import grpc
import pytest

from control.adapters.localmesh.metrics import LocalMetrics
from control.engine.readings import Counts, PodCounts, Reading, SeriesKey
from control.errors import Unavailable
from control.ports import MetricsQuery
from tests.support.control_envoy import envoy
from tests.support.control_mesh import ScriptedMesh, proxy, serving
from tests.support.control_time import NOON, StillClock
from tests.support.mesh_wait import until

QUERY = MetricsQuery("default", "echo", ("v1", "refused", "empty"))
UNAVAILABLE, DEADLINE, INTERNAL, NOT_FOUND = 14, 4, 13, 5

# path, the version charged, what three such requests add, and what they add to the one process of the version
CASES = [
    ("/v1/OK", "v1", Counts(ended={0: 3}), PodCounts(3)),
    ("/v1/UNAVAILABLE_ONCE", "v1", Counts(ended={0: 3}, retries=3), PodCounts(6, 3)),
    ("/v1/UNAVAILABLE", "v1", Counts(ended={UNAVAILABLE: 3}, retries=6, retries_exhausted=3), PodCounts(9, 9)),
    ("/v1/UNAVAILABLE_AFTER", "v1", Counts(ended={UNAVAILABLE: 3}), PodCounts(3, 3)),
    ("/v1/INTERNAL", "v1", Counts(ended={INTERNAL: 3}), PodCounts(3, 3)),
    ("/v1/INTERNAL_AFTER", "v1", Counts(ended={INTERNAL: 3}), PodCounts(3, 3)),
    ("/v1/UNKNOWN", "v1", Counts(ended={2: 3}), PodCounts(3, 3)),
    ("/v1/DEADLINE_EXCEEDED", "v1", Counts(ended={DEADLINE: 3}), PodCounts(3, 3)),
    ("/v1/UNIMPLEMENTED", "v1", Counts(ended={12: 3}), PodCounts(3, 3)),
    ("/v1/DATA_LOSS", "v1", Counts(ended={15: 3}), PodCounts(3, 3)),
    ("/v1/RESOURCE_EXHAUSTED", "v1", Counts(ended={8: 3}), PodCounts(3)),
    ("/v1/NOT_FOUND", "v1", Counts(ended={NOT_FOUND: 3}), PodCounts(3)),
    ("/short/HANG", "v1", Counts(ended={UNAVAILABLE: 3}), PodCounts(3, 3)),
    ("/refused/OK", "refused", Counts(ended={UNAVAILABLE: 3}, retries=6, retries_exhausted=3), PodCounts(9, 9)),
    ("/empty/OK", "empty", Counts(ended={UNAVAILABLE: 3}), PodCounts()),
]


@pytest.mark.envoy
async def test_every_request_is_counted_once_however_it_ends(tmp_path: Path) -> None:
    async with envoy(tmp_path) as (listener, admin), serving(ScriptedMesh(proxies=[proxy("gw", admin)])) as mesh:
        metrics = LocalMetrics(mesh, StillClock())
        wrong = []
        before = await _read(metrics)
        for path, version, expected, by_pod in CASES:
            await _three_calls(listener, path, None)
            after = await _read(metrics)
            added = _difference(_counts(after, version), _counts(before, version))
            to_pod = _pod_difference(_pod_counts(after, version), _pod_counts(before, version))
            if (added, to_pod) != (expected, by_pod):
                wrong.append((path, added, to_pod))
            before = after
        await metrics.close()
    assert wrong == []


@pytest.mark.envoy
async def test_callers_who_leave_are_charged_as_cancelled_or_as_the_timeout_that_they_asked_for(tmp_path: Path) -> None:
    async with envoy(tmp_path) as (listener, admin), serving(ScriptedMesh(proxies=[proxy("gw", admin)])) as mesh:
        metrics = LocalMetrics(mesh, StillClock())
        await _three_calls(listener, "/v1/HANG", 0.2)
        found = await until(lambda: _all_ended(metrics))
        await metrics.close()
    assert found.n == 3
    assert set(found.ended) <= {1, DEADLINE, UNAVAILABLE}


async def _all_ended(metrics: LocalMetrics) -> Counts | None:
    found = _counts(await _read(metrics), "v1")
    return found if found.n == 3 and not found.in_flight else None


async def _read(metrics: LocalMetrics) -> Reading:
    reading = await metrics.read(QUERY)
    assert reading.unread == ()
    assert reading.at == NOON
    return reading


def _counts(reading: Reading, version: str) -> Counts:
    (found,) = (counts for key, counts in reading.series.items() if key.version == version)
    return found


def _pod_counts(reading: Reading, version: str) -> PodCounts:
    """Of the version's one process; a version without any has none."""
    found = [counts for key, counts in reading.pods.items() if key.version == version]
    assert len(found) == (0 if version == "empty" else 1)
    return found[0] if found else PodCounts()


def _pod_difference(after: PodCounts, before: PodCounts) -> PodCounts:
    return PodCounts(after.n - before.n, after.bad - before.bad)


async def _three_calls(listener: str, path: str, timeout_s: float | None) -> None:
    async with grpc.aio.insecure_channel(listener) as channel:
        call = channel.unary_unary(path)
        calls = [asyncio.ensure_future(call(b"", timeout=timeout_s)) for _ in range(3)]
        await asyncio.gather(*calls, return_exceptions=True)


def _difference(after: Counts, before: Counts) -> Counts:
    codes = {code: n - before.ended.get(code, 0) for code, n in after.ended.items()}
    return Counts(
        ended={code: n for code, n in codes.items() if n},
        retries=after.retries - before.retries,
        retries_exhausted=after.retries_exhausted - before.retries_exhausted,
        in_flight=after.in_flight,
    )


async def test_an_envoy_that_does_not_answer_is_named_not_zero() -> None:
    async with serving(ScriptedMesh(proxies=[proxy("gateway.default", "127.0.0.1:1")])) as mesh:
        metrics = LocalMetrics(mesh, StillClock())
        reading = await metrics.read(QUERY)
        await metrics.close()
    assert (dict(reading.series), reading.unread) == ({}, ("gateway.default",))


@pytest.mark.parametrize("status", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED])
async def test_a_mesh_that_does_not_answer_is_unavailable(status: grpc.StatusCode) -> None:
    async with serving(ScriptedMesh(fails=status)) as mesh:
        metrics = LocalMetrics(mesh, StillClock())
        with pytest.raises(Unavailable):
            await metrics.read(QUERY)


async def test_a_mesh_in_which_nobody_holds_a_route_says_nothing() -> None:
    async with serving(ScriptedMesh()) as mesh:
        with pytest.raises(Unavailable, match="no proxy"):
            await LocalMetrics(mesh, StillClock()).read(QUERY)


@pytest.mark.envoy
async def test_an_envoy_that_is_replaced_while_it_is_read_is_unread(tmp_path: Path) -> None:
    async with envoy(tmp_path) as (_, admin), serving(mesh := ScriptedMesh(proxies=[proxy("gw", admin)])) as channel:
        metrics = LocalMetrics(channel, _ReplacingClock(mesh, admin))
        first = await metrics.read(QUERY)
        second = await metrics.read(QUERY)
        await metrics.close()
    assert (dict(first.series), first.unread) == ({}, ("gw",))
    assert set(second.series) == {SeriesKey(version, "gw#2", "gw") for version in QUERY.versions}
    assert first.pods == {}
    assert {key.counter for key in second.pods} == {"gw#2"}, "another counter of the same process, not a lower one"


class _ReplacingClock(StillClock):
    """Between the reading and its second look at the proxies, the proxy is replaced: once."""

    def __init__(self, mesh: ScriptedMesh, admin: str) -> None:
        super().__init__()
        self._mesh, self._admin = mesh, admin

    def now(self):  # type: ignore[no-untyped-def]
        self._mesh.proxies = [proxy("gw", self._admin, incarnation=2)]
        return super().now()
