"""The grammar of failures on purpose."""

from datetime import timedelta

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.runtime.faults import Crash, Delay, Fail, FaultError, Refuse, When, parse_call_faults, parse_faults

UNAVAILABLE, INTERNAL = grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param("errors", Fail(UNAVAILABLE, 0.3), id="a kind alone has its defaults"),
        pytest.param("errors:0.5", Fail(UNAVAILABLE, 0.5), id="a bare number is a share"),
        pytest.param("errors:30%", Fail(UNAVAILABLE, 0.3), id="a percentage is a share"),
        pytest.param("errors:0.3:UNAVAILABLE", Fail(UNAVAILABLE, 0.3), id="a bare word in capitals is a status"),
        pytest.param("errors:1:DATA_LOSS", Fail(grpc.StatusCode.DATA_LOSS, 1), id="any status that fails"),
        pytest.param("internal", Fail(INTERNAL, 0.2), id="internal has its own defaults"),
        pytest.param("internal:0.2", Fail(INTERNAL, 0.2), id="internal with a share"),
        pytest.param("internal:when=after-headers", Fail(INTERNAL, 0.2, When.AFTER_HEADERS), id="after headers"),
        pytest.param("first=2", Fail(UNAVAILABLE, 1, first=2), id="without a kind it is an error of share 1"),
        pytest.param("errors:first=2", Fail(UNAVAILABLE, 1, first=2), id="the first tries fail for certain"),
        pytest.param("errors:first=2,share=0.5", Fail(UNAVAILABLE, 0.5, first=2), id="unless a share is given"),
        pytest.param(
            "first=2,status=UNAVAILABLE,when=before-headers", Fail(UNAVAILABLE, 1, first=2), id="fields by commas"
        ),
        pytest.param("delay", Delay(timedelta(milliseconds=200)), id="delay alone delays all"),
        pytest.param("delay:50ms", Delay(timedelta(milliseconds=50)), id="a bare duration is the delay"),
        pytest.param("delay:1.5s:5%", Delay(timedelta(seconds=1.5), 0.05), id="a tail share"),
        pytest.param("delay=1m", Delay(timedelta(minutes=1)), id="a delay needs no kind"),
        pytest.param("internal:4%:for=20s", Fail(INTERNAL, 0.04, lasts=timedelta(seconds=20)), id="a fault that heals"),
        pytest.param(
            "delay:50ms,for=1m", Delay(timedelta(milliseconds=50), lasts=timedelta(minutes=1)), id="a delay that heals"
        ),
        pytest.param("refuse", Refuse(), id="refuse at once"),
        pytest.param("refuse:5s", Refuse(timedelta(seconds=5)), id="refuse later"),
        pytest.param("crash", Crash(requests=5), id="crash alone counts to five"),
        pytest.param("crash:100", Crash(requests=100), id="a bare number of crash counts requests"),
        pytest.param("crash:after=4s", Crash(after=timedelta(seconds=4)), id="crash by time"),
        pytest.param("crash:4s", Crash(after=timedelta(seconds=4)), id="crash by bare time"),
        pytest.param(" errors : 0.5 ", Fail(UNAVAILABLE, 0.5), id="blanks do not matter"),
    ],
)
def test_one_fault(text, fault):
    assert parse_faults(text) == [fault]


def test_several_faults_stand_side_by_side():
    assert parse_faults("delay:50ms; errors:0.1") == [Delay(timedelta(milliseconds=50)), Fail(UNAVAILABLE, 0.1)]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        pytest.param("errors:1.5", ["share '1.5' is not between 0 and 1"], id="more than all"),
        pytest.param("errors:share=nan", ["share 'nan' is not a number like 0.3 or 30%"], id="not a number"),
        pytest.param("errors:OK", ["'OK' is not a gRPC status that fails"], id="OK is no failure"),
        pytest.param("errors:BROKEN", ["'BROKEN' is not a gRPC status that fails"], id="no such status"),
        pytest.param("delay:200", ["share '200' is not between 0 and 1"], id="a duration needs its unit"),
        pytest.param("delay=2h", ["'2h' is not a duration like 200ms, 5s or 1m"], id="no such unit"),
        pytest.param("delay=61m", ["'61m' is longer than an hour"], id="too long"),
        pytest.param("first=0", ["'0' is not a whole number from 1 up"], id="no try at all"),
        pytest.param("errors:for=20", ["'20' is not a duration like 200ms, 5s or 1m"], id="for how long needs a unit"),
        pytest.param("when=later", ["when='later' is neither before-headers nor after-headers"], id="no such moment"),
        pytest.param(
            "errors:2:OK:when=now",
            [
                "share '2' is not between 0 and 1",
                "'OK' is not a gRPC status that fails",
                "when='now' is neither before-headers nor after-headers",
            ],
            id="all mistakes of a fault at once",
        ),
        pytest.param("errors:2;crash:0", ["share '2'", "'0' is not a whole number"], id="all mistakes of all faults"),
    ],
)
def test_every_mistake_is_named(text, problems):
    with pytest.raises(FaultError) as refused:
        parse_faults(text)
    assert len(refused.value.problems) == len(problems)
    for said, expected in zip(refused.value.problems, problems, strict=True):
        assert expected in said


@pytest.mark.parametrize("text", ["", "explode", "errors:delay=1s", "refuse:share=1", "crash:status=OK", "errors;;"])
def test_what_a_kind_does_not_take_is_refused_with_what_it_takes(text):
    with pytest.raises(FaultError, match=r"is no part of .* takes"):
        parse_faults(text)


def test_one_request_cannot_end_the_process():
    with pytest.raises(FaultError, match="concern the process"):
        parse_call_faults("first=1;crash")
    assert parse_call_faults("first=1;delay:1ms") == [Fail(UNAVAILABLE, 1, first=1), Delay(timedelta(milliseconds=1))]


@given(st.text())
def test_any_text_is_a_fault_or_a_fault_error(text):
    try:
        outcome = parse_faults(text)
    except FaultError as refused:
        outcome = refused.problems
    assert outcome
