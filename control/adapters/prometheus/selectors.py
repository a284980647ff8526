"""Which queries are sent for the built-in counters? Range selectors over the names of services and versions. Pure.

| family | query | what for |
|---|---|---|
| requests | `istio_requests_total`, both reporters | final outcomes (source), every try (destination) |
| durations | `istio_request_duration_milliseconds_bucket`, reporter=source | latency as callers see it |
| retries | `envoy_cluster_upstream_rq_retry` | tries after the first one, where the proxies publish them |
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from promql_parser import VectorSelector, parse

REQUESTS = "istio_requests_total"
DURATIONS = "istio_request_duration_milliseconds_bucket"
RETRIES = "envoy_cluster_upstream_rq_retry"
CLUSTER = re.compile(r"outbound\|\d+\|(?P<version>[^|;]+)\|(?P<service>[^|;]+);?")
"""Istio's name of a version's cluster; its label is `cluster_name`."""
SIGNS = re.compile(r"[\\.+*?()|\[\]{}^$]")
"""What means something in a regular expression."""


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """Whose counters: a service's full host name, and versions of it."""

    service: str
    versions: tuple[str, ...]


def requests(subjects: Iterable[Subject], window: timedelta) -> str:
    return _istio(REQUESTS, "source|destination", subjects, window)


def durations(subjects: Iterable[Subject], window: timedelta) -> str:
    return _istio(DURATIONS, "source", subjects, window)


def retries(subjects: Iterable[Subject], window: timedelta) -> str:
    services, versions = _names(subjects)
    cluster = rf"outbound\|[0-9]+\|({versions})\|({services});?"
    return f"{RETRIES}{{cluster_name=~{quoted(cluster)}}}{span(window)}"


def up(instances: Iterable[str], window: timedelta) -> str:
    """Whether these targets could be scraped. Prometheus itself writes it, for as long as it knows a target."""
    return f"up{{instance=~{quoted(any_of(instances))}}}{span(window)}"


def reaching(queries: Sequence[str], window: timedelta, step: timedelta) -> list[str]:
    """Counters' queries so that they reach back over the window: plain selectors bring the samples themselves. If any
    of them is more than a selector (a sum of two counters), all are evaluated at the same moments, a step apart.

    Examples: a and b are a[45000ms] and b[45000ms]; a and b + c are (a)[45000ms:15000ms] and (b + c)[45000ms:15000ms].
    Raises: ValueError for what is no PromQL.
    """
    if all(isinstance(parse(each), VectorSelector) for each in queries):
        return [each + span(window) for each in queries]
    steps = f"{span(window)[:-1]}:{span(step)[1:]}"
    return [f"({each}){steps}" for each in queries]


def span(window: timedelta) -> str:
    """Example: 45 s is [45000ms]."""
    return f"[{round(window / timedelta(milliseconds=1))}ms]"


def any_of(names: Iterable[str]) -> str:
    """A regular expression (RE2, anchored by Prometheus) for exactly these names.

    Example: a.default and b are a\\.default|b.
    """
    return "|".join(SIGNS.sub(r"\\\g<0>", name) for name in sorted(set(names)))


def quoted(text: str) -> str:
    """A string of PromQL. Example: a\\.b is "a\\\\.b"."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _istio(metric: str, reporter: str, subjects: Iterable[Subject], window: timedelta) -> str:
    services, versions = _names(subjects)
    labels = {"reporter": reporter, "destination_service": services, "destination_version": versions}
    return f"{metric}{{{','.join(f'{name}=~{quoted(value)}' for name, value in labels.items())}}}{span(window)}"


def _names(subjects: Iterable[Subject]) -> tuple[str, str]:
    found = list(subjects)
    return any_of(each.service for each in found), any_of(name for each in found for name in each.versions)
