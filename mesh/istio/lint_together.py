"""Which mistakes show only when documents are read together?

What Istio's analyzer looks for and what makes a shift of weights do nothing or do harm: a subset that nobody declares
or that selects nothing, a route hidden behind another one, a gateway that goes past the weights.
Source: istio/istio pkg/config/analysis/msg/messages.yaml
"""

import json
from collections.abc import Iterator, Mapping

from mesh.istio.document import Document
from mesh.istio.hosts import covers
from mesh.istio.lint_scene import (
    MESH,
    Route,
    Scene,
    Subset,
    Target,
    gateways_of,
    hosts_of,
    mapping,
    routes_of,
    rule_host,
    selects,
    sequence,
    spec_of,
    word,
    words,
)
from mesh.istio.problem import Problem
from mesh.istio.yaml_nodes import Data

HTTP_PROTOCOLS = ("HTTP", "HTTP2", "GRPC", "GRPC-WEB")


def unknown_host(scene: Scene) -> Iterator[Problem]:
    for target in scene.reached:
        if target.host != "*" and not scene.service(target.host):
            hint = "known hosts: " + (", ".join(sorted(scene.services)) or "none")
            path = (*target.place, "host")
            yield target.document.problem(path, f"no ServiceEntry declares the host {target.host}", hint)


def unknown_subset(scene: Scene) -> Iterator[Problem]:
    for target in scene.reached:
        names = sorted({subset.name for subset in scene.subsets_for(target.host)})
        if target.subset and target.subset not in names:
            message = f"no DestinationRule gives {target.host} a subset {target.subset}"
            hint = "its subsets: " + ", ".join(names) if names else "add a DestinationRule with this subset first"
            yield target.document.problem((*target.place, "subset"), message, hint)


def unknown_gateway(scene: Scene) -> Iterator[Problem]:
    for document in scene.virtual_services:
        for at, name in enumerate(gateways_of(document)):
            if name != MESH and name not in scene.gateways:
                hint = "known gateways: " + (", ".join(sorted(scene.gateways)) or "none")
                yield document.problem(("spec", "gateways", at), f"there is no Gateway {name}", hint)


def port_needed(scene: Scene) -> Iterator[Problem]:
    for target in scene.reached:
        service = scene.service(target.host)
        if service and target.port is None and len(service.ports) > 1:
            ports = ", ".join(str(port) for port in sorted(service.ports))
            path = target.place
            yield target.document.problem(
                path, f"{target.host} has several ports: name one", f"port: {{number: ...}} of {ports}"
            )


def port_unknown(scene: Scene) -> Iterator[Problem]:
    for target in scene.reached:
        service = scene.service(target.host)
        if service and target.port is not None and target.port not in service.ports:
            ports = ", ".join(str(port) for port in sorted(service.ports))
            path = (*target.place, "port")
            yield target.document.problem(path, f"{target.host} has no port {target.port}", f"its ports: {ports}")


def port_not_http(scene: Scene) -> Iterator[Problem]:
    routed = {target.host for target in scene.targets}
    for document in scene.of_kind("ServiceEntry"):
        hosts = {host.lower() for host in words(spec_of(document).get("hosts"))}
        for at, port in enumerate(sequence(spec_of(document).get("ports"))):
            protocol = word(mapping(port).get("protocol")).upper()
            if hosts & routed and protocol and protocol not in HTTP_PROTOCOLS:
                path = ("spec", "ports", at, "protocol")
                message = f"{protocol} is not routed by request, so weights have no effect on this port"
                yield document.problem(path, message, f"one of {', '.join(HTTP_PROTOCOLS)}")


def grpc_as_http1(scene: Scene) -> Iterator[Problem]:
    for document in scene.of_kind("ServiceEntry"):
        for at, port in enumerate(sequence(spec_of(document).get("ports"))):
            name, protocol = word(mapping(port).get("name")), word(mapping(port).get("protocol")).upper()
            if name.split("-")[0] in ("grpc", "http2") and protocol == "HTTP":
                message = f"the port {name} is declared HTTP: its calls would go out as HTTP/1.1"
                yield document.problem(("spec", "ports", at, "protocol"), message, "write GRPC or HTTP2")


