"""What does a route do with a request? Redirect before direct response before destinations."""

from dataclasses import dataclass, replace
from datetime import timedelta

from envoy_data_plane.envoy.config.core import v3 as core
from envoy_data_plane.envoy.config.route import v3 as route
from envoy_data_plane.envoy.type.matcher import v3 as matcher

from mesh.istio.views_balancing import ConsistentHash
from mesh.istio.views_virtual_service import (
    Destination,
    DirectResponse,
    HttpRoute,
    Mirror,
    Redirect,
    Rewrite,
    WeightedDestination,
)
from mesh.xds.translate.encode import make
from mesh.xds.translate.filters import filter_configs, fraction
from mesh.xds.translate.hashing import Hashes, hash_policy
from mesh.xds.translate.headers import HeaderMutations, header_mutations
from mesh.xds.translate.names import outbound_cluster
from mesh.xds.translate.retries import retry_policy

NO_TIMEOUT = timedelta(0)
_CODES = {
    301: route.RedirectActionRedirectResponseCode.MOVED_PERMANENTLY,
    302: route.RedirectActionRedirectResponseCode.FOUND,
    303: route.RedirectActionRedirectResponseCode.SEE_OTHER,
    307: route.RedirectActionRedirectResponseCode.TEMPORARY_REDIRECT,
    308: route.RedirectActionRedirectResponseCode.PERMANENT_REDIRECT,
}
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Lane:
    """Where a route is carried: the listener's port, the only port of services that have just one, and the
    destinations whose endpoints are chosen by hash.
    """

    port: int
    only_ports: tuple[tuple[str, int], ...] = ()
    hashes: Hashes = ()

    def cluster(self, destination: Destination) -> str:
        """The cluster of a destination; its port, else the service's only one, else the listener's."""
        port = destination.port or dict(self.only_ports).get(destination.host, self.port)
        return outbound_cluster(port, destination.subset, destination.host)


def apply_action(target: route.Route, http: HttpRoute, lane: Lane) -> None:
    """Gives the route its action and its header operations."""
    mutations = header_mutations(http.headers)
    if http.redirect is not None:
        target.redirect = _redirect(http.redirect, lane.port)
    elif http.direct_response is not None:
        target.direct_response = _direct_response(http.direct_response)
    else:
        target.route, mutations = _forward(http, lane, mutations)
    target.typed_per_filter_config = filter_configs(http)
    target.request_headers_to_add = mutations.request_add
    target.request_headers_to_remove = mutations.request_remove
    target.response_headers_to_add = mutations.response_add
    target.response_headers_to_remove = mutations.response_remove


def forward(cluster: str, hashing: ConsistentHash | None = None) -> route.RouteAction:
    """The action towards one cluster without a timeout, as a service gets it that no VirtualService speaks of."""
    return make(
        route.RouteAction,
        cluster=cluster,
        timeout=NO_TIMEOUT,
        max_grpc_timeout=NO_TIMEOUT,
        retry_policy=retry_policy(None),
        hash_policy=hash_policy(hashing),
    )


def _forward(http: HttpRoute, lane: Lane, mutations: HeaderMutations) -> tuple[route.RouteAction, HeaderMutations]:
    """The action and the route's own operations: a single destination's are appended to them, several keep theirs."""
    action = make(route.RouteAction)
    action.timeout = action.max_grpc_timeout = NO_TIMEOUT if http.timeout is None else http.timeout
    mutations = replace(mutations, authority=_rewrite(action, http.rewrite) or mutations.authority)
    hashed = dict(lane.hashes)
    drawn = http.destinations if len(http.destinations) == 1 else _drawn(http.destinations)
    if len(http.destinations) == 1:
        action.cluster = lane.cluster(drawn[0].destination)
        mutations = mutations.then(header_mutations(drawn[0].headers))
    else:
        weights = [_cluster_weight(entry, lane) for entry in drawn]
        action.weighted_clusters = make(route.WeightedCluster, clusters=weights)
    sticky = len(http.destinations) == 1 and drawn[0].destination in hashed
    action.retry_policy = retry_policy(http.retries, sticky=sticky)
    action.hash_policy = [made for entry in drawn for made in hash_policy(hashed.get(entry.destination))]
    action.request_mirror_policies = [_shadow(mirror, lane) for mirror in http.shadows if mirror.percentage.value > 0]
    if mutations.authority:
        action.host_rewrite_literal = mutations.authority
    return action, mutations


def _drawn(destinations: tuple[WeightedDestination, ...]) -> tuple[WeightedDestination, ...]:
    return tuple(entry for entry in destinations if entry.weight > 0)


def _shadow(mirror: Mirror, lane: Lane) -> route.RouteActionRequestMirrorPolicy:
    """Copies keep the name that the request was sent to, and are no reason to sample a trace."""
    return make(
        route.RouteActionRequestMirrorPolicy,
        cluster=lane.cluster(mirror.destination),
        runtime_fraction=make(core.RuntimeFractionalPercent, default_value=fraction(mirror.percentage)),
        trace_sampled=False,
        disable_shadow_host_suffix_append=True,
    )


def _cluster_weight(entry: WeightedDestination, lane: Lane) -> route.WeightedClusterClusterWeight:
    mutations = header_mutations(entry.headers)
    return make(
        route.WeightedClusterClusterWeight,
        name=lane.cluster(entry.destination),
        weight=entry.weight,
        request_headers_to_add=mutations.request_add,
        request_headers_to_remove=mutations.request_remove,
        response_headers_to_add=mutations.response_add,
        response_headers_to_remove=mutations.response_remove,
        host_rewrite_literal=mutations.authority or None,
    )


def _rewrite(action: route.RouteAction, rewrite: Rewrite | None) -> str:
    """Changes the path and returns the new authority, or ""."""
    if rewrite is None:
        return ""
    if rewrite.regex is not None:
        pattern, substitution = rewrite.regex
        action.regex_rewrite = make(
            matcher.RegexMatchAndSubstitute,
            pattern=make(matcher.RegexMatcher, regex=pattern),
            substitution=substitution,
        )
    elif rewrite.uri:
        action.prefix_rewrite = rewrite.uri
    return rewrite.authority


def _redirect(redirect: Redirect, port: int) -> route.RedirectAction:
    """A port that the scheme implies is left out; FROM_REQUEST_PORT is the listener's, for Envoy can't derive it."""
    chosen = port if redirect.derive_port == "FROM_REQUEST_PORT" else redirect.port or 0
    if chosen == _DEFAULT_PORTS.get(redirect.scheme or "http"):
        chosen = 0
    made = make(
        route.RedirectAction,
        host_redirect=redirect.authority,
        scheme_redirect=redirect.scheme or None,
        port_redirect=chosen,
        response_code=_CODES[redirect.code],
    )
    if redirect.prefix_rewrite:
        made.prefix_rewrite = redirect.prefix_rewrite
    else:
        made.path_redirect = redirect.uri
    return made


def _direct_response(answer: DirectResponse) -> route.DirectResponseAction:
    body = None
    if answer.text is not None:
        body = make(core.DataSource, inline_string=answer.text)
    elif answer.raw is not None:
        body = make(core.DataSource, inline_bytes=answer.raw)
    return make(route.DirectResponseAction, status=answer.status, body=body)
