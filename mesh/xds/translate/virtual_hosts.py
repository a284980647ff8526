"""How are encoded routes put together to virtual hosts and RouteConfigurations, without encoding anything twice?

Protobuf fields may be joined in any order, so a virtual host is its own small fields followed by the routes' bytes. A
new weight costs the encoding of one route.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from envoy_data_plane.envoy.config.route import v3 as route

from mesh.xds.translate.actions import forward
from mesh.xds.translate.encode import EncodeCache, encode, make, nested
from mesh.xds.translate.names import PASSTHROUGH
from mesh.xds.translate.resources import ROUTE, Resource, resource

_MAX_DIRECT_RESPONSE_BYTES = 1024 * 1024
_VIRTUAL_HOSTS, _ROUTES = 2, 3


@dataclass(frozen=True, slots=True)
class VirtualHost:
    """A virtual host of an outbound listener or a gateway. It counts the tries of a request where it has any routes."""

    name: str
    domains: tuple[str, ...]
    routes: tuple[bytes, ...]


def route_configuration(name: str, hosts: Sequence[VirtualHost], cache: EncodeCache) -> Resource:
    """The RouteConfiguration with these virtual hosts in this order."""
    key = ("route-configuration", name, tuple(hosts))
    return cache.get(key, lambda: resource(ROUTE, name, _configuration(name, hosts, cache)))


def _configuration(name: str, hosts: Sequence[VirtualHost], cache: EncodeCache) -> bytes:
    encoded = [nested(_VIRTUAL_HOSTS, _virtual_host(host, cache)) for host in hosts]
    return b"".join([encode(make(route.RouteConfiguration, name=name)), *encoded, cache.get("tail", _tail)])


def _tail() -> bytes:
    return encode(
        make(
            route.RouteConfiguration,
            validate_clusters=False,
            max_direct_response_body_size_bytes=_MAX_DIRECT_RESPONSE_BYTES,
            ignore_port_in_host_matching=True,
        )
    )


def _virtual_host(host: VirtualHost, cache: EncodeCache) -> bytes:
    return cache.get(("virtual-host", host), lambda: _encode_virtual_host(host))


def _encode_virtual_host(host: VirtualHost) -> bytes:
    named = encode(make(route.VirtualHost, name=host.name, domains=list(host.domains)))
    counted = encode(make(route.VirtualHost, include_request_attempt_count=bool(host.routes)))
    return b"".join([named, *(nested(_ROUTES, body) for body in host.routes), counted])


def catch_all(*, registry_only: bool, cache: EncodeCache) -> VirtualHost:
    """The virtual host of every name that the mesh doesn't know: passed on, or answered with 502."""
    name = "block_all" if registry_only else "allow_any"
    body = cache.get(("catch-all", name), lambda: encode(_catch_all_route(name, registry_only=registry_only)))
    return VirtualHost(name, ("*",), (body,))


def _catch_all_route(name: str, *, registry_only: bool) -> route.Route:
    everything = make(route.RouteMatch, prefix="/")
    if registry_only:
        return make(
            route.Route, name=name, match=everything, direct_response=make(route.DirectResponseAction, status=502)
        )
    action = forward(PASSTHROUGH)
    action.retry_policy = None
    return make(route.Route, name=name, match=everything, route=action)
