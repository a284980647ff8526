"""A model of an Envoy on a discovery stream: no network, no clock, just the rules that Envoy 1.40 was seen to follow.

It asks for clusters first, warms each added or changed cluster until its endpoints come, withholds the ACK meanwhile,
asks for the routes that its listeners name, and refuses what contains `bad`. It counts the times at which it would
have answered a request with 503 because a route named a cluster that it does not have.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256

from mesh.xds.snapshot import Kind, Resource, Snapshot, snapshot
from mesh.xds.subscription import Request, Response


@dataclass(frozen=True, slots=True)
class Thing:
    """A resource whose body is text."""

    name: str
    body: bytes
    digest: str


@lru_cache(maxsize=10_000)
def thing(name: str, body: str = "") -> Thing:
    """The same object for the same content, as the translation gives it."""
    return Thing(name, body.encode(), sha256(body.encode()).hexdigest()[:12])


def things(**bodies: str) -> dict[str, Thing]:
    return {name: thing(name, body) for name, body in bodies.items()}


def world(
    clusters: Mapping[str, str],
    routes: Mapping[str, str],
    *,
    endpoints: Mapping[str, str] | None = None,
    salt: str = "",
) -> Snapshot:
    """A sound snapshot: each cluster with endpoints, one listener a route configuration, named like it."""
    assigned = {name: (endpoints or {}).get(name, "there") for name in clusters}
    return snapshot(
        clusters=things(**clusters),
        endpoints=things(**assigned),
        listeners=things(**{name: f"{name}{salt}" for name in routes}),
        routes=things(**routes),
    )


@dataclass
class ModelEnvoy:
    """Feed it responses with `hear`; take what it says from `says`."""

    has: dict[Kind, dict[str, Resource]] = field(default_factory=lambda: {kind: {} for kind in Kind})
    warming: dict[str, Resource] = field(default_factory=dict)
    says: deque[Request] = field(default_factory=deque)
    heard: list[Response] = field(default_factory=list)
    names: dict[Kind, frozenset[str]] = field(default_factory=dict)
    nonce: dict[Kind, str] = field(default_factory=dict)
    version: dict[Kind, str] = field(default_factory=dict)
    withheld: Response | None = None
    broken: int = 0

    def connect(self) -> None:
        """A new stream: everything subscribed so far is asked for again, without nonces."""
        self.nonce, self.withheld = {}, None
        self.says.clear()
        self.names.setdefault(Kind.CLUSTER, frozenset())
        for kind in Kind:
            if kind in self.names:
                self.ask(kind, self.names[kind])

    def ask(self, kind: Kind, names: frozenset[str], error: str | None = None) -> None:
        self.names[kind] = names
        self.says.append(Request(kind, names, self.version.get(kind, ""), self.nonce.get(kind, ""), error))

    def hear(self, response: Response) -> None:
        self.heard.append(response)
        if response.kind is Kind.CLUSTER:
            self._clusters(response)
        elif response.kind is Kind.ENDPOINT:
            self._endpoints(response)
        else:
            self._listeners_or_routes(response)
        self._count_broken()

    def _clusters(self, response: Response) -> None:
        new = {resource.name: resource for resource in response.resources}
        held = self.has[Kind.CLUSTER]
        for gone in [name for name in held if name not in new]:
            del held[gone]
        self.warming = {name: r for name, r in new.items() if name not in held or held[name].digest != r.digest}
        self.nonce[Kind.CLUSTER] = response.nonce
        self.withheld = response
        names = frozenset(new)
        if names and (self.warming or names != self.names.get(Kind.ENDPOINT)):
            self.ask(Kind.ENDPOINT, names)
        self._warmed()

    def _endpoints(self, response: Response) -> None:
        for resource in response.resources:
            self.has[Kind.ENDPOINT][resource.name] = resource
            if resource.name in self.warming:
                self.has[Kind.CLUSTER][resource.name] = self.warming.pop(resource.name)
        self.nonce[Kind.ENDPOINT], self.version[Kind.ENDPOINT] = response.nonce, response.version
        self.ask(Kind.ENDPOINT, self.names[Kind.ENDPOINT])
        self._warmed()

    def _warmed(self) -> None:
        if self.warming or self.withheld is None:
            return
        response, self.withheld = self.withheld, None
        self.version[Kind.CLUSTER] = response.version
        self.ask(Kind.CLUSTER, self.names[Kind.CLUSTER])
        if Kind.LISTENER not in self.names:
            self.ask(Kind.LISTENER, frozenset())

    def _listeners_or_routes(self, response: Response) -> None:
        kind = response.kind
        self.nonce[kind] = response.nonce
        bad = [resource.name for resource in response.resources if b"bad" in resource.body]
        if bad:
            self.ask(kind, self.names[kind], error="one is bad" if kind is Kind.ROUTE else f"bad: {bad}")
            return
        self.version[kind] = response.version
        if kind is Kind.ROUTE:
            asked_for = [resource for resource in response.resources if resource.name in self.names[kind]]
            self.has[kind].update({resource.name: resource for resource in asked_for})
            self.ask(kind, self.names[kind])
            return
        self.has[kind] = {resource.name: resource for resource in response.resources}
        self.ask(kind, self.names[kind])
        routes = frozenset(self.has[kind])
        if routes != self.names.get(Kind.ROUTE, frozenset()):
            for gone in set(self.has[Kind.ROUTE]) - routes:
                del self.has[Kind.ROUTE][gone]
            self.ask(Kind.ROUTE, routes)

    def _count_broken(self) -> None:
        """Does a route in use name a cluster that isn't there?"""
        for route in self.has[Kind.ROUTE].values():
            if any(name and name not in self.has[Kind.CLUSTER] for name in route.body.decode().split()):
                self.broken += 1
