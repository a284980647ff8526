"""The whole adapter on a server that answers as it is told: how much is asked, and what is made of the answers."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from control.adapters.prometheus.access import Access
from control.adapters.prometheus.history import PrometheusHistory
from control.adapters.prometheus.metrics import PrometheusMetrics
from control.adapters.prometheus.server import PrometheusServer
from control.engine.readings import Counts, Ratio, SeriesKey
from control.errors import Unavailable
from control.ports import MetricsQuery
from control.spec import GaugeQuery, HistogramQuery, RatioQuery, Source, Unit, UserMetric
from control.spec.metric import Query
from tests.support.control_time import NOON, StillClock
from tests.support.prometheus_scripted import ScriptedPrometheus, scripted

INTERVAL = timedelta(seconds=15)
QUERY = MetricsQuery("default", "echo", ("v1", "v2"), source=Source.PROMETHEUS)


def seconds(moment: datetime, *, ago: float = 0) -> float:
    return moment.timestamp() - ago


def matrix(*series: tuple[Mapping[str, str], list[tuple[float, float]]]) -> dict[str, Any]:
    """An answer: labels, and samples as (seconds ago, value)."""
    result = [
        {"metric": dict(labels), "values": [[seconds(NOON, ago=ago), str(value)] for ago, value in samples]}
        for labels, samples in series
    ]
    return {"status": "success", "data": {"resultType": "matrix", "result": result}}


def request(service: str = "echo", version: str = "v1", code: int = 0, **labels: str) -> dict[str, str]:
    return {
        "reporter": "source",
        "source_workload": "gw",
        "pod": "gw-0",
        "instance": "10.0.0.1:15020",
        "destination_service": f"{service}.default.svc.cluster.local",
        "destination_version": version,
        "grpc_response_status": str(code),
        **labels,
    }


@asynccontextmanager
async def reading(server: ScriptedPrometheus, clock: StillClock | None = None) -> AsyncIterator[PrometheusMetrics]:
    async with scripted(server) as url:
        metrics = PrometheusMetrics(PrometheusServer(Access(url)), clock or StillClock(), interval=INTERVAL)
        try:
            yield metrics
        finally:
            await metrics.close()


async def test_fifty_shifts_cost_three_requests() -> None:
    samples: list[Any] = [(request(f"shop-{n}"), [(3, n)]) for n in range(50)]
    server = ScriptedPrometheus(bodies={"istio_requests_total": matrix(*samples)})
    clock = StillClock()
    async with reading(server, clock) as metrics:
        queries = [replace(QUERY, host=f"shop-{n}") for n in range(50)]
        found = await asyncio.gather(*(metrics.read(query) for query in queries))
        assert len(server.queries) == 3
        assert [[each.n for each in one.series.values()] for one in found] == [[n] for n in range(50)]
        for query in queries:  # workers that look one after the other
            await metrics.read(query)
        assert len(server.queries) == 3, "within a moment, nothing is asked twice"
        clock.move(timedelta(seconds=5))
        for query in queries:
            await metrics.read(query)
        assert len(server.queries) == 6, "later all are asked for together, whoever comes first"
    assert all(f"shop-{n}\\\\." in server.queries[-1] for n in range(50))


async def test_a_reading_is_as_old_as_its_newest_scrape() -> None:
    server = ScriptedPrometheus(bodies={"istio_requests_total": matrix((request(), [(18, 5), (3, 9)]))})
    async with reading(server) as metrics:
        found = await metrics.read(replace(QUERY, since=NOON - timedelta(seconds=18)))
    assert (found.at, found.earlier) == (NOON - timedelta(seconds=3), ())
    assert found.series == {SeriesKey("v1", "gw-0", "gw"): Counts(ended={0: 9}, in_flight=None)}


@pytest.mark.parametrize(
    ("gap_s", "window_ms"),
    [(None, 75_000), (20, 75_000), (60, 75_000), (61, 150_000), (300, 600_000), (86_400, 4_800_000)],
    ids=["at first", "a poll", "four scrapes", "a short absence", "minutes", "a day: the last hour"],
)
async def test_a_query_reaches_back_as_far_as_we_were_away(gap_s: float | None, window_ms: int) -> None:
    server = ScriptedPrometheus()
    async with reading(server) as metrics:
        await metrics.read(replace(QUERY, since=None if gap_s is None else NOON - timedelta(seconds=gap_s)))
    assert all(query.endswith(f"[{window_ms}ms]") for query in server.queries)


async def test_nothing_about_the_service_is_no_data() -> None:
    async with reading(ScriptedPrometheus()) as metrics:
        found = await metrics.read(replace(QUERY, since=NOON - timedelta(seconds=20)))
    assert (found.at, found.series, found.unread) == (NOON - timedelta(seconds=20), {}, ())


async def test_a_caller_that_is_not_scraped_is_unread_and_keeps_its_counts() -> None:
    other = request(pod="gw-1", instance="10.0.0.2:15020")
    server = ScriptedPrometheus(
        bodies={
            "istio_requests_total": matrix((request(), [(50, 5)]), (other, [(3, 7)])),
            "up{": matrix(({"instance": "10.0.0.1:15020"}, [(3, 0)])),
        }
    )
    async with reading(server) as metrics:
        found = await metrics.read(QUERY)
    assert found.unread == ("gw-0",)
    assert {key.process: each.n for key, each in found.series.items()} == {"gw-0": 5, "gw-1": 7}
    assert server.queries[-1].startswith('up{instance=~"10\\\\.0\\\\.0\\\\.1:15020"}')


@pytest.mark.parametrize("up", [matrix(({"instance": "10.0.0.1:15020"}, [(50, 1)])), matrix()], ids=["known", "gone"])
async def test_when_no_caller_is_scraped_that_is_blindness(up: Any) -> None:
    server = ScriptedPrometheus(bodies={"istio_requests_total": matrix((request(), [(50, 5)])), "up{": up})
    async with reading(server) as metrics:
        with pytest.raises(Unavailable) as caught:
            await metrics.read(QUERY)
    assert caught.value.message == "Prometheus has scraped no caller of echo.default.svc.cluster.local for 50 s"
    assert "TIDEGATE_PROMETHEUS_SCRAPE_S" in caught.value.hint


async def test_retries_stay_counted_by_the_proxies_once_they_were() -> None:
    failed = request(code=14, reporter="destination", pod="echo-0", instance="10.0.0.9:15020")
    retried = {"cluster_name": "outbound|80|v1|echo.default.svc.cluster.local", "pod": "gw-0"}
    clock = StillClock()
    server = ScriptedPrometheus(bodies={"istio_requests_total": matrix((request(), [(3, 5)]), (failed, [(4, 2)]))})
    async with reading(server, clock) as metrics:
        retries = []
        for retry in (matrix(), matrix((retried, [(3, 4)])), matrix()):
            server.bodies["envoy_cluster_upstream_rq_retry"] = retry
            found = await metrics.read(QUERY)
            retries.append({key.process: each.retries for key, each in found.series.items() if each.retries})
            clock.move(timedelta(seconds=2))
    assert retries == [{"echo-0": 2}, {"gw-0": 4}, {}], "failed tries don't stand in for them any more"


async def test_failed_tries_come_together_with_the_requests_that_they_belong_to() -> None:
    pod = request(code=14, reporter="destination", pod="echo-0", instance="10.0.0.9:15020")
    server = ScriptedPrometheus(
        bodies={"istio_requests_total": matrix((request(), [(18, 5), (3, 9)]), (pod, [(20, 2), (5, 4)]))}
    )
    query = replace(QUERY, since=NOON - timedelta(seconds=18))
    async with reading(server) as metrics:
        both = await metrics.read(query)
    server.bodies["istio_requests_total"] = matrix((request(), [(18, 5), (3, 9)]), (pod, [(20, 2)]))
    async with reading(server) as metrics:
        waits = await metrics.read(query)
    server.bodies["envoy_cluster_upstream_rq_retry"] = matrix(
        ({"cluster_name": "outbound|80|v1|echo.default.svc.cluster.local", "pod": "gw-0"}, [(18, 0), (3, 1)])
    )
    async with reading(server) as metrics:
        by_envoy = await metrics.read(query)
    ages = [(NOON - each.at).total_seconds() for each in (both, waits, by_envoy)]
    assert ages == [3, 18, 3], "only what different processes count must come together"


async def test_a_refused_query_of_ours_is_told_with_the_query() -> None:
    body = {"status": "error", "errorType": "bad_data", "error": "unknown unit"}
    async with reading(ScriptedPrometheus(400, body)) as metrics:
        with pytest.raises(Unavailable, match="refuses a query: unknown unit") as caught:
            await metrics.read(QUERY)
    assert "istio_requests_total{" in caught.value.hint


MISSES = UserMetric("misses", RatioQuery('miss{v="{{ version }}"}', 'all{v="{{ version }}"}', by=("route",)))
FIRST = UserMetric("first", HistogramQuery('first_bucket{v="{{ version }}"}', unit=Unit.S))
DEPTH = UserMetric("depth", GaugeQuery('depth{v="{{ version }}"}', high=5))
OWN = replace(QUERY, source=Source.MESH, metrics=(MISSES, FIRST, DEPTH))


def own(version: str, instance: str = "a:1", **labels: str) -> dict[str, str]:
    return {"instance": instance, "v": version, **labels}


def scripted_own() -> ScriptedPrometheus:
    gauge = {"status": "success", "data": {"resultType": "vector", "result": [{"metric": {}, "value": [1, "3.5"]}]}}
    return ScriptedPrometheus(
        bodies={
            'miss{v="v1"}': matrix((own("v1", route="/a"), [(3, 2)])),
            'all{v="v1"}': matrix((own("v1", route="/a"), [(3, 10)]), (own("v1", "b:1", route="/a"), [(4, 5)])),
            'first_bucket{v="v2"}': matrix(
                (own("v2", le="0.25"), [(3, 6)]), (own("v2", le="+Inf"), [(3, 8)]),
            ),
            'depth{v="v1"}': gauge,
        }
    )  # fmt: skip


async def test_metrics_of_ones_own() -> None:
    async with reading(scripted_own()) as metrics:
        found = await metrics.read(OWN)
    a, b = (SeriesKey("v1", each, "route=/a") for each in ("a:1", "b:1"))
    assert found.ratios == {"misses": {a: Ratio(10, 2), b: Ratio(5, 0)}}
    assert found.histograms == {"first": {SeriesKey("v2", "a:1", ""): {250.0: 6, float("inf"): 8}}}
    assert found.gauges == {"depth": {"v1": 3.5}}
    assert (found.series, found.troubles) == ({}, {})


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        (
            RatioQuery('x{v="{{ version }}",n="{{ namespace }}",h="{{ host }}",s="{{ service }}"}', "all"),
            ['x{v="v1",n="default",h="echo.default.svc.cluster.local",s="echo"}[75000ms]', "all[75000ms]"],
        ),
        (
            RatioQuery('a{v="{{ version }}"} + b', "all"),
            ['(a{v="v2"} + b)[75000ms:15000ms]', "(all)[75000ms:15000ms]"],
        ),
        (GaugeQuery('rate(x{v="{{ version }}"}[{{ interval }}])'), ['rate(x{v="v1"}[75000ms])']),
    ],
    ids=["selectors bring samples", "a sum is looked at once a scrape", "a rate over five scrapes"],
)
async def test_what_is_sent(query: Query, sent: list[str]) -> None:
    server = ScriptedPrometheus()
    async with reading(server) as metrics:
        await metrics.read(replace(OWN, metrics=(UserMetric("mine", query),)))
    assert set(sent) <= set(server.queries)


REFUSAL = {"status": "error", "errorType": "execution", "error": "invalid regular expression"}
TWO = matrix((own("v1", route="/a", method="GET"), [(3, 1)]), (own("v1", route="/a", method="PUT"), [(3, 1)]))
OLD = {"miss": matrix(), 'all{v="v1"}': matrix((own("v1"), [(50, 1)]))}
TROUBLES = [
    ("several series", MISSES, {'all{v="v1"}': TWO}, "they differ in method ('GET', 'PUT')"),
    ("NaN", DEPTH, {'depth{v="v1"}': matrix((own("v1"), [(0, float("nan"))]))}, "gives NaN"),
    ("refused", MISSES, {"miss": REFUSAL}, "Prometheus refuses the query: invalid regular expression"),
    ("no PromQL", replace(MISSES, query=RatioQuery("a +", "b")), {}, "the query can't be sent"),
    ("a variable that is none", replace(DEPTH, query=GaugeQuery('x{a="{{ vers }}"}')), {}, "the query can't be sent"),
    ("its target is down", MISSES, {**OLD, "up{": matrix(({"instance": "a:1"}, [(3, 0)]))}, "not scraped: a:1"),
    ("its targets are gone", MISSES, {**OLD, "up{": matrix()}, "no process that counts it was scraped lately"),
]


@pytest.mark.parametrize(
    ("metric", "bodies", "said"), [each[1:] for each in TROUBLES], ids=[each[0] for each in TROUBLES]
)
async def test_a_trouble_is_of_one_metric_alone(metric: UserMetric, bodies: dict[str, Any], said: str) -> None:
    server = scripted_own()
    server.bodies = {**bodies, **{name: each for name, each in server.bodies.items() if name not in bodies}}
    async with reading(server) as metrics:
        found = await metrics.read(replace(OWN, metrics=(metric, FIRST)))
    assert list(found.troubles) == [metric.name]
    assert said in found.troubles[metric.name]
    assert "first" in found.histograms


async def test_a_dead_prometheus_is_a_trouble_of_every_metric_of_ones_own() -> None:
    metrics = PrometheusMetrics(PrometheusServer(Access("http://127.0.0.1:1")), StillClock(), interval=INTERVAL)
    found = await metrics.read(OWN)
    await metrics.close()
    assert set(found.troubles) == {"misses", "first", "depth"}
    assert all("could not be asked" in why for why in found.troubles.values())


async def test_a_window_of_the_past_is_read_in_stretches() -> None:
    hour = timedelta(hours=1)
    server = ScriptedPrometheus(
        bodies={
            "istio_requests_total": matrix((request(), [(7210, 5), (5400, 9), (3605, 12), (1800, 2)])),
            "miss{": matrix((own("v1", route="/a"), [(7210, 1), (1800, 4)])),
            "all{": REFUSAL,
        }
    )
    async with scripted(server) as url:
        prometheus = PrometheusServer(Access(url))
        history = PrometheusHistory(prometheus, interval=INTERVAL)
        found = await history.window(replace(QUERY, metrics=(MISSES, DEPTH)), NOON - 2 * hour, NOON)
        with pytest.raises(Unavailable, match="no requests of other"):
            await history.window(replace(QUERY, host="other"), NOON - hour, NOON)
        with pytest.raises(Unavailable, match="can't be read"):
            await history.window(QUERY, NOON, NOON)
        await prometheus.close()
    assert found.series == {SeriesKey("v1", "gw-0", "gw"): Counts(ended={0: 4 + 3 + 2}, in_flight=None)}
    assert set(found.troubles) == {"misses"}
    asked = [form["time"] for form in server.forms if form["query"].startswith("istio_requests_total")]
    assert asked == [f"{seconds(NOON, ago=ago):.3f}" for ago in (3600, 0, 0)]
