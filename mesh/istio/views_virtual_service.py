"""What does a VirtualService say? Its HTTP routes as frozen values, hosts fully qualified."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from mesh.istio.document import Document
from mesh.istio.duration import parse_duration
from mesh.istio.hosts import full_name
from mesh.istio.problem import DocumentKey
from mesh.istio.string_match import NamedMatches, StringMatch, named_matches, string_match
from mesh.istio.views import Identity, Labels, gateway_name, identity, labels
from mesh.istio.views_filters import EVERY, Cors, Fault, Percentage, cors, fault, percentage

MESH = "mesh"


@dataclass(frozen=True, slots=True)
class HttpMatch:
    """One alternative of a route's `match`: all of its conditions must hold."""

    name: str
    uri: StringMatch | None
    scheme: StringMatch | None
    method: StringMatch | None
    authority: StringMatch | None
    headers: NamedMatches
    without_headers: NamedMatches
    query_params: NamedMatches
    ignore_uri_case: bool
    port: int | None
    source_labels: Labels
    source_namespace: str
    gateways: tuple[str, ...]
    stat_prefix: str


@dataclass(frozen=True, slots=True)
class HeaderOperations:
    """What happens to the headers of a request or of a response."""

    set: Labels = ()
    add: Labels = ()
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Headers:
    """Header operations on the way in and on the way back."""

    request: HeaderOperations = HeaderOperations()
    response: HeaderOperations = HeaderOperations()


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a route leads: a host, one of its subsets (or all endpoints when empty), a port when given."""

    host: str
    subset: str
    port: int | None


@dataclass(frozen=True, slots=True)
class WeightedDestination:
    """A destination with its weight (0 when the document gives none) and header operations of its own."""

    destination: Destination
    weight: int
    headers: Headers | None


@dataclass(frozen=True, slots=True)
class Redirect:
    """The answer that sends a caller elsewhere. `port` None with `derive_port` set takes the listener's port."""

    uri: str
    authority: str
    scheme: str
    port: int | None
    derive_port: str
    code: int
    prefix_rewrite: str = ""


@dataclass(frozen=True, slots=True)
class DirectResponse:
    """An answer made by the proxy itself."""

    status: int
    text: str | None
    raw: bytes | None = None


@dataclass(frozen=True, slots=True)
class Rewrite:
    """How path and authority change before the request goes on."""

    uri: str
    authority: str
    regex: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class Retries:
    """A route's `retries` as written: an empty block is attempts 0, which switches retries off."""

    attempts: int
    retry_on: str
    per_try_timeout: timedelta | None
    backoff: timedelta | None
    ignore_previous_hosts: bool | None
    remote_localities: bool


@dataclass(frozen=True, slots=True)
class Mirror:
    """A destination that gets copies of requests and whose answers nobody waits for."""

    destination: Destination
    percentage: Percentage


@dataclass(frozen=True, slots=True)
class HttpRoute:
    """One entry of `http`: conditions and what to do. None means that the document is silent.

    `delegate` is the namespace and name of the VirtualService whose routes stand in for this one.
    """

    name: str
    matches: tuple[HttpMatch, ...]
    destinations: tuple[WeightedDestination, ...]
    redirect: Redirect | None
    direct_response: DirectResponse | None
    rewrite: Rewrite | None
    timeout: timedelta | None
    retries: Retries | None
    headers: Headers | None
    fault: Fault | None = None
    cors: Cors | None = None
    mirror: Destination | None = None
    mirror_percentage: Percentage | None = None
    mirror_percent: Percentage | None = None
    mirrors: tuple[Mirror, ...] = ()
    delegate: tuple[str, str] | None = None

    @property
    def shadows(self) -> tuple[Mirror, ...]:
        """Everything that gets copies; the old single mirror with the share that the route gives it."""
        share = self.mirror_percentage or self.mirror_percent
        alone = () if self.mirror is None else (Mirror(self.mirror, share or EVERY),)
        return (*alone, *self.mirrors)

    @property
    def hosts_reached(self) -> frozenset[str]:
        """The hosts of its destinations, those of copies too."""
        copies = (self.mirror, *(mirror.destination for mirror in self.mirrors))
        drawn = (entry.destination for entry in self.destinations)
        return frozenset(each.host for each in (*drawn, *copies) if each is not None)

    def is_open_to(self, namespace: str) -> bool:
        """May a caller of this namespace take it, as far as `sourceNamespace` goes?"""
        named = {match.source_namespace for match in self.matches if match.source_namespace}
        return not named or namespace in named


@dataclass(frozen=True, slots=True)
class VirtualService:
    """A VirtualService. `revision` is its document's: equal revisions have equal routes.

    Without `hosts` it is only a delegate of others. `delegates` are the documents whose routes it has taken in.
    """

    identity: Identity
    revision: str
    hosts: tuple[str, ...]
    gateways: tuple[str, ...]
    export_to: tuple[str, ...]
    http: tuple[HttpRoute, ...]
    delegates: tuple[DocumentKey, ...] = ()

    @property
    def sources(self) -> tuple[DocumentKey, ...]:
        """Every document that it was made from."""
        return (self.identity.key, *self.delegates)

    @property
    def looks_at_source(self) -> bool:
        """Do its routes differ by who carries them? Then they can't be shared between workloads."""
        return any(match.source_labels or match.source_namespace for route in self.http for match in route.matches)

    @property
    def hosts_reached(self) -> frozenset[str]:
        """The hosts of all its destinations, those of copies too."""
        return frozenset(host for route in self.http for host in route.hosts_reached)

    def hosts_reached_from(self, namespace: str) -> frozenset[str]:
        """Those of the routes that somebody in `namespace` may take."""
        return frozenset(host for route in self.http if route.is_open_to(namespace) for host in route.hosts_reached)


