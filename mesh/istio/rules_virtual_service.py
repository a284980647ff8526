"""Which VirtualServices would istiod's webhook refuse?"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from mesh.istio.finding import Finding, is_host, is_label
from mesh.istio.hosts import overlap
from mesh.istio.rules_filters import cors, delegates, destination, faults, mirrors
from mesh.istio.views_virtual_service import MESH

Data = Mapping[str, Any]
Path = tuple[str | int, ...]
_ACTIONS = ("route", "redirect", "directResponse")
_REDIRECTED = ("uri", "prefixRewrite", "authority", "scheme", "port")
_HEADER = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_AUTHORITY = frozenset({"host", ":authority"})
_CODES = frozenset(int(status) for status in HTTPStatus)
_LABEL_NAME = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?\Z")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?\Z")
RETRY_CONDITIONS = (
    "5xx",
    "gateway-error",
    "reset",
    "reset-before-request",
    "connect-failure",
    "retriable-4xx",
    "refused-stream",
    "retriable-status-codes",
    "retriable-headers",
    "envoy-ratelimited",
    "http3-post-connect-failure",
    "cancelled",
    "deadline-exceeded",
    "internal",
    "resource-exhausted",
    "unavailable",
)


def _hosts(spec: Data) -> Iterator[Finding]:
    hosts, gateways = spec.get("hosts", ()), spec.get("gateways") or [MESH]
    if not hosts and spec.get("gateways"):
        yield Finding(("spec", "gateways"), "without hosts it is a delegate, which has no gateways of its own")
    for index, host in enumerate(hosts):
        path = ("spec", "hosts", index)
        if not is_host(host):
            yield Finding(path, f"{host!r} is not a host name")
        if host == "*" and MESH in gateways:
            yield Finding(path, "the host * is not allowed for calls inside the mesh")
        if any(overlap(host.lower(), other.lower()) for other in hosts[:index]):
            yield Finding(path, f"{host!r} overlaps with a host before it")


def _no_chain(spec: Data) -> Iterator[Finding]:
    for index, http in enumerate(spec.get("http", ()) if not spec.get("hosts") else ()):
        if "delegate" in http:
            yield Finding(("spec", "http", index, "delegate"), "a delegate can't pass its routes on to another")


def _has_routes(spec: Data) -> Iterator[Finding]:
    if not spec.get("http"):
        yield Finding(("spec",), "the document has no routes", "add spec.http")


def _each_route(check: Callable[[Data, Path], Iterator[Finding]]) -> Callable[[Data], Iterator[Finding]]:
    def rule(spec: Data) -> Iterator[Finding]:
        for index, http in enumerate(spec.get("http", ())):
            yield from check(http, ("spec", "http", index))

    return rule


def _one_action(http: Data, path: Path) -> Iterator[Finding]:
    if "delegate" in http:
        return
    actions = [name for name in _ACTIONS if http.get(name) or (name in http and name != "route")]
    if len(actions) != 1:
        found = " and ".join(actions) or "none of them"
        yield Finding(path, f"a route needs exactly one of route, redirect and directResponse; this one has {found}")
    if "rewrite" in http and "route" not in http:
        yield Finding((*path, "rewrite"), "nothing is rewritten beside a redirect or a direct response")


def _weights(http: Data, path: Path) -> Iterator[Finding]:
    route = http.get("route") or []
    if len(route) > 1 and not sum(entry.get("weight", 0) for entry in route):
        yield Finding((*path, "route"), "the weights of a route with several destinations sum to 0")
    if sum(entry.get("weight", 0) for entry in route) > 2**32 - 1:
        yield Finding((*path, "route"), "the weights of a route sum to more than 4294967295")


def _destinations(http: Data, path: Path) -> Iterator[Finding]:
    for index, entry in enumerate(http.get("route") or ()):
        yield from destination(entry["destination"], (*path, "route", index, "destination"))


def _retries(http: Data, path: Path) -> Iterator[Finding]:
    retries = http.get("retries", {})
    if not retries.get("attempts"):
        for name in ("perTryTimeout", "retryOn", "retryRemoteLocalities"):
            if name in retries:
                yield Finding((*path, "retries", name), f"{name} needs attempts greater than 0")
    for word in retries.get("retryOn", "").split(",") if "retryOn" in retries else ():
        if word not in RETRY_CONDITIONS and not (word.isdecimal() and int(word) in _CODES):
            hint = "no spaces around commas" if word.strip() != word else f"one of {', '.join(RETRY_CONDITIONS)}"
            yield Finding((*path, "retries", "retryOn"), f"{word!r} is not a retry condition or an HTTP code", hint)


def _matches(http: Data, path: Path) -> Iterator[Finding]:
    for index, match in enumerate(http.get("match", ())):
        where = (*path, "match", index)
        yield from _source(match, where)
        for name in ("uri", "scheme", "method", "authority"):
            if name in match:
                yield from _string_match(match[name], (*where, name))
        for group in ("headers", "withoutHeaders", "queryParams"):
            for name, value in match.get(group, {}).items():
                yield from _string_match(value, (*where, group, name))
                if group != "queryParams":
                    yield from _matched_header(name, (*where, group, name))
                elif not name:
                    yield Finding((*where, group), "a query parameter needs a name")


def _source(match: Data, path: Path) -> Iterator[Finding]:
    if match.get("sourceNamespace") and not is_label(match["sourceNamespace"]):
        yield Finding((*path, "sourceNamespace"), f"{match['sourceNamespace']!r} is not a DNS label")
    for name, value in match.get("sourceLabels", {}).items():
        if not _LABEL_NAME.match(name) or not _LABEL_VALUE.match(value):
            yield Finding((*path, "sourceLabels", name), f"{name!r}: {value!r} is not a label")


def _string_match(value: Data, path: Path) -> Iterator[Finding]:
    if value.get("regex") == "*" and "withoutHeaders" not in path:
        yield Finding(path, "* is no regular expression", "{} asks that there is a value")
    if len(value) > 1:
        yield Finding(path, "a match is one of exact, prefix and regex", "several values: several entries of match")
    if (value.get("prefix") == "" and path[-1] != "uri") or value.get("regex") == "":
        yield Finding(path, "an empty prefix or regex matches nothing in particular", "{} asks that there is a value")


def _matched_header(name: str, path: Path) -> Iterator[Finding]:
    if name.startswith("@request.auth"):
        yield Finding(path, "claims of a token are not supported by the local mesh: nobody checks tokens here")
    elif not _HEADER.match(name.removeprefix(":")):
        yield Finding(path, f"{name!r} is not the name of a header")


def _headers(http: Data, path: Path) -> Iterator[Finding]:
    yield from _operations(http.get("headers", {}), (*path, "headers"))
    for index, entry in enumerate(http.get("route") or ()):
        yield from _operations(entry.get("headers", {}), (*path, "route", index, "headers"))


def _operations(headers: Data, path: Path) -> Iterator[Finding]:
    for side, operations in headers.items():
        for operation in ("set", "add", "remove"):
            names: Sequence[str] = list(operations.get(operation, ()))
            for index, name in enumerate(names):
                at = (*path, side, operation, index if operation == "remove" else name)
                moves_authority = side == "request" and operation != "remove" and name.lower() in _AUTHORITY
                if not moves_authority:
                    yield from _changed_header(name, at)


def _changed_header(name: str, path: Path) -> Iterator[Finding]:
    if name.startswith(":") or name.lower() == "host":
        yield Finding(path, f"the header {name!r} can't be changed here")
    elif not _HEADER.match(name):
        yield Finding(path, f"{name!r} is not the name of a header")


def _one_authority(http: Data, path: Path) -> Iterator[Finding]:
    request = http.get("headers", {}).get("request", {})
    places = [name for group in ("set", "add") for name in request.get(group, {}) if name.lower() in _AUTHORITY]
    if http.get("rewrite", {}).get("authority"):
        places.append("rewrite.authority")
    if len(places) > 1:
        yield Finding(path, f"the authority is rewritten in several places: {', '.join(places)}")


def _redirect(http: Data, path: Path) -> Iterator[Finding]:
    redirect = http.get("redirect", {})
    if "redirect" in http and not any(redirect.get(name) for name in _REDIRECTED) and "derivePort" not in redirect:
        yield Finding((*path, "redirect"), "a redirect needs a uri, an authority, a scheme or a port")
    if "port" in redirect and "derivePort" in redirect:
        yield Finding((*path, "redirect", "derivePort"), "a redirect has either port or derivePort")
    if redirect.get("scheme", "http") not in ("http", "https"):
        yield Finding((*path, "redirect", "scheme"), "a redirect's scheme is http or https")
    if redirect.get("prefixRewrite"):
        yield from _prefix_redirect(http, path)


def _prefix_redirect(http: Data, path: Path) -> Iterator[Finding]:
    if http["redirect"].get("uri"):
        yield Finding((*path, "redirect", "prefixRewrite"), "a redirect has either uri or prefixRewrite")
    if any("uri" in match and "prefix" not in match["uri"] for match in http.get("match", ())):
        yield Finding((*path, "redirect", "prefixRewrite"), "a prefix is rewritten only where the match is a prefix")


def _rewrite(http: Data, path: Path) -> Iterator[Finding]:
    rewrite = http.get("rewrite", {})
    if "rewrite" in http and not any(rewrite.values()):
        yield Finding((*path, "rewrite"), "a rewrite needs a uri, an authority or a uriRegexRewrite")
    if rewrite.get("uri") and "uriRegexRewrite" in rewrite:
        yield Finding((*path, "rewrite", "uriRegexRewrite"), "a rewrite has either uri or uriRegexRewrite")


RULES = (
    _hosts,
    _has_routes,
    _no_chain,
    *(
        _each_route(check)
        for check in (
            _one_action,
            _weights,
            _destinations,
            _retries,
            _matches,
            _headers,
            _one_authority,
            _redirect,
            _rewrite,
            mirrors,
            faults,
            cors,
            delegates,
        )
    ),
)