def empty_subset_in_use(scene: Scene) -> Iterator[Problem]:
    used = {(target.host, target.subset) for target in _with_traffic(scene)}
    for subset in _empty_subsets(scene):
        if (rule_host(subset.document), subset.name) in used:
            message = f"the subset {subset.name} gets traffic but selects no endpoint of {rule_host(subset.document)}"
            yield subset.document.problem(subset.path, message, _labels_hint(subset))


def empty_subset(scene: Scene) -> Iterator[Problem]:
    used = {(target.host, target.subset) for target in _with_traffic(scene)}
    for subset in _empty_subsets(scene):
        if (rule_host(subset.document), subset.name) not in used:
            message = f"the subset {subset.name} selects no endpoint of {rule_host(subset.document)}"
            yield subset.document.problem(subset.path, message, _labels_hint(subset))


def _with_traffic(scene: Scene) -> Iterator[Target]:
    for route in scene.routes:
        targets = route.targets
        yield from (target for target in targets if target.weight or len(targets) == 1)


def _empty_subsets(scene: Scene) -> Iterator[Subset]:
    for subset in scene.subsets:
        service = scene.service(rule_host(subset.document))
        if service and service.endpoints is not None:
            chosen = [labels for labels in service.endpoints if selects(subset.labels, labels)]
            if not chosen:
                yield subset


def _labels_hint(subset: Subset) -> str:
    wanted = ", ".join(f"{name}: {value}" for name, value in subset.labels.items())
    return f"it wants the labels {wanted}" if wanted else "it has no labels, and the host no endpoints"


def unknown_rule_host(scene: Scene) -> Iterator[Problem]:
    for document in scene.destination_rules:
        host = rule_host(document)
        if host and not any(covers(host, known) or covers(known, host) for known in scene.services):
            yield document.problem(
                ("spec", "host"), f"no ServiceEntry declares the host {host}", "the rule has no effect"
            )


def subset_shadowed(scene: Scene) -> Iterator[Problem]:
    """Of several DestinationRules for one host, the first one's subset of a name counts."""
    seen: dict[tuple[str, str, str], Document] = {}
    for subset in scene.subsets:
        known = (subset.document.namespace, rule_host(subset.document), subset.name)
        first = seen.setdefault(known, subset.document)
        if first is not subset.document:
            message = f"the subset {subset.name} is declared by {first} already, which counts"
            yield subset.document.problem(subset.path, message, "give it another name, or remove it")


def host_taken(scene: Scene) -> Iterator[Problem]:
    """Inside the mesh, several VirtualServices for one host are not merged: what happens is undefined."""
    owners: dict[str, list[Document]] = {}
    for document in scene.virtual_services:
        if MESH in gateways_of(document):
            for host in dict.fromkeys(hosts_of(document)):
                owners.setdefault(host, []).append(document)
    for host, documents in owners.items():
        for document in documents:
            rivals = [str(other) for other in documents if other is not document and _see_each_other(document, other)]
            if rivals:
                message = f"{' and '.join(rivals)} has the host {host} in the mesh too"
                yield document.problem(("spec", "hosts"), message, "put the routes into one VirtualService")


def _see_each_other(left: Document, right: Document) -> bool:
    """Is there a namespace to which both are exported?"""
    scopes = [
        {document.namespace if scope == "." else scope for scope in words(spec_of(document).get("exportTo")) or ("*",)}
        for document in (left, right)
    ]
    return "*" in scopes[0] | scopes[1] or bool(scopes[0] & scopes[1])


def host_not_in_gateway(scene: Scene) -> Iterator[Problem]:
    for document in scene.virtual_services:
        for name in gateways_of(document):
            gateway = scene.gateways.get(name)
            if gateway and not any(_admits(gateway, document.namespace, host) for host in hosts_of(document)):
                message = f"none of these hosts is served by the Gateway {name}"
                hint = "it serves " + ", ".join(_served(gateway))
                yield document.problem(("spec", "hosts"), message, hint)


