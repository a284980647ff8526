"""What did an istiod send to which proxy, which of it did each acknowledge, and which weights are in it? Pure.

`/debug/syncz` lists the nonces of the last configuration that was sent and of the last that was acknowledged; a nonce
is the push's version and a UUID. `/debug/config_dump` shows what a proxy's routes are, and of which version. A proxy
runs a document's weights when the version that it acknowledged last is the one whose routes have them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from control.adapters.kubernetes.api import Json
from mesh.istio.weights import RouteView
from mesh.traffic import RouteRef

UUID_LENGTH = 36
Weights = Mapping[tuple[str, str], int]
"""Weights above 0 by host and subset."""


@dataclass(frozen=True, slots=True)
class Synced:
    """One proxy as istiod sees it: nonces of its routes, empty when nothing was sent or acknowledged yet."""

    proxy: str
    sent: str
    acked: str

    @property
    def sent_version(self) -> str:
        return self.sent[:-UUID_LENGTH]

    @property
    def acked_version(self) -> str:
        return self.acked[:-UUID_LENGTH]

    @property
    def in_step(self) -> bool:
        """Has it acknowledged the last that was sent?"""
        return bool(self.sent) and self.sent == self.acked


@dataclass(frozen=True, slots=True)
class Held:
    """One route in a configuration dump: its name, the version of the configuration that it is in, its weights."""

    name: str
    version: str
    weights: Weights


@dataclass(frozen=True, slots=True)
class Dumped:
    """What a dump has of each VirtualService ("namespace/name"), and of which versions its configurations are."""

    routes: Mapping[str, Sequence[Held]] = field(default_factory=dict)
    versions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Routes:
    """One proxy's routes of one document: the version they are of, and the weights of each."""

    version: str
    weights: tuple[Weights, ...]


def synced(answer: Iterable[Json]) -> dict[str, Synced]:
    """Proxies that are sent routes, by name."""
    found = (Synced(each["proxy"], each.get("route_sent", ""), each.get("route_acked", "")) for each in answer)
    return {each.proxy: each for each in found if each.sent}


def dumped(dump: Json) -> Dumped:
    """All that a configuration dump has of VirtualServices."""
    found: dict[str, list[Held]] = defaultdict(list)
    versions = set()
    for held in _route_configurations(dump):
        version = str(held.get("versionInfo", ""))
        versions.add(version)
        for route in _routes(held):
            of, _, name = _config(route).rpartition("/virtual-service/")
            weights = _weights(route.get("route", {}))
            found[f"{of.rpartition('/')[2]}/{name}"].append(Held(str(route.get("name", "")), version, weights))
    return Dumped(dict(found), frozenset(versions))


def routes_of(found: Dumped, ref: RouteRef) -> Routes:
    """What a dump has of a VirtualService's route."""
    document = found.routes.get(f"{ref.namespace}/{ref.virtual_service}", ())
    held = [each for each in document if _is_named(each.name, ref.route)]
    return Routes(held[-1].version if held else "", tuple(each.weights for each in held))


def _route_configurations(dump: Json) -> Sequence[Json]:
    return [
        held
        for config in dump.get("configs", ())
        if config.get("@type", "").endswith("RoutesConfigDump")
        for held in config.get("dynamicRouteConfigs", ())
    ]


def _routes(held: Json) -> Sequence[Json]:
    hosts = held.get("routeConfig", {}).get("virtualHosts", ())
    return [route for host in hosts for route in host.get("routes", ())]


def _config(route: Json) -> str:
    return str(route.get("metadata", {}).get("filterMetadata", {}).get("istio", {}).get("config", ""))


def _is_named(route: str, name: str | None) -> bool:
    """A match's name is appended to its route's."""
    return name is None or route == name or route.startswith(f"{name}.")


def _weights(action: Json) -> Weights:
    if "cluster" in action:
        return {_version(action["cluster"]): 1}
    found: dict[tuple[str, str], int] = {}
    for each in action.get("weightedClusters", {}).get("clusters", ()):
        version = _version(each["name"])
        found[version] = found.get(version, 0) + int(each.get("weight", 0))
    return found


def _version(cluster: str) -> tuple[str, str]:
    """Example: outbound|50051|v1|echo.default.svc.cluster.local is of the host and its subset v1."""
    parts = cluster.split("|")
    return (parts[3], parts[2]) if len(parts) == 4 else (cluster, "")


def expected(view: RouteView) -> Weights:
    """What a route's document asks for, as Envoys have it: nothing of those without weight."""
    if len(view.destinations) == 1:
        return {(view.destinations[0].host, view.destinations[0].subset): 1}
    found: dict[tuple[str, str], int] = {}
    for each in view.destinations:
        if each.weight:
            key = (each.host, each.subset)
            found[key] = found.get(key, 0) + each.weight
    return found


def has(found: Routes, wanted: Weights) -> bool:
    """Do all routes of the document have these weights?"""
    same: Any = all(dict(each) == dict(wanted) for each in found.weights)
    return bool(found.weights) and same


def runs(proxy: Synced, found: Routes, wanted: Weights) -> bool:
    """Does the proxy run these weights, on every route of the document?"""
    return has(found, wanted) and proxy.in_step and proxy.acked_version == found.version


def later(version: str, than: str) -> bool:
    """Was the one pushed after the other? A version is the time at which an istiod's push began, and its number.

    Example: 2026-12-01T12:00:00Z/10 is later than 2026-12-01T12:00:00Z/9.
    """
    return _order(version) > _order(than)


def _order(version: str) -> tuple[str, int]:
    """What is no version comes before all."""
    at, _, number = version.rpartition("/")
    return (at, int(number)) if number.isdigit() else ("", -1)


def runs_another(proxy: Synced, found: Routes, wanted: Weights) -> bool:
    """Has the proxy acknowledged the very version whose routes have other weights?"""
    other: Any = any(dict(each) != dict(wanted) for each in found.weights)
    return bool(found.weights) and other and proxy.in_step and proxy.acked_version == found.version
