"""What an Envoy's counters say about each process of a version. The answers are Envoy 1.40's own, shortened."""

from typing import Any

import pytest

from control.adapters.localmesh.pods import Pod, pods
from control.engine.readings import PodCounts

FQDN = "echo.default.svc.cluster.local"


def cluster(version: str, *hosts: Any, port: int = 50051, fqdn: str = FQDN) -> dict[str, Any]:
    return {"name": f"outbound|{port}|{version}|{fqdn}", "host_statuses": list(hosts)}


def host(address: str, port: int = 50051, **stats: int) -> dict[str, Any]:
    place = {"socket_address": {"address": address, "port_value": port}}
    return {"address": place, "stats": [{"name": name, "value": str(value)} for name, value in stats.items()]}


@pytest.mark.parametrize(
    ("clusters", "expected"),
    [
        pytest.param([], {}, id="an Envoy without clusters"),
        pytest.param([{"name": f"outbound|50051|v1|{FQDN}"}], {}, id="a version without endpoints"),
        pytest.param(
            [cluster("v1", host("10.0.0.1", rq_success=7, rq_error=2, rq_total=11))],
            {("v1", "10.0.0.1:50051"): PodCounts(9, 2)},
            id="only tries that ended count",
        ),
        pytest.param(
            [
                cluster(
                    "v1",
                    {
                        "address": {"socket_address": {"address": "10.0.0.1", "port_value": 50051}},
                        "stats": [{"name": "rq_error"}, {"name": "rq_success"}],
                    },
                )
            ],
            {("v1", "10.0.0.1:50051"): PodCounts()},
            id="Envoy leaves out a value that is 0",
        ),
        pytest.param(
            [cluster("v1", host("10.0.0.1", rq_success=1), host("10.0.0.2", rq_error=1)), cluster("v2", host("::1"))],
            {
                ("v1", "10.0.0.1:50051"): PodCounts(1),
                ("v1", "10.0.0.2:50051"): PodCounts(1, 1),
                ("v2", "::1:50051"): PodCounts(),
            },
            id="processes and versions are kept apart",
        ),
        pytest.param(
            [cluster("v1", host("10.0.0.1", rq_success=1)), cluster("v1", host("10.0.0.1", rq_error=1), port=50052)],
            {("v1", "10.0.0.1:50051"): PodCounts(2, 1)},
            id="two ports of the service that lead to the same process",
        ),
        pytest.param(
            [cluster("v1", {"address": {"pipe": {"path": "/run/v1"}}, "stats": [{"name": "rq_error", "value": "1"}]})],
            {("v1", "/run/v1"): PodCounts(1, 1)},
            id="a unix socket",
        ),
        pytest.param(
            [
                cluster("v9", host("10.0.0.9", rq_success=1)),
                cluster("v1", host("10.0.0.1", rq_success=1), fqdn="other." + FQDN),
                cluster("", host("10.0.0.1", rq_success=1)),
                {"name": "inbound|50051||", "host_statuses": [host("10.0.0.1", rq_success=1)]},
                {"name": "ads", "host_statuses": [host("10.0.0.1", rq_success=1)]},
            ],
            {},
            id="other versions, hosts and clusters are not looked at",
        ),
    ],
)
def test_counts_of_each_process(clusters: Any, expected: dict[Pod, PodCounts]) -> None:
    assert pods({"cluster_statuses": clusters}, FQDN, ("v1", "v2")) == expected
