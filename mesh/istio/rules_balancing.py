"""Which blocks of a traffic policy would istiod's webhook refuse? Pools, load balancers, outlier detection."""

from collections.abc import Iterator, Mapping
from typing import Any

from mesh.istio.finding import Finding, duplicates

Data = Mapping[str, Any]
Path = tuple[str | int, ...]
_KEYS = ("httpHeaderName", "httpCookie", "useSourceIp", "httpQueryParameterName")
_TOPOLOGY = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone", "topology.istio.io/subzone")


def pool(data: Data | None, path: Path) -> Iterator[Finding]:
    """Limits of connections."""
    if data is None:
        return
    if not data.keys() & {"tcp", "http"}:
        yield Finding(path, "a connection pool needs tcp or http")
    http = data.get("http", {})
    if http.get("useClientProtocol") and http.get("h2UpgradePolicy") == "UPGRADE":
        yield Finding((*path, "http", "useClientProtocol"), "the client's protocol is not kept where HTTP/2 is forced")


def balancer(data: Data, path: Path) -> Iterator[Finding]:
    """How an endpoint is drawn."""
    warm = data.keys() & {"warmup", "warmupDurationSecs"}
    if len(warm) > 1:
        yield Finding((*path, "warmupDurationSecs"), "warmup and warmupDurationSecs say the same: keep warmup")
    if data.get("simple") == "RANDOM" and warm:
        yield Finding(path, "endpoints warm up with ROUND_ROBIN and LEAST_REQUEST only")
    if {"simple", "consistentHash"} <= data.keys():
        yield Finding((*path, "consistentHash"), "a load balancer has either simple or consistentHash")
    yield from _hash(data.get("consistentHash", {}), (*path, "consistentHash"))
    yield from _locality(data.get("localityLbSetting", {}), (*path, "localityLbSetting"))


def _hash(data: Data, path: Path) -> Iterator[Finding]:
    if len([key for key in _KEYS if key in data]) > 1:
        yield Finding(path, f"one key is hashed, not several of {', '.join(_KEYS)}")
    if len([name for name in ("ringHash", "maglev", "minimumRingSize") if data.get(name) is not None]) > 1:
        yield Finding(path, "only one of ringHash, maglev and minimumRingSize")
    for index, name in duplicates(each["name"] for each in data.get("httpCookie", {}).get("attributes", ())):
        yield Finding((*path, "httpCookie", "attributes", index), f"there is an attribute {name!r} already")


def _locality(data: Data, path: Path) -> Iterator[Finding]:
    if data.get("distribute") and data.get("failover"):
        yield Finding((*path, "failover"), "either distribute or failover")
    if data.get("failover") and set(_TOPOLOGY) & set(data.get("failoverPriority", ())):
        yield Finding((*path, "failoverPriority"), "failover ranks regions, zones and subzones already")
    for index, each in enumerate(data.get("distribute", ())):
        shares = each.get("to", {}).values()
        if not all(shares) or sum(shares) != 100:
            yield Finding((*path, "distribute", index, "to"), "shares are from 1 to 100 and sum to 100")
    for index, each in enumerate(data.get("failover", ())):
        regions = (each["from"], each["to"])
        if regions[0] == regions[1] or any("/" in region or "*" in region for region in regions):
            yield Finding((*path, "failover", index), "failover is from one region to another")


def outlier(data: Data, path: Path) -> Iterator[Finding]:
    """When an endpoint is left alone."""
    if data.get("consecutiveLocalOriginFailures") and not data.get("splitExternalLocalOriginErrors"):
        where = (*path, "consecutiveLocalOriginFailures")
        yield Finding(where, "local failures are counted apart only with splitExternalLocalOriginErrors")
