"""Do callers wait and retry otherwise for one version of a service than for another?

Read as the Envoys have it: with istiod's defaults, the DestinationRules that hold for each proxy, and every route that
leads to a version, whoever may take it. Faults that are injected and endpoints that are left alone count: they fail
calls, or keep calls from failing, for one version only.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from mesh.istio.document import Document
from mesh.istio.views_connection_pool import ConnectionPool
from mesh.istio.views_destination_rule import Policy
from mesh.istio.views_virtual_service import HttpRoute, Retries
from mesh.xds.translate.clusters import CONNECT_TIMEOUT
from mesh.xds.translate.encode import EncodeCache
from mesh.xds.translate.policy import subset_policy
from mesh.xds.translate.proxies import proxy_nodes
from mesh.xds.translate.registry import Registry, registry
from mesh.xds.translate.resources import ProxyNode
from mesh.xds.translate.retries import DEFAULT_RETRIES, retry_on

NO_LIMIT = "no limit"
NO_BUDGET = "none"
NEVER = "never"
_EJECTING_ERRORS, _EJECTED_FOR = 5, timedelta(seconds=30)
"""Envoy's own, where the document is silent."""
SILENT = Retries(DEFAULT_RETRIES, "", None, None, None, remote_localities=False)
"""What a route does that says nothing of retries."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of Istio's documents, and what it is for each version, in the order in which they were asked for.

    Example: Difference("timeout", ("no limit", "5s"))
    """

    field: str
    values: tuple[str, ...]


def differences(
    documents: Sequence[Document], host: str, versions: Sequence[str], cache: EncodeCache | None = None
) -> tuple[Difference, ...]:
    """Every field on waiting and retrying that is not the same for all `versions` (subsets) of `host`, which is fully
    qualified. A version that nothing names has nothing that could differ.
    """
    known = registry(documents, cache or EncodeCache())
    policies = [each for node in proxy_nodes(known) for each in _policies(known, node, host, versions)]
    routes = [_routes(known, host, version) for version in versions]
    return (*_between_policies(policies), *_between_routes(routes))


def _policies(known: Registry, node: ProxyNode, host: str, versions: Sequence[str]) -> Iterator[list[Policy]]:
    """The versions' policies at one proxy, for each port of the service."""
    service = known.places.service(host, node.namespace)
    rule = known.places.rule(service, node.namespace, node.labels) if service else None
    if service is None or rule is None:
        return
    subsets = {subset.name: subset for subset in rule.subsets}
    for port in service.ports if subsets.keys() >= set(versions) else ():
        yield [subset_policy(rule.policy, subsets[version], port.number) for version in versions]


def _between_policies(policies: Sequence[Sequence[Policy]]) -> Iterator[Difference]:
    for field, value in _POLICY.items():
        rows = [[value(policy) for policy in row] for row in policies]
        unequal = [row for row in rows if len(set(row)) > 1]
        if unequal:
            yield Difference(field, tuple(_either(column) for column in zip(*unequal, strict=True)))


def _routes(known: Registry, host: str, version: str) -> list[HttpRoute]:
    """The routes by which a request may come to a version."""
    return [
        route
        for rule in known.virtual_services
        for route in rule.http
        if any((each.destination.host, each.destination.subset) == (host, version) for each in route.destinations)
    ]


def _between_routes(routes: Sequence[Sequence[HttpRoute]]) -> Iterator[Difference]:
    for field, value in _ROUTE.items():
        found = [frozenset(value(route) for route in of_version) for of_version in routes]
        if all(found) and len(set(found)) > 1:
            yield Difference(field, tuple(map(_either, found)))


def _either(values: Sequence[str] | frozenset[str]) -> str:
    return " or ".join(sorted(set(values)))


def _pool(value: Callable[[ConnectionPool], str]) -> Callable[[Policy], str]:
    return lambda policy: value(policy.connection_pool or ConnectionPool())


def _budget(policy: Policy) -> str:
    budget = policy.retry_budget
    return NO_BUDGET if budget is None else f"{budget.percent:g} %, at least {budget.minimum}"


def _span(span: timedelta | None) -> str:
    """Example: _span(timedelta(seconds=1.5)) == "1.5s"; 0 and nothing are no limit."""
    return f"{span.total_seconds():g}s" if span else NO_LIMIT


def _retried(value: Callable[[Retries], str]) -> Callable[[HttpRoute], str]:
    """The value of a route's retries; that of one that makes no second try is the same whatever else it says."""

    def of_route(route: HttpRoute) -> str:
        retries = route.retries or SILENT
        return value(retries) if retries.attempts > 0 else "no retries"

    return of_route


def _outlier(policy: Policy) -> str:
    """Example: "after 5 errors in a row, 30s"; a count of 0 never ejects."""
    outlier = policy.outlier_detection
    if outlier is None:
        return NEVER
    errors = _EJECTING_ERRORS if outlier.consecutive_5xx is None else outlier.consecutive_5xx
    counts = [count for count in (errors, outlier.consecutive_gateway or 0) if count]
    if not counts:
        return NEVER
    return f"after {min(counts)} errors in a row, {_span(outlier.base_ejection_time or _EJECTED_FOR)}"


def _fault(route: HttpRoute) -> str:
    fault = route.fault
    if fault is None:
        return "none"
    delay = f"{fault.delay.percentage.value:g} % wait {_span(fault.delay.fixed)}" if fault.delay else ""
    abort = f"{fault.abort.percentage.value:g} % fail" if fault.abort and fault.abort.percentage else ""
    return " and ".join(part for part in (delay, abort) if part) or "none"


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"


def _conditions(retries: Retries) -> str:
    words, codes = retry_on(retries.retry_on)
    return ",".join([*sorted(words.split(",")), *map(str, sorted(codes))])


_POLICY: Mapping[str, Callable[[Policy], str]] = {
    "connectionPool.tcp.connectTimeout": _pool(lambda pool: _span(pool.connect_timeout or CONNECT_TIMEOUT)),
    "connectionPool.tcp.maxConnectionDuration": _pool(lambda pool: _span(pool.max_connection_duration)),
    "connectionPool.http.idleTimeout": _pool(lambda pool: _span(pool.idle_timeout)),
    "connectionPool.http.maxRetries": _pool(lambda pool: str(pool.max_retries or NO_LIMIT)),
    "retryBudget": _budget,
    "outlierDetection": _outlier,
}
_ROUTE: Mapping[str, Callable[[HttpRoute], str]] = {
    "timeout": lambda route: _span(route.timeout),
    "fault": _fault,
    "retries.attempts": _retried(lambda retries: str(retries.attempts)),
    "retries.retryOn": _retried(_conditions),
    "retries.perTryTimeout": _retried(lambda retries: _span(retries.per_try_timeout)),
    "retries.backoff": _retried(lambda retries: _span(retries.backoff)),
    "retries.retryIgnorePreviousHosts": _retried(lambda retries: _yes(retries.ignore_previous_hosts is not False)),
    "retries.retryRemoteLocalities": _retried(lambda retries: _yes(retries.remote_localities)),
}
