"""What an Envoy's counters say about each version. The answers below are Envoy 1.40's own, shortened."""

import re
from typing import Any

import pytest

from control.adapters.localmesh.stats import counts, stats_filter
from control.engine.readings import Counts

FQDN = "echo.default.svc.cluster.local"


def name(version: str, stat: str, port: int = 50051) -> str:
    return f"cluster.outbound|{port}|{version}|{FQDN};.{stat}"


def answer(*pairs: tuple[str, int]) -> dict[str, Any]:
    return {"stats": [{"name": each, "value": value} for each, value in pairs]}


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        pytest.param([], Counts(), id="nothing counted yet is zero: the Envoy was read"),
        pytest.param(
            [(name("v1", "grpc.0"), 8), (name("v1", "grpc.13"), 6), (name("v1", "upstream_rq_active"), 2)],
            Counts(ended={0: 8, 13: 6}, in_flight=2),
            id="final statuses and requests under way",
        ),
        pytest.param(
            [
                (name("v1", "grpc.14"), 3),
                (name("v1", "upstream_rq_retry"), 6),
                (name("v1", "upstream_rq_retry_limit_exceeded"), 3),
            ],
            Counts(ended={14: 3}, retries=6, retries_exhausted=3),
            id="three requests, refused on all three tries",
        ),
        pytest.param(
            [
                (name("v1", "grpc.14"), 1),
                (name("v1", "upstream_rq_tx_reset"), 3),
                (name("v1", "upstream_rq_timeout"), 1),
            ],
            Counts(ended={14: 1, 1: 2}),
            id="one timeout of the route, two callers who left",
        ),
        pytest.param(
            [(name("v1", "upstream_rq_tx_reset"), 2), (name("v1", "upstream_rq_per_try_timeout"), 3)],
            Counts(),
            id="timeouts of tries are no callers who left",
        ),
        pytest.param(
            [(name("v1", "grpc.0"), 8), (name("v1", "grpc.0", 50052), 2)], Counts(ended={0: 10}), id="two ports"
        ),
        pytest.param([(name("v9", "grpc.0"), 8)], Counts(), id="a version that was not asked for"),
        pytest.param([("cluster.inbound|50051||;.grpc.0", 8)], Counts(), id="an inbound cluster"),
    ],
)
def test_counts_of_a_version(pairs: list[tuple[str, int]], expected: Counts) -> None:
    assert counts(answer(*pairs), ["v1"])["v1"] == expected


def test_versions_are_kept_apart() -> None:
    found = counts(answer((name("v1", "grpc.0"), 90), (name("v2", "grpc.0"), 10)), ["v1", "v2"])
    assert {version: each.n for version, each in found.items()} == {"v1": 90, "v2": 10}


def test_latency_is_cumulative_and_only_of_the_whole_cluster() -> None:
    buckets = [
        {"upper_bound": 0.5, "interval": 1, "cumulative": 6},
        {"upper_bound": 1e3, "interval": 2, "cumulative": 20},
    ]
    histograms = [
        {"name": name("v1", "external.upstream_rq_time"), "buckets": buckets},
        {"name": name("v1", "upstream_rq_time"), "buckets": buckets},
        {"name": name("v9", "upstream_rq_time"), "buckets": buckets},
    ]
    found = counts({"stats": [{"histograms": histograms}]}, ["v1"])
    assert found["v1"].latency_ms == {0.5: 6, 1000.0: 20}


def test_an_envoy_without_any_histogram_yet() -> None:
    assert counts({"stats": [{"histograms": {"supported_quantiles": []}}]}, ["v1"])["v1"].latency_ms == {}


@pytest.mark.parametrize(
    ("stat", "wanted"),
    [
        pytest.param(name("v1", "grpc.14"), True, id="a status"),
        pytest.param(name("v2", "upstream_rq_retry"), True, id="retries"),
        pytest.param(name("v1", "upstream_rq_time"), True, id="latency"),
        pytest.param(name("v1", "grpc.total"), False, id="a sum"),
        pytest.param(name("v1", "external.upstream_rq_time"), False, id="a copy"),
        pytest.param(name("v1x", "grpc.0"), False, id="a longer version"),
        pytest.param(name("", "grpc.0"), False, id="the whole host"),
        pytest.param(name("v1", "grpc.0").replace("echo", "echo2"), False, id="another host"),
        pytest.param(name("v1", "grpc.0").replace("echo.", "echoX"), False, id="a dot is a dot"),
    ],
)
def test_only_what_is_needed_is_asked_for(stat: str, wanted: bool) -> None:
    assert (re.search(stats_filter(FQDN, ["v1", "v2"]), stat) is not None) is wanted
