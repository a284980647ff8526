"""What should one proxy have?

A snapshot is whole, immutable and versioned per type. It knows nothing of streams: `subscription` decides what of it
goes out when, `wire` how it looks in bytes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from types import MappingProxyType
from typing import Protocol

from mesh.xds.protobuf import fields


class Kind(StrEnum):
    """The four kinds of resources, in the order in which they are sent: what is named goes before what names it."""

    CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
    ENDPOINT = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
    LISTENER = "type.googleapis.com/envoy.config.listener.v3.Listener"
    ROUTE = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration"


COMPLETE = frozenset({Kind.CLUSTER, Kind.LISTENER})
"""Kinds whose responses must hold everything: a resource that is absent is deleted. The others may be partial."""


class Resource(Protocol):
    """One encoded Envoy resource. `body` is the message itself, `digest` changes whenever it does."""

    @property
    def name(self) -> str: ...

    @property
    def body(self) -> bytes: ...

    @property
    def digest(self) -> str: ...


Resources = Mapping[str, Resource]
NOTHING: Resources = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that one proxy should have, by kind and name. `versions` is a digest of each kind's content."""

    resources: Mapping[Kind, Resources]
    versions: Mapping[Kind, str]

    def of(self, kind: Kind) -> Resources:
        return self.resources.get(kind, NOTHING)


def snapshot(
    *,
    clusters: Resources = NOTHING,
    endpoints: Resources = NOTHING,
    listeners: Resources = NOTHING,
    routes: Resources = NOTHING,
) -> Snapshot:
    """The snapshot of these resources."""
    resources = dict(zip(Kind, (clusters, endpoints, listeners, routes), strict=True))
    return Snapshot(resources, {kind: version(found.values()) for kind, found in resources.items()})


def version(resources: Iterable[Resource]) -> str:
    """A digest of names and contents, whatever their order."""
    lines = sorted(f"{resource.name}\0{resource.digest}" for resource in resources)
    return blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()


def mentions(resource: Resource, name: str) -> bool:
    """Does the resource name another one? Errs on the side of yes: a name may be part of a longer one."""
    return name.encode() in resource.body


def inconsistencies(wanted: Snapshot) -> list[str]:
    """Sentences about resources that would leave an Envoy waiting or answering 503. Empty for a sound snapshot.

    An endpoint assignment without its cluster is never asked for; a cluster that is discovered by EDS and has no
    assignment keeps the Envoy from ever opening a listener.
    """
    clusters, endpoints = wanted.of(Kind.CLUSTER), wanted.of(Kind.ENDPOINT)
    problems = [f"endpoints for {name}, which is no cluster" for name in endpoints if name not in clusters]
    problems += [
        f"cluster {name} takes its endpoints from EDS, but has none"
        for name, cluster in clusters.items()
        if name not in endpoints and discovered_by_eds(cluster.body)
    ]
    return problems


def discovered_by_eds(cluster: bytes) -> bool:
    """Is this encoded Cluster of type EDS (field 2, value 3)?"""
    return any(number == 2 and value == 3 for number, value in fields(cluster))
