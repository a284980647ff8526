"""Whose counters are in an answer, and what do they count? Istio's series of one shift by process. Pure."""

from collections.abc import Iterable, Mapping

from control.adapters.prometheus.answer import Labels, Series
from control.adapters.prometheus.grouped import Table
from control.adapters.prometheus.selectors import CLUSTER, Subject
from control.adapters.prometheus.slots import (
    SOURCE,
    Slots,
    duration_slots,
    request_slots,
    retry_slots,
    stratum,
    try_slots,
)
from control.adapters.prometheus.streams import Stream, counters, process, streams


def by_service(series: Iterable[Series]) -> dict[str, tuple[Series, ...]]:
    """Series by the service that they are about."""
    found: dict[str, list[Series]] = {}
    for each in series:
        found.setdefault(_service(each.labels), []).append(each)
    return {service: tuple(members) for service, members in found.items()}


def retries_are_counted(table: Table, subject: Subject) -> bool:
    """Does any proxy publish how often it tried again?"""
    return any(_of_cluster(each.labels)[0] in subject.versions for each in table.retries.get(subject.service, ()))


def counted(table: Table, subject: Subject, *, by_envoy: bool) -> dict[str, Stream]:
    """The streams of one shift by process. `by_envoy`: retries are counted themselves; else failed tries stand in."""
    requests = _about(subject, table.requests)
    senders = {process(each.labels): stratum(each.labels) for each in requests if _at_source(each.labels)}

    def of_request(labels: Labels, name: str) -> Slots:
        return request_slots(labels, name) if _at_source(labels) else try_slots(labels, name, as_retries=not by_envoy)

    def of_retry(labels: Labels, name: str) -> Slots:
        version = _of_cluster(labels)[0]
        known = by_envoy and name in senders and version in subject.versions
        return retry_slots(version, name, senders[name]) if known else ()

    return streams(
        counters(requests, process, of_request),
        counters(_about(subject, table.durations), process, duration_slots),
        counters(table.retries.get(subject.service, ()), process, of_retry),
    )


def _about(subject: Subject, series: Mapping[str, tuple[Series, ...]]) -> list[Series]:
    return [
        each for each in series.get(subject.service, ()) if each.labels.get("destination_version") in subject.versions
    ]


def _at_source(labels: Labels) -> bool:
    return labels.get("reporter") == SOURCE


def _service(labels: Labels) -> str:
    return labels.get("destination_service") or _of_cluster(labels)[1]


def _of_cluster(labels: Labels) -> tuple[str, str]:
    """Version and service of a cluster's series; empty for another cluster."""
    found = CLUSTER.fullmatch(labels.get("cluster_name", ""))
    return (found["version"], found["service"]) if found else ("", "")