def _served(gateway: Document) -> list[str]:
    servers = sequence(spec_of(gateway).get("servers"))
    return [host for server in servers for host in words(mapping(server).get("hosts"))]


def _admits(gateway: Document, namespace: str, host: str) -> bool:
    for served in _served(gateway):
        scope, slash, pattern = served.lower().rpartition("/")
        wanted = gateway.namespace if scope == "." else scope
        if (not slash or wanted in ("*", namespace)) and (covers(pattern, host) or covers(host, pattern)):
            return True
    return False


def gateway_past_weights(scene: Scene) -> Iterator[Problem]:
    """A gateway's route to a host as a whole goes past the weights that the mesh's VirtualService gives its subsets."""
    split = {
        target.host
        for route in scene.routes
        if MESH in gateways_of(route.document)
        for target in route.targets
        if target.subset
    }
    for target in scene.targets:
        bound = gateways_of(target.document)
        if MESH not in bound and not target.subset and target.host in split:
            message = f"this sends the gateway's traffic to all versions of {target.host}, past the weights in the mesh"
            yield target.document.problem(
                (*target.path, "destination"), message, "name the subsets with weights here too"
            )


def unreachable_route(scene: Scene) -> Iterator[Problem]:
    for document in scene.virtual_services:
        before: list[Route] = []
        for route in routes_of(document):
            hidden_by = _hidden_by(route, before)
            if hidden_by:
                message = f"{route.title} is never reached: {hidden_by.title} takes all its requests"
                hint = "its weights have no effect; put it first" if len(route.targets) > 1 else "put it first"
                yield document.problem(route.path, message, hint)
            before.append(route)


def ineffective_match(scene: Scene) -> Iterator[Problem]:
    for document in scene.virtual_services:
        before: list[Route] = []
        for route in routes_of(document):
            if not _hidden_by(route, before):
                yield from _taken_matches(route, before)
            before.append(route)


def _taken_matches(route: Route, before: list[Route]) -> Iterator[Problem]:
    for at, match in enumerate(_matches(route)):
        taker = next((other for other in before if _takes(other, match)), None)
        if taker:
            message = f"this match has no effect: {taker.title} takes its requests"
            yield route.document.problem((*route.path, "match", at), message, "remove it")


def _hidden_by(route: Route, before: list[Route]) -> Route | None:
    """An earlier route, when each match of this one is taken by an earlier one; the last taker stands for all."""
    takers = [next((other for other in before if _takes(other, match)), None) for match in _matches(route)]
    return takers[-1] if None not in takers else None


def _matches(route: Route) -> list[Mapping[str, Data]]:
    """The alternatives of a route; one that says nothing is true for all requests."""
    return [mapping(match) for match in sequence(route.data.get("match"))] or [{}]


def _takes(route: Route, match: Mapping[str, Data]) -> bool:
    return any(_covers_match(own, match) for own in _matches(route))


def _covers_match(wide: Mapping[str, Data], narrow: Mapping[str, Data]) -> bool:
    """Is every request of `narrow` one of `wide` too? Only what is certain counts."""
    wide, narrow = _conditions(wide), _conditions(narrow)
    if not wide or wide == narrow:
        return True
    if set(wide) != {"uri"} or "ignoreUriCase" in narrow:
        return False
    prefix, uri = word(mapping(wide["uri"]).get("prefix")), mapping(narrow.get("uri"))
    inner = word(uri.get("exact")) or word(uri.get("prefix"))
    return bool(prefix) and inner.startswith(prefix)


def _conditions(match: Mapping[str, Data]) -> Mapping[str, Data]:
    """What a match asks for, without its name and without a path that every request has."""
    everything = ('{"prefix": "/"}', '{"regex": ".*"}')
    return {
        name: value
        for name, value in match.items()
        if name not in ("name", "statPrefix") and not (name == "uri" and json.dumps(value) in everything)
    }
