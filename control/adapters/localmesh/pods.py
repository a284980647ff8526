"""How have the tries ended that each serving process got from one Envoy? Pure parsing of `/clusters?format=json`.

An Envoy counts by host (an endpoint's address) of each cluster, the only counters that tell one process of a version
from another. Measured on Envoy 1.40 with gRPC:
- Each try counts, also one that is retried: three calls that fail on all three tries are 9 `rq_error`. - The status in
the trailers decides, not HTTP's 200: UNKNOWN, DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE and DATA_LOSS
are `rq_error`, every other status is `rq_success`. RESOURCE_EXHAUSTED, a server's fault elsewhere in Tidegate, is thus
no fault of a pod. CANCELLED that is retried is an error, its last try is not. - A refused connection and the route's
own time-out are `rq_error`. - A try whose caller leaves is in neither, or an error where Envoy's clock was first. - A
version without any endpoint has no pod; what it fails is counted by the cluster.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from control.engine.readings import PodCounts

CLUSTER = re.compile(r"outbound\|\d+\|(?P<version>[^|]+)\|(?P<fqdn>[^|;]+)")

Pod = tuple[str, str]
"""Version and address ("host:port", or the path of a unix socket)."""


def pods(answer: Mapping[str, Any], fqdn: str, versions: Sequence[str]) -> dict[Pod, PodCounts]:
    """What each endpoint of these versions has ended, summed over the ports of the host that lead to one address."""
    found: dict[Pod, PodCounts] = {}
    for cluster in answer.get("cluster_statuses", ()):
        name = CLUSTER.fullmatch(cluster["name"])
        if name is None or name["fqdn"] != fqdn or name["version"] not in versions:
            continue
        for host in cluster.get("host_statuses", ()):
            pod = name["version"], _address(host["address"])
            found[pod] = _sum(found.get(pod, PodCounts()), _counts(host.get("stats", ())))
    return found


def _counts(stats: Iterable[Mapping[str, Any]]) -> PodCounts:
    values = {stat["name"]: int(stat.get("value", 0)) for stat in stats}
    bad = values.get("rq_error", 0)
    return PodCounts(n=values.get("rq_success", 0) + bad, bad=bad)


def _sum(left: PodCounts, right: PodCounts) -> PodCounts:
    return PodCounts(left.n + right.n, left.bad + right.bad)


def _address(address: Mapping[str, Any]) -> str:
    if "pipe" in address:
        return str(address["pipe"]["path"])
    socket = address["socket_address"]
    return f"{socket['address']}:{socket['port_value']}"
