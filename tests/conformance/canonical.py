"""In which form are istiod's answer and ours compared? Every resource as a whole, but for what this table names."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.conformance.ads import Told
from tests.conformance.corpus import Case, address


@dataclass(frozen=True, slots=True)
class Ignored:
    """Something that is not compared: where it stands, what is done with it, and why it doesn't matter."""

    what: str
    where: str
    why: str


IGNORED = (
    Ignored(
        "cluster `InboundPassthroughCluster`",
        "clusters",
        "for intercepted connections to ports that nobody declared; nothing is intercepted and no listener names it",
    ),
    Ignored(
        "clusters of other namespaces' services",
        "clusters, endpoints",
        "hosts outside the case's own namespaces, such as the API server's own service; our mesh isn't told of them",
    ),
    Ignored("`requestIdExtension`", "listeners", "Envoy's own default, spelled out"),
    Ignored("`tracing`", "listeners", "no provider is configured: it samples traces that go nowhere"),
    Ignored("`metadata` that is empty", "endpoints", "an empty block says nothing"),
    Ignored("order of endpoints within a locality", "endpoints", "an assignment is a set"),
    Ignored("order of domains of a virtual host", "routes", "the longest match wins, whatever the order"),
    Ignored(
        "order of conditions on headers and query parameters",
        "routes",
        "all must hold; istiod's order among conditions on one name changes from answer to answer",
    ),
)
_DROPPED_FROM_MANAGER = ("requestIdExtension", "tracing")
_INBOUND_PASSTHROUGH = "InboundPassthroughCluster"
_SORTED: dict[str, Callable[[Any], Any]] = {
    "domains": lambda domain: domain,
    "headers": repr,
    "queryParameters": repr,
    "lbEndpoints": repr,
}


def canonical(told: Told, case: Case) -> Told:
    """The resources of one proxy, ready to be compared: wherever the case lives, `$NS` and `$CLIENT` stand for it."""
    kept = {
        kind.rpartition(".")[2]: {
            name: _settled(resource) for name, resource in sorted(found.items()) if _is_ours(name, case)
        }
        for kind, found in told.items()
    }
    neutral = json.dumps(kept).replace(case.namespace, "$NS").replace(address(case.namespace), "$CLIENT")
    settled: Told = json.loads(neutral)
    return settled


def _is_ours(name: str, case: Case) -> bool:
    """Is this a resource that the case's own documents ask for?"""
    if name == _INBOUND_PASSTHROUGH:
        return False
    host = name.rpartition("|")[2] if name.startswith("outbound|") else ""
    return not host.endswith(".svc.cluster.local") or host.split(".")[1] in case.namespaces


def _settled(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _entry(name, inner) for name, inner in sorted(value.items()) if not _says_nothing(name, inner)}
    return [_settled(each) for each in value] if isinstance(value, list) else value


def _says_nothing(name: str, value: Any) -> bool:
    return name in _DROPPED_FROM_MANAGER or (name == "metadata" and not value)


def _entry(name: str, value: Any) -> Any:
    settled = _settled(value)
    return sorted(settled, key=_SORTED[name]) if name in _SORTED and isinstance(settled, list) else settled


@dataclass(frozen=True, slots=True)
class Difference:
    """A place in a proxy's resources where istiod and our mesh disagree. None: it isn't there."""

    path: str
    istiod: Any
    ours: Any


def differences(istiod: Any, ours: Any, path: str = "") -> list[Difference]:
    """Every place where the two differ."""
    if isinstance(istiod, dict) and isinstance(ours, dict):
        names = sorted(istiod.keys() | ours.keys())
        return [found for name in names for found in differences(istiod.get(name), ours.get(name), f"{path}/{name}")]
    if isinstance(istiod, list) and isinstance(ours, list) and len(istiod) == len(ours):
        pairs = enumerate(zip(istiod, ours, strict=True))
        return [found for index, (left, right) in pairs for found in differences(left, right, f"{path}[{index}]")]
    return [] if istiod == ours else [Difference(path, istiod, ours)]
