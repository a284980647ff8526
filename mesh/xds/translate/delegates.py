"""What do VirtualServices say that pass routes on to others? Each root with its delegates' routes in their places.

A delegate's route is taken only for requests that the root takes too; what the delegate says replaces what the root
says block by block, header operations as a whole.

Source: istio pilot/pkg/model/virtualservice.go (MergeHTTPRoutes) and virtualservice_controller.go.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mesh.istio.string_match import MatchKind, NamedMatches, StringMatch
from mesh.istio.views import Labels, visible
from mesh.istio.views_virtual_service import HttpMatch, HttpRoute, VirtualService

_BLOCKS = (
    "rewrite", "direct_response", "timeout", "retries", "fault", "mirror", "mirror_percent", "mirror_percentage",
    "cors", "headers",
)  # fmt: skip


def with_delegates(rules: Sequence[VirtualService]) -> tuple[VirtualService, ...]:
    """The rules that have hosts, each with the routes of its delegates. One that is missing leaves out its route."""
    known = {(rule.identity.namespace, rule.identity.name): rule for rule in rules if not rule.hosts}
    return tuple(_whole(rule, known) for rule in rules if rule.hosts)


def _whole(root: VirtualService, known: Mapping[tuple[str, str], VirtualService]) -> VirtualService:
    if not any(http.delegate for http in root.http):
        return root
    used = [known[http.delegate] for http in root.http if http.delegate and http.delegate in known]
    return replace(
        root,
        http=tuple(route for http in root.http for route in _routes(root, http, known)),
        delegates=tuple(dict.fromkeys(rule.identity.key for rule in used)),
        revision=".".join([root.revision, *(rule.revision for rule in used)]),
    )


def _routes(
    root: VirtualService, http: HttpRoute, known: Mapping[tuple[str, str], VirtualService]
) -> Iterator[HttpRoute]:
    if http.delegate is None:
        yield http
        return
    delegate = known.get(http.delegate)
    if delegate is not None and visible(delegate.export_to, delegate.identity.namespace, root.identity.namespace):
        for leaf in delegate.http:
            matches = _matches(http.matches, leaf.matches)
            if matches is not None:
                yield _merged(http, leaf, matches)


def _merged(root: HttpRoute, leaf: HttpRoute, matches: tuple[HttpMatch, ...]) -> HttpRoute:
    taken = {name: getattr(root, name) for name in _BLOCKS if getattr(leaf, name) is None}
    mirrors = leaf.mirrors or root.mirrors
    return replace(leaf, name=_joined(root.name, leaf.name), matches=matches, mirrors=mirrors, delegate=None, **taken)


def _joined(root: str, leaf: str) -> str:
    return "-".join(name for name in (root, leaf) if name)


def _matches(roots: tuple[HttpMatch, ...], leaves: tuple[HttpMatch, ...]) -> tuple[HttpMatch, ...] | None:
    """The alternatives of both together. None when one of the delegate's lies outside all of the root's."""
    if not roots or not leaves:
        return roots or leaves
    found: list[HttpMatch] = []
    for leaf in leaves:
        within = [_both(root, leaf) for root in roots if not _conflict(root, leaf)]
        if not within:
            return None
        found += within
    return tuple(found)


def _both(root: HttpMatch, leaf: HttpMatch) -> HttpMatch:
    return replace(
        leaf,
        name=_joined(root.name, leaf.name),
        uri=leaf.uri or root.uri,
        scheme=leaf.scheme or root.scheme,
        method=leaf.method or root.method,
        authority=leaf.authority or root.authority,
        headers=_over(root.headers, leaf.headers),
        without_headers=_over(root.without_headers, leaf.without_headers),
        query_params=_over(root.query_params, leaf.query_params),
        port=leaf.port or root.port,
        source_labels=tuple(sorted({**dict(root.source_labels), **dict(leaf.source_labels)}.items())),
        source_namespace=leaf.source_namespace or root.source_namespace,
        gateways=leaf.gateways or root.gateways,
        stat_prefix=leaf.stat_prefix or root.stat_prefix,
    )


def _over(root: NamedMatches, leaf: NamedMatches) -> NamedMatches:
    return tuple(sorted({**dict(root), **dict(leaf)}.items(), key=lambda named: named[0]))


def _conflict(root: HttpMatch, leaf: HttpMatch) -> bool:
    """Does the delegate's alternative take requests that the root's does not?"""
    return (
        any(_outside(getattr(root, name), getattr(leaf, name)) for name in ("uri", "scheme", "method", "authority"))
        or _any_outside(root.headers, leaf.headers)
        or _any_outside(root.without_headers, leaf.without_headers)
        or _any_outside(root.query_params, leaf.query_params)
        or root.ignore_uri_case != leaf.ignore_uri_case
        or bool(root.port and leaf.port and root.port != leaf.port)
        or bool(root.source_namespace and leaf.source_namespace != root.source_namespace)
        or _contradict(root.source_labels, leaf.source_labels)
        or bool(root.gateways and leaf.gateways and not set(leaf.gateways) <= set(root.gateways))
    )


def _contradict(root: Labels, leaf: Labels) -> bool:
    known = dict(root)
    return any(known.get(name, value) != value for name, value in leaf)


def _any_outside(root: NamedMatches, leaf: NamedMatches) -> bool:
    known = dict(root)
    return any(_outside(known.get(name), value) for name, value in leaf)


def _outside(root: StringMatch | None, leaf: StringMatch | None) -> bool:
    """Two prefixes, or a prefix and an exact value, fit into each other; two equal exact values do; nothing else."""
    if root is None or leaf is None:
        return False
    if not root.value or not leaf.value or MatchKind.REGEX in (root.kind, leaf.kind):
        return True
    if root.kind is MatchKind.EXACT:
        return leaf != root
    return not leaf.value.startswith(root.value)
