"""What gets lost between a VirtualService and those that it passes routes on to, or that share its host?"""

from collections.abc import Iterator

from mesh.istio.document import Document
from mesh.istio.lint_scene import MESH, Route, Scene, gateways_of, hosts_of, mapping, routes_of, word
from mesh.istio.problem import Problem


def delegate_headers(scene: Scene) -> Iterator[Problem]:
    """A delegate's header operations replace its root's as a whole; they are not joined."""
    for route in scene.routes:
        if route.data.get("headers") and any(own.data.get("headers") for own in _leaves(scene, route)):
            message = "these operations are dropped where the delegate has headers of its own"
            yield route.document.problem((*route.path, "headers"), message, "write them in the delegate's routes too")


def unknown_delegate(scene: Scene) -> Iterator[Problem]:
    for route in scene.routes:
        if route.data.get("delegate") and not _delegate(scene, route):
            name = word(mapping(route.data.get("delegate")).get("name"))
            path = (*route.path, "delegate")
            yield route.document.problem(path, f"there is no delegate {name}", "its requests fall through to the next")


def _delegate(scene: Scene, route: Route) -> Document | None:
    named = mapping(route.data.get("delegate"))
    namespace = word(named.get("namespace")) or route.document.namespace
    return next(
        (
            document
            for document in scene.virtual_services
            if (document.namespace, document.name) == (namespace, word(named.get("name"))) and not hosts_of(document)
        ),
        None,
    )


def _leaves(scene: Scene, route: Route) -> tuple[Route, ...]:
    found = _delegate(scene, route) if route.data.get("delegate") else None
    return routes_of(found) if found else ()


def gateway_host_shared(scene: Scene) -> Iterator[Problem]:
    """Two documents for one host at one gateway are merged by age: a catch-all of either goes behind both."""
    owners: dict[tuple[str, str], Document] = {}
    for document in scene.virtual_services:
        for gateway in gateways_of(document):
            for host in hosts_of(document) if gateway != MESH else ():
                first = owners.setdefault((gateway, host), document)
                if first is not document:
                    message = (
                        f"{first} has the host {host} at the gateway {gateway} too: their routes are merged by age"
                    )
                    yield document.problem(("spec", "hosts"), message, "put the routes into one VirtualService")
