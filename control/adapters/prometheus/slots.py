"""What does one series of Istio's standard metrics count? Its labels as the slots that its value is added to. Pure.

Istio counts a request once at its source, as its caller saw it end, and each try of it once at its destination. A
gRPC status decides where there is one: a failed gRPC call is an HTTP 200. The response flag DC says that the caller
left before the answer.
"""

from dataclasses import dataclass
from enum import StrEnum

from control.adapters.prometheus.answer import Labels
from control.engine.readings import CANCELLED, SERVER_FAULTS, PodKey, SeriesKey

UNKNOWN, FAILED_PRECONDITION, UNAVAILABLE = 2, 9, 14
HTTP = {
    400: 3, 401: 16, 403: 7, 404: 5, 409: 10, 429: 8, 499: CANCELLED,
    500: 13, 501: 12, 502: UNAVAILABLE, 503: UNAVAILABLE, 504: 4,
}  # fmt: skip
"""Ends of plain HTTP as gRPC codes, as google.rpc.Code pairs them."""
SOURCE, DESTINATION = "source", "destination"


class Part(StrEnum):
    """Which number of a key a slot is. The last three belong to people's own metrics."""

    ENDED = "ended"
    RETRIES = "retries"
    LATENCY = "latency"
    TRIES = "tries"
    BAD_TRIES = "bad tries"
    TOTAL = "total"
    BAD = "bad"
    BUCKET = "bucket"


@dataclass(frozen=True, slots=True)
class Slot:
    """One number of a reading: whose, which, and at which code or edge. `metric` names a person's own metric."""

    part: Part
    key: SeriesKey | PodKey
    at: float = 0
    metric: str = ""


Slots = tuple[tuple[Slot, int], ...]
"""Slots, and what one count is worth in each: 1, or 0 to say only that the key is there."""


def code(labels: Labels) -> int:
    """How a request ended, as a gRPC code.

    Examples: a gRPC call that answers 200 with status 14 is 14; an HTTP 503 is 14; DC is 1; a reset without an answer
    (code 0) is 14.
    """
    if "DC" in labels.get("response_flags", "").split(","):
        return CANCELLED
    if status := labels.get("grpc_response_status", ""):
        return int(status) if status.isdecimal() else UNKNOWN
    answered = labels.get("response_code", "")
    of_http = _code_of_http(int(answered) if answered.isdecimal() else 0)
    return UNKNOWN if of_http == 0 and labels.get("request_protocol") == "grpc" else of_http


def _code_of_http(status: int) -> int:
    if status in HTTP:
        return HTTP[status]
    if status < 100:
        return UNAVAILABLE
    if status < 400:
        return 0
    return FAILED_PRECONDITION if status < 500 else UNKNOWN


def stratum(labels: Labels) -> str:
    """Who sends. Example: gateway.istio-system."""
    parts = (labels.get("source_workload", "unknown"), labels.get("source_workload_namespace", ""))
    return ".".join(each for each in parts if each and each != "unknown") or "unknown"


def request_slots(labels: Labels, process: str) -> Slots:
    """What a caller's proxy counted: requests by their end."""
    return ((Slot(Part.ENDED, _series_key(labels, process), code(labels)), 1),)


def duration_slots(labels: Labels, process: str) -> Slots:
    """How long callers waited for an answer; those that left before one are counted as abandoned, not as fast."""
    if code(labels) == CANCELLED:
        return ()
    return ((Slot(Part.LATENCY, _series_key(labels, process), float(labels["le"])), 1),)


def try_slots(labels: Labels, process: str, *, as_retries: bool) -> Slots:
    """What a serving proxy counted: its tries, and those that it is to blame for. `as_retries`: nobody counts retries
    themselves, so that failed tries stand for them.
    """
    ended = code(labels)
    pod, bad = PodKey(_version(labels), process), int(ended in SERVER_FAULTS)
    tries: Slots = () if ended == CANCELLED else ((Slot(Part.TRIES, pod), 1), (Slot(Part.BAD_TRIES, pod), bad))
    return (*tries, (Slot(Part.RETRIES, _series_key(labels, process)), bad)) if as_retries else tries


def retry_slots(version: str, process: str, sender: str) -> Slots:
    """What a caller's proxy sent beside first tries."""
    return ((Slot(Part.RETRIES, SeriesKey(version, process, sender)), 1),)


def _series_key(labels: Labels, process: str) -> SeriesKey:
    return SeriesKey(_version(labels), process, stratum(labels))


def _version(labels: Labels) -> str:
    return labels.get("destination_version", "")