def virtual_service(document: Document) -> VirtualService:
    """The view of a VirtualService."""
    spec, namespace = document.data["spec"], document.namespace
    http = tuple(_http_route(route, namespace) for route in spec.get("http", ()))
    return VirtualService(
        identity(document),
        document.revision,
        tuple(full_name(host, namespace) for host in spec.get("hosts", ())),
        _gateways(spec.get("gateways", ()), namespace) or (MESH,),
        tuple(spec.get("exportTo", ())),
        http,
    )


def _gateways(names: list[str], namespace: str) -> tuple[str, ...]:
    return tuple(gateway_name(name, namespace) for name in names)


def _http_route(data: Mapping[str, Any], namespace: str) -> HttpRoute:
    return HttpRoute(
        data.get("name", ""),
        tuple(_match(match, namespace) for match in data.get("match", ())),
        tuple(_weighted(entry, namespace) for entry in data.get("route", ())),
        _redirect(data["redirect"]) if "redirect" in data else None,
        _direct_response(data["directResponse"]) if "directResponse" in data else None,
        _rewrite(data["rewrite"]) if "rewrite" in data else None,
        _duration(data.get("timeout")),
        _retries(data["retries"]) if "retries" in data else None,
        _headers(data.get("headers")),
        fault(data["fault"]) if "fault" in data else None,
        cors(data["corsPolicy"]) if "corsPolicy" in data else None,
        _destination(data["mirror"], namespace) if "mirror" in data else None,
        percentage(data.get("mirrorPercentage")),
        Percentage(data["mirrorPercent"], whole=True) if "mirrorPercent" in data else None,
        tuple(_mirror(entry, namespace) for entry in data.get("mirrors", ())),
        _delegate(data["delegate"], namespace) if "delegate" in data else None,
    )


def _match(data: Mapping[str, Any], namespace: str) -> HttpMatch:
    return HttpMatch(
        data.get("name", ""),
        string_match(data.get("uri")),
        string_match(data.get("scheme")),
        string_match(data.get("method")),
        string_match(data.get("authority")),
        named_matches(data.get("headers", {})),
        named_matches(data.get("withoutHeaders", {})),
        named_matches(data.get("queryParams", {})),
        data.get("ignoreUriCase", False),
        data.get("port"),
        labels(data.get("sourceLabels")),
        data.get("sourceNamespace", ""),
        _gateways(data.get("gateways", ()), namespace),
        data.get("statPrefix", ""),
    )


def _weighted(data: Mapping[str, Any], namespace: str) -> WeightedDestination:
    return WeightedDestination(
        _destination(data["destination"], namespace), data.get("weight", 0), _headers(data.get("headers"))
    )


def _destination(data: Mapping[str, Any], namespace: str) -> Destination:
    return Destination(full_name(data["host"], namespace), data.get("subset", ""), data.get("port", {}).get("number"))


def _mirror(data: Mapping[str, Any], namespace: str) -> Mirror:
    return Mirror(_destination(data["destination"], namespace), percentage(data.get("percentage")) or EVERY)


def _delegate(data: Mapping[str, str], namespace: str) -> tuple[str, str]:
    return data.get("namespace", namespace), data["name"]


def _headers(data: Mapping[str, Any] | None) -> Headers | None:
    if data is None:
        return None
    return Headers(_operations(data.get("request", {})), _operations(data.get("response", {})))


def _operations(data: Mapping[str, Any]) -> HeaderOperations:
    return HeaderOperations(labels(data.get("set")), labels(data.get("add")), tuple(data.get("remove", ())))


def _redirect(data: Mapping[str, Any]) -> Redirect:
    return Redirect(
        data.get("uri", ""),
        data.get("authority", ""),
        data.get("scheme", ""),
        data.get("port"),
        data.get("derivePort", ""),
        data.get("redirectCode", 301),
        data.get("prefixRewrite", ""),
    )


def _direct_response(data: Mapping[str, Any]) -> DirectResponse:
    body = data.get("body", {})
    raw = base64.b64decode(body["bytes"]) if "bytes" in body else None
    return DirectResponse(data["status"], body.get("string"), raw)


def _rewrite(data: Mapping[str, Any]) -> Rewrite:
    regex = data.get("uriRegexRewrite")
    return Rewrite(
        data.get("uri", ""),
        data.get("authority", ""),
        (regex["match"], regex["rewrite"]) if regex else None,
    )


def _retries(data: Mapping[str, Any] | None) -> Retries:
    block = data or {}
    return Retries(
        block.get("attempts", 0),
        block.get("retryOn", ""),
        _duration(block.get("perTryTimeout")),
        _duration(block.get("backoff")),
        block.get("retryIgnorePreviousHosts"),
        block.get("retryRemoteLocalities", False),
    )


def _duration(text: str | None) -> timedelta | None:
    return None if text is None else parse_duration(text)
