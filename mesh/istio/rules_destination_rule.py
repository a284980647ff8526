"""Which DestinationRules would istiod's webhook refuse?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mesh.istio.finding import Finding, duplicates, is_host, is_label
from mesh.istio.rules_balancing import balancer, outlier, pool

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
    if "trafficPolicy" in owner and not policy:
        yield Finding(where, "a policy needs at least one block")
    for block, place in ((policy, where), *_numbered(levels, where)):
        yield from _blocks(block, place)
    for index, port in duplicates(level["port"]["number"] for level in levels if "port" in level):
        yield Finding((*where, "portLevelSettings", index), f"there are settings for port {port} already")
    for level, place in _numbered(levels, where):
        if "port" not in level:
            yield Finding(place, "settings of a port need the port's number")
        if level.keys() <= {"port"}:
            yield Finding(place, "settings of a port need at least one block")


def _numbered(levels: Sequence[Data], where: Path) -> list[tuple[Data, Path]]:
    return [(level, (*where, "portLevelSettings", index)) for index, level in enumerate(levels)]


def _blocks(policy: Data, path: Path) -> Iterator[Finding]:
    yield from pool(policy.get("connectionPool"), (*path, "connectionPool"))
    yield from balancer(policy.get("loadBalancer", {}), (*path, "loadBalancer"))
    yield from outlier(policy.get("outlierDetection", {}), (*path, "outlierDetection"))


RULES = (_host, _subsets, _policies)
