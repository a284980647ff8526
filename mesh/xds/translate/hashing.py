"""By what is a request told apart where endpoints are chosen by hash? DestinationRules name the key, routes use it."""

from collections.abc import Iterator

from envoy_data_plane.envoy.config.route import v3 as route

from mesh.istio.views import Labels
from mesh.istio.views_balancing import ConsistentHash, Cookie, HashKey
from mesh.istio.views_destination_rule import Policy, TrafficPolicy
from mesh.istio.views_virtual_service import Destination, VirtualService
from mesh.xds.translate.encode import make
from mesh.xds.translate.places import Places
from mesh.xds.translate.rules import Rule

Hashes = tuple[tuple[Destination, ConsistentHash], ...]


def hashes(places: Places, rule: VirtualService, namespace: str, labels: Labels) -> Hashes:
    """The destinations of a rule's routes whose endpoints are chosen by hash, for who calls from `namespace`."""
    if not places.hashes:
        return ()
    seen = labels if places.looks_at_labels else ()
    key = ("hashes", rule.identity.key, rule.revision, namespace, seen)
    return places.memo.get(key, lambda: tuple(_hashes(places, rule, namespace, seen)))


def _hashes(
    places: Places, rule: VirtualService, namespace: str, labels: Labels
) -> Iterator[tuple[Destination, ConsistentHash]]:
    for destination in dict.fromkeys(entry.destination for http in rule.http for entry in http.destinations):
        service = places.service(destination.host, namespace)
        found = None if service is None else places.rule(service, namespace, labels)
        if found is not None and (hashing := _of_destination(found, destination)) is not None:
            yield destination, hashing


def _of_destination(rule: Rule, destination: Destination) -> ConsistentHash | None:
    """The subset's port, the subset, the port, the whole: the first that hashes. A port counts when it is named."""
    subset = next((found for found in rule.subsets if found.name == destination.subset), None)
    for policy in (subset.policy if subset else None, rule.policy):
        if policy is None:
            continue
        own = policy.at(destination.port) if destination.port is not None else None
        for level in (own, policy.policy):
            if (found := _of_policy(level)) is not None:
                return found
    return None


def of_service(rule: Rule | None, port: int) -> ConsistentHash | None:
    """How a service's own default route hashes: as its port says, else as the rule does."""
    policy: TrafficPolicy | None = None if rule is None else rule.policy
    if policy is None:
        return None
    return _of_policy(policy.at(port)) or _of_policy(policy.policy)


def _of_policy(policy: Policy | None) -> ConsistentHash | None:
    balancer = None if policy is None else policy.load_balancer
    return None if balancer is None else balancer.consistent_hash


def hash_policy(hashing: ConsistentHash | None) -> list[route.RouteActionHashPolicy]:
    """None or one policy of a route's action."""
    made = None if hashing is None else _policy(hashing.key)
    return [] if made is None else [made]


def _policy(key: HashKey) -> route.RouteActionHashPolicy | None:
    match key:
        case Cookie():
            return make(route.RouteActionHashPolicy, cookie=_cookie(key))
        case ("header", name):
            return make(route.RouteActionHashPolicy, header=make(route.RouteActionHashPolicyHeader, header_name=name))
        case ("query", name):
            parameter = make(route.RouteActionHashPolicyQueryParameter, name=name)
            return make(route.RouteActionHashPolicy, query_parameter=parameter)
        case ("source-ip", used):
            properties = make(route.RouteActionHashPolicyConnectionProperties, source_ip=bool(used))
            return make(route.RouteActionHashPolicy, connection_properties=properties)
        case _:
            return None


def _cookie(cookie: Cookie) -> route.RouteActionHashPolicyCookie:
    return make(
        route.RouteActionHashPolicyCookie,
        name=cookie.name,
        path=cookie.path,
        ttl=cookie.ttl,
        attributes=[
            make(route.RouteActionHashPolicyCookieAttribute, name=name, value=value)
            for name, value in cookie.attributes
        ],
    )
