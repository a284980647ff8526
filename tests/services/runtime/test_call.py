"""What does a process know about the call that it serves?"""

import pytest

from services.runtime.call import annotate, begin_call, current_call


@pytest.mark.parametrize(
    ("header", "attempt"),
    [("", 1), ("1", 1), ("3", 3), ("1,7", 7), ("7, 2", 2), ("0", 1), (",", 1)],
)
def test_the_attempt_is_the_last_count_and_never_below_one(header, attempt):
    call = begin_call("/s/m", [("x-envoy-attempt-count", header)] if header else [], None)
    assert call.attempt == attempt
    assert call.attempt_text == header


@pytest.mark.parametrize("header", ["-1", "many", "²", "1\n", "1" * 65])
def test_what_is_no_count_is_not_sent_back(header):
    call = begin_call("/s/m", [("x-envoy-attempt-count", header)], None)
    assert (call.attempt, call.attempt_text) == (1, "")


def test_the_current_call_collects_facts_and_time():
    call = begin_call("/s/m", [("x-request-id", "r1")], 60)
    annotate(pair="en-es")
    assert current_call() is call
    assert call.request_id == "r1"
    assert call.facts == {"pair": "en-es"}
    assert 59 < call.remaining_s() <= 60
    assert begin_call("/s/m", [], 0).remaining_s() == 0
