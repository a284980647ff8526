"""Where do retries add up, or differ, though each document alone looks right?"""

import json
from collections.abc import Iterator, Mapping
from itertools import combinations

from mesh.istio.document import Document
from mesh.istio.hosts import covers
from mesh.istio.lint_scene import (
    MESH,
    Route,
    Scene,
    gateways_of,
    hosts_of,
    mapping,
    selects,
    sequence,
    spec_of,
    words,
)
from mesh.istio.problem import Problem
from mesh.istio.yaml_nodes import Data
from mesh.istio.yaml_scalars import whole_number

DEFAULT_RETRIES = 2
MOST_TRIES = 9
"""What two layers make that both say nothing of retries: nobody can be blamed for these."""


def tries(route: Route) -> int:
    """How often a request of this route is tried at most. A silent route retries twice, an empty block never."""
    if "retries" not in route.data:
        return 1 + DEFAULT_RETRIES
    return 1 + max(0, whole_number(mapping(route.data.get("retries")).get("attempts")) or 0)


def retries_differ(scene: Scene) -> Iterator[Problem]:
    """Two routes lead to different versions of a host, under the same VirtualService, and don't retry alike."""
    for document in scene.virtual_services:
        routes = [route for route in scene.routes if route.document is document and route.targets]
        for first, second in combinations(routes, 2):
            host = _other_version(first, second)
            if host and _policy(first) != _policy(second):
                message = (
                    f"{second.title} retries otherwise than {first.title}, which leads to another version of {host}"
                )
                hint = "a comparison of the two versions then compares the retries too"
                yield document.problem((*second.path, "retries"), message, hint)


def _other_version(first: Route, second: Route) -> str:
    """A host of which the two routes reach different subsets."""
    for host in {target.host for target in first.targets if target.subset}:
        versions = [
            {target.subset for target in route.targets if target.host == host and target.subset}
            for route in (first, second)
        ]
        if versions[1] and versions[0] != versions[1]:
            return host
    return ""


def _policy(route: Route) -> str:
    block = route.data.get("retries")
    if tries(route) == 1:
        return "none"
    return json.dumps(block if isinstance(block, dict) else {"attempts": DEFAULT_RETRIES}, sort_keys=True, default=str)


def retries_multiply(scene: Scene) -> Iterator[Problem]:
    """A gateway retries a call to a workload that itself retries its own calls: each outer try makes all inner ones."""
    inner = [route for route in scene.routes if MESH in gateways_of(route.document) and route.targets]
    for outer in scene.routes:
        if MESH in gateways_of(outer.document) or not outer.targets:
            continue
        called = [route for route in inner if _calls(scene, outer, route)]
        worst = max(called, key=tries, default=None)
        if worst is not None and tries(outer) * tries(worst) > MOST_TRIES and tries(outer) > 1 and tries(worst) > 1:
            message = (
                f"{tries(outer)} tries here and {tries(worst)} each by {worst.document} make "
                f"{tries(outer) * tries(worst)} tries of one request"
            )
            yield outer.document.problem(outer.path, message, "retry in one layer; silence is two retries")


def _calls(scene: Scene, outer: Route, inner: Route) -> bool:
    """Does a workload that the outer route leads to call a host of the inner one, by its Sidecar?"""
    reached = {target.host for target in outer.targets}
    if reached & set(hosts_of(inner.document)):
        return False
    return any(_may_call(sidecar, inner.document) for host in reached for sidecar in _sidecars(scene, host))


def _sidecars(scene: Scene, host: str) -> Iterator[Document]:
    """The Sidecars of the workloads behind a host."""
    for entry in scene.of_kind("ServiceEntry"):
        spec = spec_of(entry)
        wanted = mapping(mapping(spec.get("workloadSelector")).get("labels"))
        if host in {name.lower() for name in words(spec.get("hosts"))} and wanted:
            for sidecar in scene.of_kind("Sidecar"):
                own = mapping(mapping(spec_of(sidecar).get("workloadSelector")).get("labels"))
                if sidecar.namespace == entry.namespace and own and _overlap(wanted, own):
                    yield sidecar


def _overlap(wanted: Mapping[str, Data], own: Mapping[str, Data]) -> bool:
    """Could one workload carry the labels of both?"""
    return selects(wanted, {**wanted, **own}) and bool(wanted.keys() & own.keys())


def _may_call(sidecar: Document, document: Document) -> bool:
    for listener in sequence(spec_of(sidecar).get("egress")):
        for text in words(mapping(listener).get("hosts")):
            scope, _, pattern = text.lower().rpartition("/")
            namespace = sidecar.namespace if scope == "." else scope
            if namespace in ("*", document.namespace) and any(covers(pattern, host) for host in hosts_of(document)):
                return True
    return False
