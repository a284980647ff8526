"""What does each process's page of metrics say? The counters of one simulated run, in the words of Istio.

The simulator knows who served a request and by which route it came, and no more. So each serving process has callers
of its own, one a route, who call nobody else: their pages tell how requests ended (`reporter="source"`), the serving
process's own page what it tried (`reporter="destination"`). When it restarts, all of them count from 0; when it is not
scraped, none of them is.

What is told differs from the vectorised mode where Istio's words do: a serving process counts tries and not requests,
and says nothing of how long each took.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.bench.canary.rates import ABANDONED, EDGES_MS, FAILED, REQUESTS, RETRIED, SLOW
from tests.bench.canary.telemetry import Seen, Telemetry

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Labels = tuple[tuple[str, str], ...]
"""Names and values of a series, its metric's name as `__name__`, in order."""
Page = Mapping[Labels, int]

NAMESPACE, SERVICE, HOST = "default", "translator", "translator.default.svc.cluster.local"
STABLE, CANARY = "v1", "v2"
CALLERS = ("gateway", "partner")
"""Who sends by each route."""
GOOD, BAD, LEFT, AGAIN, MEASURED = range(5)
"""Where each is counted: answers, failures, requests whose callers left, retries, durations; from there on the edges,
cumulative.
"""
ENDS = {
    GOOD: {"response_code": "200", "grpc_response_status": "0", "response_flags": "-"},
    BAD: {"response_code": "200", "grpc_response_status": "13", "response_flags": "-"},
    LEFT: {"response_code": "0", "grpc_response_status": "", "response_flags": "DC"},
}


@dataclass(frozen=True, slots=True)
class Scrape:
    """What a scrape found: each target's page, None where the target did not answer. `answers`: does Prometheus?"""

    pages: Mapping[str, Page | None]
    answers: bool


@dataclass(frozen=True, slots=True, eq=False)
class Pages:
    """All pages of one run. `counted` (routes, processes, numbers) since each process began; `read` (processes,):
    whether the last tick's scrape of it would succeed.
    """

    stable: int
    counted: Floats
    read: Bools
    answers: bool = True

    @classmethod
    def fresh(cls, layout: tuple[int, int, int]) -> "Pages":
        stable, canary, routes = layout
        return cls(stable, np.zeros((routes, stable + canary, MEASURED + 1 + len(EDGES_MS))), np.ones(0, bool))

    def after(self, before: Telemetry, brought: Floats, seen: Seen, then: Telemetry) -> "Pages":
        """The pages after a tick: what `brought` counted (runs, routes, processes, channels) and telemetry made of it.

        A process that lost counts began anew. One that still has some to tell was not scraped.
        """
        lost = (before.waiting + brought - seen.counts - then.waiting)[0].any(axis=(0, 2))
        grown = np.where(lost[:, None], 0.0, self.counted + _numbers(seen.counts[0]))
        known = np.repeat([seen.answers[0], seen.canary_answers[0]], (self.stable, grown.shape[1] - self.stable))
        return Pages(self.stable, grown, known & ~then.waiting[0].any(axis=(0, 2)), bool(seen.answers[0]))

    def scrape(self) -> Scrape:
        """Every target's page, by name."""
        found: dict[str, Page | None] = {}
        for process, read in enumerate(self.read):
            version = STABLE if process < self.stable else CANARY
            name = f"{version}-{process if process < self.stable else process - self.stable}"
            for route, caller in enumerate(CALLERS[: len(self.counted)]):
                page = _calls(f"{caller}-{name}", caller, version, self.counted[route, process])
                found[f"{caller}-{name}"] = page if read else None
            page = _serves(f"{SERVICE}-{name}", version, self.counted[:, process])
            found[f"{SERVICE}-{name}"] = page if read else None
        return Scrape(found, self.answers)


def _numbers(counts: Floats) -> Floats:
    """Increments by channel as increments of what pages tell (routes, processes, numbers). None is ever negative."""
    failed, edges = counts[..., FAILED], counts[..., SLOW:]
    left = np.clip(counts[..., ABANDONED], 0.0, np.maximum(counts[..., REQUESTS] - failed, 0.0))
    good = np.maximum(counts[..., REQUESTS] - failed - left, 0.0)
    measured = (good + failed)[..., None]
    below = measured - np.minimum(edges, measured)
    few = np.stack([good, failed, left, counts[..., RETRIED]], axis=-1)
    return np.concatenate([few, measured, below], axis=-1)


def _calls(pod: str, caller: str, version: str, counted: Floats) -> Page:
    """What a caller's proxy counted. As in Istio a series appears with its first count; a cluster's is always there."""
    common = {"reporter": "source", "source_workload": caller, **_about(pod, version)}
    page = {_labels("istio_requests_total", common | ENDS[end]): int(counted[end]) for end in ENDS}
    edges = zip(
        (*(f"{edge:g}" for edge in EDGES_MS), "+Inf"), (*counted[MEASURED + 1 :], counted[MEASURED]), strict=True
    )
    name = "istio_request_duration_milliseconds_bucket"
    page |= {_labels(name, common | ENDS[GOOD] | {"le": edge}): int(n) for edge, n in edges if counted[MEASURED]}
    cluster = {"cluster_name": f"outbound|50051|{version}|{HOST}", **_target(pod)}
    retries = {_labels("envoy_cluster_upstream_rq_retry", cluster): int(counted[AGAIN])}
    return dict(_begun(page)) | retries


def _serves(pod: str, version: str, counted: Floats) -> Page:
    """What a serving process counted, of all callers: each try of a request."""
    good, bad, left, again, *_ = counted.sum(axis=0)
    common = {"reporter": "destination", "source_workload": "unknown", **_about(pod, version)}
    tries = {GOOD: good, BAD: bad + again, LEFT: left}
    return dict(_begun({_labels("istio_requests_total", common | ENDS[end]): int(n) for end, n in tries.items()}))


def _begun(page: Page) -> Iterator[tuple[Labels, int]]:
    return ((labels, n) for labels, n in page.items() if n or dict(labels).get("le"))


def _about(pod: str, version: str) -> dict[str, str]:
    return {
        "source_workload_namespace": NAMESPACE,
        "destination_service": HOST,
        "destination_version": version,
        "request_protocol": "grpc",
        **_target(pod),
    }


def _target(pod: str) -> dict[str, str]:
    return {"pod": pod, "namespace": NAMESPACE, "instance": pod}


def _labels(metric: str, labels: Mapping[str, str]) -> Labels:
    return tuple(sorted({"__name__": metric, **labels}.items()))
