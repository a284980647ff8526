"""Which DestinationRules would istiod's webhook refuse?"""

from collections.abc import Iterator, Mapping
from typing import Any

from mesh.istio.finding import Finding, duplicates, is_host, is_label

Data = Mapping[str, Any]
Path = tuple[str | int, ...]


def _host(spec: Data) -> Iterator[Finding]:
    if not is_host(spec["host"]):
        yield Finding(("spec", "host"), f"{spec['host']!r} is not a host name")


def _subsets(spec: Data) -> Iterator[Finding]:
    names = [subset["name"] for subset in spec.get("subsets", ())]
    for index, name in enumerate(names):
        if not is_label(name):
            yield Finding(("spec", "subsets", index, "name"), f"{name!r} is not a DNS label")
    for index, name in duplicates(names):
        yield Finding(("spec", "subsets", index, "name"), f"there is a subset {name!r} already")


def _policies(spec: Data) -> Iterator[Finding]:
    yield from _policy(spec, ("spec",))
    for index, subset in enumerate(spec.get("subsets", ())):
        yield from _policy(subset, ("spec", "subsets", index))


def _policy(owner: Data, path: Path) -> Iterator[Finding]:
    policy, where = owner.get("trafficPolicy", {}), (*path, "trafficPolicy")
    levels = policy.get("portLevelSettings", ())
    yield from _balancer(policy, where)
    for index, level in enumerate(levels):
        yield from _balancer(level, (*where, "portLevelSettings", index))
    for index, port in duplicates(level["port"]["number"] for level in levels if "port" in level):
        yield Finding((*where, "portLevelSettings", index), f"there are settings for port {port} already")
    for index, level in enumerate(levels):
        if "port" not in level:
            yield Finding((*where, "portLevelSettings", index), "settings of a port need the port's number")


def _balancer(policy: Data, path: Path) -> Iterator[Finding]:
    balancer, where = policy.get("loadBalancer", {}), (*path, "loadBalancer")
    if "warmup" in balancer and "warmupDurationSecs" in balancer:
        yield Finding((*where, "warmupDurationSecs"), "warmup and warmupDurationSecs say the same: keep warmup")
    if balancer.get("simple") == "RANDOM" and ("warmup" in balancer or "warmupDurationSecs" in balancer):
        yield Finding(where, "endpoints warm up with ROUND_ROBIN and LEAST_REQUEST only")


RULES = (_host, _subsets, _policies)
