"""Which requests does a route take? A VirtualService's match as Envoy's RouteMatch."""

from envoy_data_plane.envoy.config.route import v3 as route
from envoy_data_plane.envoy.type.matcher import v3 as matcher

from mesh.istio.string_match import MatchKind, StringMatch
from mesh.istio.views import Labels, selects
from mesh.istio.views_virtual_service import HttpMatch
from mesh.xds.translate.encode import make

EVERYTHING = "/"


def taken_by(match: HttpMatch | None, *, port: int, gateways: frozenset[str], namespace: str, labels: Labels) -> bool:
    """Does this proxy carry the route at all? Port, gateways and source are settled before any request comes.

    A match that names gateways doesn't look at sourceLabels and sourceNamespace.
    """
    if match is None:
        return True
    if match.port is not None and match.port != port:
        return False
    if match.gateways:
        return bool(gateways & set(match.gateways))
    return selects(match.source_labels, labels) and match.source_namespace in ("", namespace)


def route_match(match: HttpMatch | None) -> route.RouteMatch:
    """The conditions that are looked at for each request."""
    if match is None:
        return make(route.RouteMatch, prefix=EVERYTHING)
    made = _path(match.uri)
    made.case_sensitive = not match.ignore_uri_case
    made.headers = [*sorted(_headers(match), key=lambda header: header.name), *_pseudo_headers(match)]
    made.query_parameters = [_query_parameter(name, value) for name, value in match.query_params]
    return made


def _path(uri: StringMatch | None) -> route.RouteMatch:
    """A prefix is a plain string prefix: `/foo` takes `/foobar` too. A regex matches the whole path."""
    match uri:
        case StringMatch(MatchKind.EXACT, value):
            return make(route.RouteMatch, path=value)
        case StringMatch(MatchKind.PREFIX, value):
            return make(route.RouteMatch, prefix=value)
        case StringMatch(MatchKind.REGEX, value):
            return make(route.RouteMatch, safe_regex=make(matcher.RegexMatcher, regex=value))
        case _:
            return make(route.RouteMatch, prefix=EVERYTHING)


def _headers(match: HttpMatch) -> list[route.HeaderMatcher]:
    return [
        *(_header(name, value) for name, value in match.headers),
        *(_absent_header(name, value) for name, value in match.without_headers),
    ]


def _pseudo_headers(match: HttpMatch) -> list[route.HeaderMatcher]:
    named = ((":method", match.method), (":authority", match.authority), (":scheme", match.scheme))
    return [_header(name, value) for name, value in named if value is not None]


def _header(name: str, value: StringMatch) -> route.HeaderMatcher:
    if value.kind is MatchKind.PRESENT:
        return make(route.HeaderMatcher, name=name, present_match=True)
    return make(route.HeaderMatcher, name=name, string_match=string_matcher(value))


def _absent_header(name: str, value: StringMatch) -> route.HeaderMatcher:
    """A missing header counts as empty, so it isn't `value`; Envoy takes no such word beside present_match."""
    header = _header(name, value)
    header.invert_match = True
    header.treat_missing_header_as_empty = value.kind is not MatchKind.PRESENT
    return header


def _query_parameter(name: str, value: StringMatch) -> route.QueryParameterMatcher:
    if value.kind is MatchKind.PRESENT:
        return make(route.QueryParameterMatcher, name=name, present_match=True)
    return make(route.QueryParameterMatcher, name=name, string_match=string_matcher(value))


def string_matcher(value: StringMatch) -> matcher.StringMatcher:
    """The comparison as Envoy takes it; not for one that asks only for presence."""
    if value.kind is MatchKind.EXACT:
        return make(matcher.StringMatcher, exact=value.value)
    if value.kind is MatchKind.PREFIX:
        return make(matcher.StringMatcher, prefix=value.value)
    return make(matcher.StringMatcher, safe_regex=make(matcher.RegexMatcher, regex=value.value))


def is_catch_all(match: HttpMatch | None) -> bool:
    """Does the route take every request that reaches it? Nothing behind it is ever asked."""
    if match is None:
        return True
    conditions = (
        match.headers,
        match.without_headers,
        match.query_params,
        match.method,
        match.authority,
        match.scheme,
    )
    if any(conditions):
        return False
    match match.uri:
        case (
            None
            | StringMatch(MatchKind.PRESENT)
            | StringMatch(MatchKind.PREFIX, "/")
            | StringMatch(MatchKind.REGEX, ".*")
        ):
            return True
        case _:
            return False
