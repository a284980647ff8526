"""People's own metrics of three kinds, by queries to a real Prometheus that scrapes the admin pages of real Envoys."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tidegate.mesh.v1 import mesh_pb2

from control.adapters.prometheus.metrics import PrometheusMetrics
from control.engine.readings import Reading
from control.ports import MetricsQuery
from control.spec import GaugeQuery, HistogramQuery, RatioQuery, Unit, UserMetric
from control.spec.metric import Query
from tests.support.backend import backend, client
from tests.support.mesh_running import ECHO, RunningMesh, running_mesh
from tests.support.mesh_wait import until
from tests.support.prometheus_reading import Learner, adapter
from tests.support.prometheus_server import Target, prometheus

pytestmark = [pytest.mark.envoy, pytest.mark.prometheus]

CLUSTER = 'envoy_cluster_name="outbound|50051|{{ version }}|{{ host }}"'
RETRIED = RatioQuery(
    bad=f"envoy_cluster_upstream_rq_retry{{{CLUSTER}}}", total=f"envoy_cluster_upstream_rq_completed{{{CLUSTER}}}"
)
TWICE = RatioQuery(bad=f"{RETRIED.bad} + {RETRIED.bad}", total=f"{RETRIED.total} + {RETRIED.total}")
SLOW = HistogramQuery(f"envoy_cluster_upstream_rq_time_bucket{{{CLUSTER}}}", unit=Unit.MS)
MEMBERS = GaugeQuery(f"max(envoy_cluster_membership_healthy{{{CLUSTER}}})", low=1)

QUERY = MetricsQuery("default", "echo", ("v1", "v2"))
TROUBLES: Mapping[str, tuple[Query, str]] = {
    "edges": (
        replace(RETRIED, bad=f"envoy_cluster_upstream_rq_time_bucket{{{CLUSTER}}}"),
        "several series where one was promised; they differ in le",
    ),
    "refused": (
        replace(RETRIED, bad=f"label_replace({RETRIED.bad}, 'a', '$1', 'b', '(')"),
        "Prometheus refuses the query: ",
    ),
    "nothing-by-nothing": (GaugeQuery("vector(0) / vector(0)"), "the query gives NaN"),
    "each-proxy": (
        GaugeQuery(f"envoy_cluster_membership_healthy{{{CLUSTER}}}"),
        "several series where one was promised; they differ in instance",
    ),
}  # fmt: skip


def own(**queries: Query) -> MetricsQuery:
    return replace(QUERY, metrics=tuple(UserMetric(name.replace("_", "-"), query) for name, query in queries.items()))


async def test_three_kinds_count_what_the_envoys_counted(tmp_path: Path) -> None:
    query = own(retried=RETRIED, twice=TWICE, slow=SLOW, members=MEMBERS)
    async with (
        running_mesh(tmp_path) as mesh,
        backend("v1", f"{mesh.net}.11:50051"),
        backend("v2", f"{mesh.net}.12:50051"),
    ):
        await mesh.shift(Fraction(1, 2))
        async with prometheus(tmp_path / "p", await targets(mesh)) as server, adapter(server) as metrics:
            learner = Learner()
            await complete(metrics, query, learner)
            sent = await send(mesh)
            found = await until(lambda: counted(metrics, query, learner, sent), within_s=90, what="all are counted")
    assert found.gauges == {"members": {"v1": 1.0, "v2": 1.0}}
    assert found.troubles == {}
    for version, n in sent.items():
        retries = [ratio.bad for key, ratio in found.ratios["retried"].items() if key.version == version]
        assert (sum(retries), len(retries)) == (n, 2), "each request was tried twice; two proxies count"


async def test_what_a_query_did_not_promise_is_said_of_that_metric_alone(tmp_path: Path) -> None:
    query = own(**{name: each for name, (each, _) in TROUBLES.items()}, retried=RETRIED)
    async with (
        running_mesh(tmp_path) as mesh,
        backend("v1", f"{mesh.net}.11:50051"),
        backend("v2", f"{mesh.net}.12:50051"),
    ):
        await mesh.shift(Fraction(1, 2))
        await send(mesh)
        async with prometheus(tmp_path / "p", await targets(mesh)) as server, adapter(server) as metrics:
            found = await until(lambda: told(metrics, query), within_s=90, what="all troubles are told")
    assert set(found.troubles) == set(TROUBLES)


async def targets(mesh: RunningMesh) -> list[Target]:
    """The admin pages of the gateway and of the caller's sidecar."""
    answer = await mesh.stub.ListProxies(mesh_pb2.ListProxiesRequest(), metadata=mesh.metadata)
    return [Target(each.admin, "/stats/prometheus") for each in answer.proxies]


async def send(mesh: RunningMesh) -> dict[str, int]:
    """Requests by both entrances that are tried twice each; how many each version answered."""
    sent = dict.fromkeys(QUERY.versions, 0)
    for entrance, authority in ((mesh.gateway, "echo.example.com"), (mesh.sidecar, ECHO)):
        async with client(entrance, authority) as caller:
            for _ in range(20):
                sent[await caller.call(fail_first="1")] += 1
    return sent


async def complete(metrics: PrometheusMetrics, query: MetricsQuery, learner: Learner) -> None:
    """The first reading of both proxies."""

    async def both() -> bool:
        found = await metrics.read(query)
        if len(found.ratios.get("retried", {})) < 4:
            return False
        learner.learn(found)
        return True

    await until(both, within_s=90, what="both proxies are scraped")


async def counted(
    metrics: PrometheusMetrics, query: MetricsQuery, learner: Learner, sent: Mapping[str, int]
) -> Reading | None:
    found = await metrics.read(replace(query, since=learner.cursor.at))
    totals = dict.fromkeys(sent, 0)
    for key, ratio in found.ratios["retried"].items():
        totals[key.version] += ratio.n
    for key, ratio in found.ratios.get("twice", {}).items():
        totals[key.version] += ratio.n
    slow = dict.fromkeys(sent, 0)
    for key, buckets in found.histograms["slow"].items():
        slow[key.version] += max(buckets.values())
    return found if slow == sent and totals == {version: 3 * n for version, n in sent.items()} else None


async def told(metrics: PrometheusMetrics, query: MetricsQuery) -> Reading | None:
    found = await metrics.read(query)
    whole = all(said in found.troubles.get(name, "") for name, (_, said) in TROUBLES.items())
    return found if whole and found.ratios.get("retried") else None
