"""What do an Envoy's counters say about each version? Pure parsing of `/stats?format=json`.

Measured on Envoy 1.40 with the `grpc_stats` filter and clusters that set `alt_stat_name: "<name>;"`:
- `grpc.<code>` counts each finished request once, by its final status, retried or not, and local replies too:
connection refused (after all retries), no endpoint at all, a crash in mid-request and the route's own timeout are all
there as 14. - `upstream_rq_retry` counts each try after the first, whatever its trigger (a status in trailers, a
refused connection); `upstream_rq_retry_limit_exceeded` counts requests that were still failing when the tries ran
out. - A request whose caller went away (cancelled, or its own deadline passed first) ends in none of these: not even
in `upstream_rq_completed`. Envoy resets its try, as it does at a timeout: `upstream_rq_tx_reset` less the timeouts
counts them. They are charged as CANCELLED (1), so that a version that hangs is not invisible. - A route to a cluster
that Envoy doesn't have is charged to no cluster. It cannot occur here: the mesh refuses such documents. - Histograms
are merged at Envoy's flush interval (1 s, see `mesh.envoy.bootstrap`): latency lags the counters by up to that.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from control.engine.readings import Counts

CANCELLED = 1
COUNTERS = "retry|retry_limit_exceeded|active|tx_reset|timeout|per_try_timeout|time"
NAME = re.compile(r"cluster\.outbound\|\d+\|(?P<version>[^|;]+)\|[^;]+;\.(?P<stat>.+)")

Totals = dict[str, int]


def stats_filter(fqdn: str, versions: Sequence[str]) -> str:
    """The regular expression that makes an Envoy answer with these versions' counters only."""
    subsets = "|".join(re.escape(version) for version in versions)
    return rf"^cluster\.outbound\|\d+\|({subsets})\|{re.escape(fqdn)};\.(grpc\.\d+|upstream_rq_({COUNTERS}))$"


def counts(answer: Mapping[str, Any], versions: Sequence[str]) -> dict[str, Counts]:
    """Each version's counts, summed over the ports of the host. A version without any counter has served nothing
    yet.
    """
    totals: dict[str, Totals] = {version: {} for version in versions}
    latency: dict[str, dict[float, int]] = {version: {} for version in versions}
    for entry in answer.get("stats", ()):
        if "histograms" in entry:
            _add_histograms(entry["histograms"], latency)
        elif (found := NAME.fullmatch(entry["name"])) and found["version"] in totals:
            of_version = totals[found["version"]]
            of_version[found["stat"]] = of_version.get(found["stat"], 0) + int(entry["value"])
    return {version: _counts(totals[version], latency[version]) for version in versions}


def _counts(totals: Totals, latency_ms: Mapping[float, int]) -> Counts:
    def rq(name: str) -> int:
        return totals.get(f"upstream_rq_{name}", 0)

    ended = {int(name.removeprefix("grpc.")): n for name, n in totals.items() if name.startswith("grpc.") and n}
    if (left := rq("tx_reset") - rq("timeout") - rq("per_try_timeout")) > 0:
        ended[CANCELLED] = ended.get(CANCELLED, 0) + left
    return Counts(
        ended=ended,
        retries=rq("retry"),
        retries_exhausted=rq("retry_limit_exceeded"),
        in_flight=rq("active"),
        latency_ms=dict(latency_ms),
    )


def _add_histograms(histograms: Any, latency: dict[str, dict[float, int]]) -> None:
    for histogram in histograms if isinstance(histograms, list) else ():
        found = NAME.fullmatch(histogram["name"])
        if found is None or found["version"] not in latency or found["stat"] != "upstream_rq_time":
            continue
        buckets = latency[found["version"]]
        for bucket in histogram.get("buckets", ()):
            edge = float(bucket["upper_bound"])
            buckets[edge] = buckets.get(edge, 0) + int(bucket["cumulative"])
