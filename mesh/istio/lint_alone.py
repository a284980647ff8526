"""What does one document say that is allowed but surely not meant?

Fields that aren't supported and broken rules of Istio's admission webhook are found by the support table and by
`mesh.istio.rules`, which refuse a document; here are the words of warning that let it pass.
"""

from collections.abc import Callable, Iterator, Mapping

from mesh.istio.lint_scene import Route, Scene, hosts_of, mapping, sequence, spec_of, words
from mesh.istio.problem import Problem
from mesh.istio.rules import broken_rules
from mesh.istio.support import unsupported
from mesh.istio.yaml_nodes import Data, Path

ENVOYS = "x-envoy-"
ATTEMPT_COUNT = f"{ENVOYS}attempt-count"
Look = Callable[[Scene], Iterator[Problem]]


def each_route(look: Callable[[Route], Iterator[Problem]]) -> Look:
    """A rule of the scene from a rule of one route."""

    def of_scene(scene: Scene) -> Iterator[Problem]:
        for route in scene.routes:
            yield from look(route)

    return of_scene


def refused(scene: Scene) -> Iterator[Problem]:
    """What keeps the local mesh from running a document, and most of it a cluster too."""
    for document in scene.documents:
        yield from unsupported(document) or broken_rules(document)


def host_written_twice(scene: Scene) -> Iterator[Problem]:
    """The same host once short and once in full."""
    for document in scene.virtual_services:
        hosts, written = hosts_of(document), words(spec_of(document).get("hosts"))
        for at, host in enumerate(hosts):
            if host in hosts[:at] and written[at] != written[hosts.index(host)]:
                message = f"{written[at]} is the same host as {written[hosts.index(host)]}"
                yield document.problem(("spec", "hosts", at), message, "remove one of them")


def destination_twice(route: Route) -> Iterator[Problem]:
    seen = set[tuple[str, str, int | None]]()
    for target in route.targets:
        known = (target.host, target.subset, target.port)
        if target.host and known in seen:
            message = f"{target.host} {target.subset}".strip() + " is a destination of this route twice"
            yield route.document.problem(target.path, message, "list it once, with the sum of the weights")
        seen.add(known)


def weight_without_effect(route: Route) -> Iterator[Problem]:
    targets = route.targets
    if len(targets) == 1 and targets[0].weight == 0:
        message = "the only destination gets all traffic, whatever its weight"
        yield route.document.problem((*targets[0].path, "weight"), message, "remove the weight, or the route")


def retries_switched_off(route: Route) -> Iterator[Problem]:
    if route.data.get("retries") == {}:
        hint = "write attempts: 0, or leave it out for two retries"
        yield route.document.problem((*route.path, "retries"), "an empty retries block switches retries off", hint)


def envoys_header_touched(route: Route) -> Iterator[Problem]:
    """Headers that steer or describe Envoy itself, beside the count of tries, which has a rule of its own."""
    for path, operation, name in _operations(route):
        if name.lower().startswith(ENVOYS) and name.lower() != ATTEMPT_COUNT:
            message = f"{operation} {name} reaches into what Envoys tell each other"
            yield route.document.problem(path, message, "write it as a field of the route: timeout, retries, ...")


_DEPRECATED: dict[Path, str] = {
    ("mirrorPercent",): "mirrorPercentage",
    ("fault", "delay", "percent"): "percentage",
    ("corsPolicy", "allowOrigin"): "allowOrigins",
}


def deprecated(route: Route) -> Iterator[Problem]:
    for path, instead in _DEPRECATED.items():
        block: Data = dict(route.data)
        for name in path:
            block = mapping(block).get(str(name))
        if block is not None:
            message = f"{path[-1]} is deprecated"
            yield route.document.problem((*route.path, *path), message, f"write {instead}")


def attempt_count_touched(route: Route) -> Iterator[Problem]:
    for path, operation, name in _operations(route):
        if name.lower() == ATTEMPT_COUNT:
            message = f"{operation} {ATTEMPT_COUNT} changes the first try only; retries carry Envoy's own count"
            yield route.document.problem(path, message, "leave this header to Envoy")


def _operations(route: Route) -> Iterator[tuple[Path, str, str]]:
    """Place, operation and header name of all header changes, the destinations' own included."""
    yield from _operations_of(mapping(route.data.get("headers")), (*route.path, "headers"))
    for at, entry in enumerate(sequence(route.data.get("route"))):
        yield from _operations_of(mapping(mapping(entry).get("headers")), (*route.path, "route", at, "headers"))


def _operations_of(block: Mapping[str, Data], path: Path) -> Iterator[tuple[Path, str, str]]:
    for direction in ("request", "response"):
        operations = mapping(block.get(direction))
        for operation in ("set", "add"):
            for name in mapping(operations.get(operation)):
                yield (*path, direction, operation, name), operation, name
        for at, name in enumerate(words(operations.get("remove"))):
            yield (*path, direction, "remove", at), "remove", name


def source_labels_beside_gateways(route: Route) -> Iterator[Problem]:
    for at, entry in enumerate(sequence(route.data.get("match"))):
        block = mapping(entry)
        ignored = [name for name in ("sourceLabels", "sourceNamespace") if block.get(name)]
        if block.get("gateways") and ignored:
            message = f"{ignored[0]} is not looked at in a match that names gateways"
            yield route.document.problem((*route.path, "match", at, ignored[0]), message, "use two matches")
