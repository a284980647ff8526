"""Whatever a source answers, and whenever: nothing counts twice, nothing is lost but what is told, nothing is NaN."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from math import inf
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from control.engine.codec import Numbers
from control.engine.cursor import Cursor
from control.engine.evidence import Tide, findings
from control.engine.increments import LATENCY, increments
from control.engine.learn import learn
from control.engine.readings import Counts, PodCounts, PodKey, Ratio, Reading, SeriesKey
from control.engine.settle import Past, settled
from control.engine.state import Flow, ShiftState, Window
from control.engine.terms import terms_of
from control.spec import HistogramQuery, RatioQuery, UserMetric
from tests.support.fake_ports import START
from tests.support.shifts import by_evidence
from tests.support.situations import seen, state

lawful = settings(max_examples=80, deadline=None)
OWN = (
    UserMetric("misses", RatioQuery("a", "b")),
    UserMetric("ttft", HistogramQuery("c", edges_ms=(100.0, 250.0))),
)
SHIFT = replace(by_evidence(), metrics=(*by_evidence().metrics, *OWN))
VERSIONS, PROCESSES = ("v1", "v2"), ("gw#1", "gw#2", "sc#1", "pod")

odd = st.sampled_from([float("nan"), inf, -inf, -1, -(10**12), 10**12, 1e18, 0.5])
counter = st.one_of(st.integers(0, 10_000), st.integers(0, 10_000), odd)
edges = st.sampled_from([50.0, 100.0, 250.0, 300.0, inf])
buckets = st.dictionaries(edges, counter)
keys = st.builds(
    lambda version, process: SeriesKey(version, process, process.partition("#")[0]),
    st.sampled_from(VERSIONS),
    st.sampled_from(PROCESSES),
)
counts = st.builds(
    Counts,
    ended=st.dictionaries(st.sampled_from([0, 1, 3, 14]), counter),
    retries=counter,
    in_flight=st.none() | counter,
    latency_ms=buckets,
)
readings = st.builds(
    Reading,
    at=st.integers(-100, 400).map(lambda seconds: START + timedelta(seconds=seconds)),
    series=st.dictionaries(keys, counts, max_size=5),
    unread=st.sets(st.sampled_from(["gw", "sc", "pod"])).map(tuple),
    pods=st.dictionaries(
        st.builds(PodKey, st.sampled_from(VERSIONS), st.sampled_from(["a", "b"]), st.sampled_from(["", "gw#1"])),
        st.builds(PodCounts, counter, counter),
        max_size=4,
    ),
    ratios=st.fixed_dictionaries({}, optional={"misses": st.dictionaries(keys, st.builds(Ratio, counter, counter))}),
    histograms=st.fixed_dictionaries({}, optional={"ttft": st.dictionaries(keys, buckets)}),
    troubles=st.fixed_dictionaries({}, optional={"misses": st.just("several series where one was promised")}),
)
with_earlier = st.builds(
    lambda last, earlier: replace(last, earlier=tuple(earlier)), readings, st.lists(readings, max_size=2)
)


def begun(first: Reading) -> ShiftState:
    before = replace(state(), watched=None, tide=Numbers(), flow=Flow(), window=Window(), cursor=Cursor(), intent=None)
    known = learn(SHIFT, settled(SHIFT, before, first, 2, Past()), first, seen())
    return replace(known, intent=state().intent, acknowledged_at=START)


def reborn(found: ShiftState) -> ShiftState:
    return ShiftState.from_json(json.loads(json.dumps(found.to_json())))


@lawful
@given(st.lists(with_earlier, min_size=1, max_size=6))
def test_evidence_is_never_what_is_no_number(looks: list[Reading]) -> None:
    found = begun(looks[0])
    for each in looks[1:]:
        found = learn(SHIFT, found, each, seen())
    assert not np.isnan(found.tide.values).any()
    assert not np.isnan(found.sums.values).any()
    if found.tide.values and found.watched is not None:
        terms = terms_of(SHIFT, found.watched)
        said = findings(terms, Tide.of(terms, found.tide.values))
        assert not np.isnan([*said.log_harm[0], *said.log_proof[0], *said.log_total, *said.upper, *said.excess]).any()


@lawful
@given(st.lists(with_earlier, min_size=1, max_size=5))
def test_a_restart_anywhere_gives_the_same_bits(looks: list[Reading]) -> None:
    live = begun(looks[0])
    hunted = reborn(live)
    for each in looks[1:]:
        live, hunted = learn(SHIFT, live, each, seen()), reborn(learn(SHIFT, hunted, each, seen()))
    assert hunted == live


@lawful
@given(st.lists(with_earlier, min_size=2, max_size=5), st.data())
def test_a_reading_that_arrives_twice_changes_nothing(looks: list[Reading], data: st.DataObject) -> None:
    once = begun(looks[0])
    for each in looks[1:]:
        once = learn(SHIFT, once, each, seen())
    assert learn(SHIFT, once, looks[-1], seen()).tide == once.tide
    late = data.draw(st.sampled_from(looks))
    if once.cursor.at is not None and timedelta(0) <= once.cursor.at - late.at <= timedelta(minutes=1):
        assert learn(SHIFT, once, late, seen()).tide == once.tide


@lawful
@given(st.lists(readings, min_size=1, max_size=6))
def test_what_is_new_is_never_negative_and_never_more_than_was_counted(looks: list[Reading]) -> None:
    cursor, watched = Cursor(), {LATENCY: (100.0, 250.0), "ttft": (100.0, 250.0)}
    for each in looks:
        found, cursor = increments(cursor, each, watched)
        for new in found:
            assert all(min(one.requests, one.failures, one.retries, one.abandoned) >= 0 for one in new.tallies.values())
            assert all(began >= 0 for began in new.started.values())
            assert all(min(row) >= -1 for table in new.counts.values() for row in table.values())
            assert all(row[0] <= 10**10 for table in new.counts.values() for row in table.values())


class Source:
    """Counters that only ever grow, or begin anew under another name, and are read whenever somebody looks."""

    def __init__(self) -> None:
        self.happened = dict.fromkeys(("requests", "slow", "misses", "tries"), 0)
        self.now: dict[tuple[str, str], dict[str, int]] = {}
        self.incarnations = {"gw": 1, "sc": 1}

    def serve(self, proxy: str, version: str, n: int) -> None:
        row = self.now.setdefault((proxy, version), dict.fromkeys(self.happened, 0))
        for what, times in (("requests", 1), ("slow", 1), ("misses", 1), ("tries", 2)):
            row[what] += n * times
            self.happened[what] += n * times

    def restart(self, proxy: str) -> None:
        self.incarnations[proxy] += 1
        self.now = {key: row for key, row in self.now.items() if key[0] != proxy}

    def read(self, number: int, unread: str) -> Reading:
        series, ratios, pods = {}, {}, {}
        for proxy, incarnation in self.incarnations.items():
            for version in VERSIONS if proxy != unread else ():
                row = self.now.get((proxy, version), dict.fromkeys(self.happened, 0))
                key, name = SeriesKey(version, f"{proxy}#{incarnation}", proxy), f"{proxy}#{incarnation}"
                series[key] = Counts({0: row["requests"]}, latency_ms={100.0: 0, inf: row["slow"]})
                ratios[key] = Ratio(row["misses"], 0)
                pods[PodKey(version, f"{version}-0", name)] = PodCounts(row["tries"], 0)
        at = START + timedelta(seconds=5 * number)
        return Reading(at, series, (unread,) if unread else (), pods, ratios={"misses": ratios})


moves = st.one_of(
    st.tuples(st.just("serve"), st.sampled_from(["gw", "sc"]), st.sampled_from(VERSIONS), st.integers(0, 50)),
    st.tuples(st.just("restart"), st.sampled_from(["gw", "sc"])),
    st.tuples(st.just("read"), st.sampled_from(["", "", "gw", "sc"])),
    st.tuples(st.just("again")),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(moves, max_size=40))
def test_no_increment_counts_twice(history: list[tuple[Any, ...]]) -> None:
    """Traffic, restarts, unread moments and readings that arrive twice, in any order."""
    source, cursor, number = Source(), Cursor(), 0
    last = source.read(number, "")
    counted = dict.fromkeys(source.happened, 0)

    def learned(reading: Reading) -> None:
        nonlocal cursor
        found, cursor = increments(cursor, reading, {LATENCY: (100.0,)})
        for new in found:
            counted["requests"] += sum(each.requests for each in new.tallies.values())
            counted["slow"] += _all(new.counts.get(LATENCY, {}))
            counted["misses"] += _all(new.counts.get("misses", {}))
            counted["tries"] += _all(new.served["#pods"])

    learned(last)
    for move, *rest in history:
        if move == "read":
            number += 1
            last = source.read(number, *rest)
        if move in ("read", "again"):
            learned(last)
        else:
            getattr(source, move)(*rest)
        assert all(counted[what] <= happened for what, happened in source.happened.items())
    quiet = all(move in ("serve", "again") or rest == [""] for move, *rest in history)
    learned(source.read(number + 1, ""))
    if quiet:
        assert counted == source.happened


def _all(rows: Mapping[Any, tuple[int, ...]]) -> int:
    return sum(row[0] for row in rows.values())
