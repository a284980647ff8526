"""What does a VirtualService say? Its HTTP routes as frozen values, hosts fully qualified."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from mesh.istio.document import Document
from mesh.istio.duration import parse_duration
from mesh.istio.hosts import full_name
from mesh.istio.views import Identity, Labels, gateway_name, identity, labels

MESH = "mesh"


class MatchKind(StrEnum):
    """How a string is compared. PRESENT: any value, and there must be one."""

    EXACT = "exact"
    PREFIX = "prefix"
    REGEX = "regex"
    PRESENT = "present"


@dataclass(frozen=True, slots=True)
class StringMatch:
    """One comparison of a string."""

    kind: MatchKind
    value: str = ""


NamedMatches = tuple[tuple[str, StringMatch], ...]


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


@dataclass(frozen=True, slots=True)
class DirectResponse:
    """An answer made by the proxy itself."""

    status: int
    text: str | None


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
class HttpRoute:
    """One entry of `http`: conditions and what to do. `retries` None means that the document is silent."""

    name: str
    matches: tuple[HttpMatch, ...]
    destinations: tuple[WeightedDestination, ...]
    redirect: Redirect | None
    direct_response: DirectResponse | None
    rewrite: Rewrite | None
    timeout: timedelta | None
    retries: Retries | None
    headers: Headers | None


@dataclass(frozen=True, slots=True)
class VirtualService:
    """A VirtualService. `revision` is its document's: equal revisions have equal routes.

    `looks_at_source`: its routes differ by who carries them, so they can't be shared between workloads.
    """

    identity: Identity
    revision: str
    hosts: tuple[str, ...]
    gateways: tuple[str, ...]
    export_to: tuple[str, ...]
    http: tuple[HttpRoute, ...]
    looks_at_source: bool


def virtual_service(document: Document) -> VirtualService:
    """The view of a VirtualService."""
    spec, namespace = document.data["spec"], document.namespace
    http = tuple(_http_route(route, namespace) for route in spec.get("http", ()))
    return VirtualService(
        identity(document),
        document.revision,
        tuple(full_name(host, namespace) for host in spec["hosts"]),
        _gateways(spec.get("gateways", ()), namespace) or (MESH,),
        tuple(spec.get("exportTo", ())),
        http,
        any(match.source_labels or match.source_namespace for route in http for match in route.matches),
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
    )


def _match(data: Mapping[str, Any], namespace: str) -> HttpMatch:
    return HttpMatch(
        data.get("name", ""),
        _string_match(data.get("uri")),
        _string_match(data.get("scheme")),
        _string_match(data.get("method")),
        _string_match(data.get("authority")),
        _named_matches(data.get("headers", {})),
        _named_matches(data.get("withoutHeaders", {})),
        _named_matches(data.get("queryParams", {})),
        data.get("ignoreUriCase", False),
        data.get("port"),
        labels(data.get("sourceLabels")),
        data.get("sourceNamespace", ""),
        _gateways(data.get("gateways", ()), namespace),
        data.get("statPrefix", ""),
    )


def _string_match(data: Mapping[str, str] | None) -> StringMatch | None:
    """An empty block and the regex `*` ask only that the value is there."""
    if data is None:
        return None
    for kind in (MatchKind.EXACT, MatchKind.PREFIX, MatchKind.REGEX):
        if kind in data and (kind, data[kind]) != (MatchKind.REGEX, "*"):
            return StringMatch(kind, data[kind])
    return StringMatch(MatchKind.PRESENT)


def _named_matches(data: Mapping[str, Mapping[str, str]]) -> NamedMatches:
    return tuple(
        (name, _string_match(match or {}) or StringMatch(MatchKind.PRESENT)) for name, match in sorted(data.items())
    )


def _weighted(data: Mapping[str, Any], namespace: str) -> WeightedDestination:
    where = data["destination"]
    return WeightedDestination(
        Destination(full_name(where["host"], namespace), where.get("subset", ""), where.get("port", {}).get("number")),
        data.get("weight", 0),
        _headers(data.get("headers")),
    )


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
    )


def _direct_response(data: Mapping[str, Any]) -> DirectResponse:
    return DirectResponse(data["status"], data.get("body", {}).get("string"))


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
