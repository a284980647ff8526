"""What one series of Istio's counts: the table of labels, and which part of a reading they add to."""

import pytest

from control.adapters.prometheus.slots import (
    Part,
    Slot,
    code,
    duration_slots,
    request_slots,
    stratum,
    try_slots,
)
from control.engine.readings import PodKey, SeriesKey

GATEWAY = {"source_workload": "gateway", "source_workload_namespace": "edge", "destination_version": "v2"}
OK = {**GATEWAY, "response_code": "200", "grpc_response_status": "0", "response_flags": "-"}
FAILED = {**OK, "grpc_response_status": "14"}
LEFT = {**OK, "response_code": "0", "grpc_response_status": "", "response_flags": "DC"}
KEY, POD = SeriesKey("v2", "p", "gateway.edge"), PodKey("v2", "p")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param({"grpc_response_status": "0", "response_code": "200"}, 0, id="a good gRPC call"),
        pytest.param(
            {"grpc_response_status": "14", "response_code": "200"}, 14, id="a failed gRPC call is an HTTP 200"
        ),
        pytest.param({"grpc_response_status": "5", "response_code": "503"}, 5, id="the gRPC status decides"),
        pytest.param({"grpc_response_status": "odd", "response_code": "200"}, 2, id="a status that is none"),
        pytest.param({"grpc_response_status": "0", "response_flags": "DC"}, 1, id="the caller left"),
        pytest.param({"response_code": "0", "response_flags": "UT,DC"}, 1, id="the caller left, among other flags"),
        pytest.param({"response_code": "504", "response_flags": "UT"}, 4, id="a timeout is no caller's leaving"),
        pytest.param({"response_code": "0", "response_flags": "UC"}, 14, id="reset without an answer"),
        pytest.param({"request_protocol": "grpc", "response_code": "200"}, 2, id="a gRPC answer without a status"),
        pytest.param({"request_protocol": "http", "response_code": "200"}, 0, id="HTTP 200"),
        pytest.param({"response_code": "302"}, 0, id="HTTP 302"),
        pytest.param({"response_code": "404"}, 5, id="HTTP 404 blames the caller"),
        pytest.param({"response_code": "418"}, 9, id="another 4xx too"),
        pytest.param({"response_code": "499"}, 1, id="HTTP 499"),
        pytest.param({"response_code": "500"}, 13, id="HTTP 500"),
        pytest.param({"response_code": "503"}, 14, id="HTTP 503"),
        pytest.param({"response_code": "599"}, 2, id="another 5xx"),
        pytest.param({}, 14, id="nothing is known of how it ended"),
    ],
)
def test_how_a_request_ended(labels: dict[str, str], expected: int) -> None:
    assert code(labels) == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"source_workload": "gateway", "source_workload_namespace": "edge"}, "gateway.edge"),
        ({"source_workload": "unknown", "source_workload_namespace": "unknown"}, "unknown"),
        ({}, "unknown"),
    ],
)
def test_who_sends(labels: dict[str, str], expected: str) -> None:
    assert stratum(labels) == expected


def test_a_source_counts_ends() -> None:
    assert request_slots(FAILED, "p") == ((Slot(Part.ENDED, KEY, 14), 1),)


def test_a_destination_counts_tries_and_those_that_it_is_to_blame_for() -> None:
    assert try_slots(FAILED, "p", as_retries=False) == ((Slot(Part.TRIES, POD), 1), (Slot(Part.BAD_TRIES, POD), 1))
    assert try_slots(OK, "p", as_retries=False) == ((Slot(Part.TRIES, POD), 1), (Slot(Part.BAD_TRIES, POD), 0))
    assert try_slots(LEFT, "p", as_retries=False) == ()


def test_failed_tries_stand_for_retries_where_nobody_counts_those() -> None:
    assert (Slot(Part.RETRIES, KEY), 1) in try_slots(FAILED, "p", as_retries=True)
    assert (Slot(Part.RETRIES, KEY), 0) in try_slots(OK, "p", as_retries=True), "known from its first good try on"


def test_who_left_was_not_answered_fast() -> None:
    assert duration_slots({**OK, "le": "250"}, "p") == ((Slot(Part.LATENCY, KEY, 250), 1),)
    assert duration_slots({**OK, "le": "+Inf"}, "p") == ((Slot(Part.LATENCY, KEY, float("inf")), 1),)
    assert duration_slots({**LEFT, "le": "250"}, "p") == ()
