"""Answers of Prometheus become series; everything else is refused in words."""

import math

import pytest

from control.adapters.prometheus.answer import NoAnswer, QueryRefused, Series, series_of

MATRIX = b"""{"status": "success", "data": {"resultType": "matrix", "result": [
    {"metric": {"__name__": "up", "job": "a"}, "values": [[1701.123, "1"], [1702.5, "NaN"]]},
    {"metric": {"__name__": "up", "job": "b"}}]}}"""
VECTOR = b"""{"status": "success", "data": {"resultType": "vector", "result": [
    {"metric": {}, "value": [1701, "2.5"]}]}}"""
SCALAR = b'{"status": "success", "data": {"resultType": "scalar", "result": [1701, "7"]}}'


def test_samples_keep_the_time_of_their_scrape_to_the_millisecond() -> None:
    (series,) = series_of(MATRIX)
    assert series.labels == {"__name__": "up", "job": "a"}
    assert [time for time, _ in series.samples] == [1701123, 1702500]
    assert math.isnan(series.last[1])


def test_one_value_is_a_series_of_one_sample() -> None:
    assert series_of(VECTOR) == (Series({}, ((1701000, 2.5),)),)
    assert series_of(SCALAR) == (Series({}, ((1701000, 7.0),)),)


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ('{"status":"error","errorType":"bad_data","error":"parse error"}', QueryRefused, "parse error"),
        ('{"status":"error","errorType":"execution","error":"many-to-many"}', QueryRefused, "many-to-many"),
        ('{"status":"error","errorType":"timeout","error":"query timed out"}', NoAnswer, "timed out"),
        ('{"status":"success","data":{"resultType":"string","result":[1,"x"]}}', QueryRefused, "string"),
        ('{"status":"success","warnings":["store down"],"data":{}}', NoAnswer, "store down"),
        ("<html>login</html>", NoAnswer, "not what a Prometheus answers"),
        ("[]", NoAnswer, "not what a Prometheus answers"),
        ('{"status":"success","data":{"resultType":"matrix","result":[{"values":[]}]}}', NoAnswer, "not what"),
        (
            '{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"x"]}]}}',
            NoAnswer,
            "not",
        ),
    ],
    ids=["syntax", "execution", "time-out", "a string", "half an answer", "a page", "a list", "no labels", "no number"],
)
def test_what_is_no_answer_is_refused(text: str, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        series_of(text)
