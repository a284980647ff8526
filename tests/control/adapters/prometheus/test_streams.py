"""Samples become scrapes, scrapes become readings: exact moments, nothing twice, resets kept."""

from datetime import UTC, datetime, timedelta

import pytest

from control.adapters.prometheus.answer import Series
from control.adapters.prometheus.readings import readings
from control.adapters.prometheus.rounds import counted, rounds
from control.adapters.prometheus.slots import Part, Slot, Slots
from control.adapters.prometheus.streams import Stream, counters, process, streams, trimmed
from control.engine.readings import PodKey, SeriesKey

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def at(second: float) -> datetime:
    return EPOCH + timedelta(seconds=second)


def ended(code: str, instance: str, **samples: int) -> Series:
    """A counter with its value at each second, as s1=5."""
    return Series({"instance": instance, "code": code}, tuple((int(s[1:]) * 1000, n) for s, n in samples.items()))


def slots(labels, name: str) -> Slots:  # type: ignore[no-untyped-def]
    return ((Slot(Part.ENDED, SeriesKey("v1", name, "gw"), int(labels["code"])), 1),)


def of(*series: Series) -> dict[str, Stream]:
    return streams(counters(series, process, slots))


def summary(series: list[Series], since: float | None) -> list[tuple[float, dict[str, dict[int, int]]]]:
    found = readings(list(of(*series).values()), None if since is None else at(since), at(99))
    return [
        (each.at.timestamp(), {key.process: dict(counts.ended) for key, counts in each.series.items()})
        for each in (*found.earlier, found)
    ]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"instance": "10.0.0.1:15020", "pod": "shop-1", "namespace": "a"}, "a/shop-1"),
        ({"instance": "10.0.0.1:15020", "kubernetes_pod_name": "shop-1"}, "shop-1"),
        ({"instance": "10.0.0.1:15020", "pod": ""}, "10.0.0.1:15020"),
        ({}, ""),
    ],
    ids=["a pod in a namespace", "an older label", "no pod", "nothing"],
)
def test_whose_counter_it_is(labels: dict[str, str], expected: str) -> None:
    assert process(labels) == expected


ROUNDS = [
    ("none since the last look", [ended("0", "a", s1=5)], 1, [(1, {"a": {0: 5}})]),
    ("the first look has the newest only", [ended("0", "a", s1=5, s2=7)], None, [(2, {"a": {0: 7}})]),
    ("each scrape since then", [ended("0", "a", s1=5, s2=7, s3=9)], 1, [(2, {"a": {0: 7}}), (3, {"a": {0: 9}})]),
    (
        "scrapes of two processes make one round",
        [ended("0", "a", s1=5, s4=7), ended("0", "b", s2=1, s5=2)],
        0,
        [(2, {"a": {0: 5}, "b": {0: 1}}), (5, {"a": {0: 7}, "b": {0: 2}})],
    ),
    (
        "one that was not scraped anew has what it had",
        [ended("0", "a", s1=5, s4=7, s7=8), ended("0", "b", s2=1)],
        3,
        [(4, {"a": {0: 7}, "b": {0: 1}}), (7, {"a": {0: 8}, "b": {0: 1}})],
    ),
    ("a reset is kept", [ended("0", "a", s1=5, s2=1, s3=3)], 1, [(2, {"a": {0: 1}}), (3, {"a": {0: 3}})]),
    (
        "a series that begins later",
        [ended("0", "a", s1=5, s2=6), ended("14", "a", s2=1)],
        0,
        [(1, {"a": {0: 5}}), (2, {"a": {0: 6, 14: 1}})],
    ),
    (
        "one process scraped by two jobs",
        [ended("0", "a", s1=5), ended("0", "a", s2=6)],
        0,
        [(1, {"a": {0: 5}}), (2, {"a": {0: 6}})],
    ),
    ("NaN is no sample", [ended("0", "a", s1=5, s2=float("nan"))], 0, [(1, {"a": {0: 5}})]),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(
    ("series", "since", "expected"), [each[1:] for each in ROUNDS], ids=[each[0] for each in ROUNDS]
)
def test_readings_by_scrape(series: list[Series], since: float | None, expected: object) -> None:
    assert summary(series, since) == expected


def test_without_any_scrape_nothing_is_newer() -> None:
    assert summary([], 5) == [(5, {})]
    assert summary([], None) == [(99, {})]
    assert rounds([], None) == ()


def test_a_round_waits_for_those_that_are_awaited_until_the_next_one_begins() -> None:
    a, b = (of(each)[each.labels["instance"]] for each in (ended("0", "a", s1=1, s4=2), ended("0", "b", s2=1)))
    assert rounds([a, b], 0, [a, b]) == (2000,), "b's next scrape is still to come"
    assert rounds([a, b], 0, [a]) == (2000, 4000)
    assert rounds([a, b], 2000, [a, b]) == ()
    (late,) = of(ended("0", "a", s1=1, s4=2, s7=3)).values()
    assert rounds([late, b], 2000, [late, b]) == (4000,)


def test_a_scrape_that_one_family_does_not_have_yet_is_left_for_the_next_look() -> None:
    requests = counters([ended("0", "a", s1=5, s2=9), ended("0", "b", s2=1)], process, slots)
    durations = counters([ended("1", "a", s1=5)], process, slots)
    found = streams(requests, durations)
    assert {name: stream.times for name, stream in found.items()} == {"a": (1000,), "b": (2000,)}


def test_two_series_of_one_number_are_added_up() -> None:
    (stream,) = of(ended("0", "a", s1=5), ended("0", "a", s1=3)).values()
    assert stream.at(1000) == {Slot(Part.ENDED, SeriesKey("v1", "a", "gw"), 0): 8}


def test_the_newest_scrape_alone() -> None:
    (stream,) = of(ended("0", "a", s1=5, s2=7), ended("14", "a", s1=1)).values()
    assert (trimmed(stream).times, trimmed(stream).at(2000)) == ((2000,), stream.at(2000))
    assert counted([trimmed(stream)], 1000) == {}


def test_every_part_finds_its_place() -> None:
    key, pod = SeriesKey("v1", "a", "gw"), PodKey("v1", "a")

    def all_parts(_labels: object, _name: str) -> Slots:
        plain = (Slot(Part.ENDED, key, 7), Slot(Part.RETRIES, key), Slot(Part.LATENCY, key, 7))
        served = (Slot(Part.TRIES, pod), Slot(Part.BAD_TRIES, pod))
        own = (Slot(Part.TOTAL, key, metric="m"), Slot(Part.BAD, key, metric="m"), Slot(Part.BUCKET, key, 7, "m"))
        return tuple((slot, 1) for slot in (*plain, *served, *own))

    found = readings(list(streams(counters([ended("0", "a", s1=5)], process, all_parts)).values()), None, at(9))
    counts = found.series[key]
    assert (counts.ended, counts.retries, counts.latency_ms, counts.in_flight) == ({7: 5}, 5, {7.0: 5}, None)
    assert (found.pods[pod].n, found.pods[pod].bad) == (5, 5)
    assert (found.ratios["m"][key].n, found.ratios["m"][key].bad) == (5, 5)
    assert found.histograms["m"][key] == {7.0: 5}
    assert set(found.series) == {key}
