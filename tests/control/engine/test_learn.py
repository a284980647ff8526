"""A reading is used up once, for everything that it is used for, and what is learned from it survives a restart."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from math import inf
from typing import Any

import pytest

from control.engine.codec import Numbers
from control.engine.cursor import Cursor
from control.engine.evidence import Tide
from control.engine.learn import learn
from control.engine.observation import Observation, RouteNow
from control.engine.phase import Phase
from control.engine.readings import Counts, PodCounts, PodKey, Ratio, Reading, SeriesKey, Tally
from control.engine.settle import Past, settled
from control.engine.state import Flow, Guard, ShiftState, Window
from control.engine.terms import terms_of
from control.spec import Mode, RatioQuery, TrafficShift, UserMetric
from tests.support.fake_ports import START
from tests.support.shifts import by_evidence
from tests.support.situations import seen, state

POLL = timedelta(seconds=5)
MISSES = UserMetric("misses", RatioQuery("a", "b"))
SHIFT = replace(by_evidence(), metrics=(*by_evidence().metrics, MISSES))


def at(number: int) -> datetime:
    return START + number * POLL


def look(number: int, *, bad: int = 3, n: int = 30, version: str = "v2", **more: Any) -> Reading:
    """The counters after so many polls: 10 n a poll on v1 of which 3 bad, n on v2 of which `bad`, two gateways."""
    series, pods, misses = {}, {}, {}
    for each, all_of, failed in (("v1", 10 * n, 3), (version, n, bad)):
        for proxy in ("gw", "sc"):
            key, total = SeriesKey(each, f"{proxy}#1", proxy), number * all_of
            slow = {50.0: total * 7 // 10, 100.0: total * 95 // 100, 250.0: total * 99 // 100, inf: total}
            series[key] = Counts({0: number * (all_of - failed), 14: number * failed}, number, 0, 0, slow)
            pods[PodKey(each, f"{each}-0", f"{proxy}#1")] = PodCounts(total, number * failed)
            misses[key] = Ratio(total, number)
    return Reading(at(number), series, pods=pods, ratios={"misses": misses}, **more)


def running(wanted: TrafficShift = SHIFT, **changes: Any) -> ShiftState:
    """A run that has just begun: one look was taken, and what it compares is settled by it."""
    begun = replace(state(), watched=None, tide=Numbers(), flow=Flow(), window=Window(), cursor=Cursor(), intent=None)
    known = learn(wanted, settled(wanted, begun, look(100), 2, Past()), look(100), seen())
    return replace(known, intent=state().intent, acknowledged_at=at(100), **changes)


def through(
    before: ShiftState, *readings: Reading, wanted: TrafficShift = SHIFT, around: Observation | None = None
) -> ShiftState:
    for each in readings:
        before = learn(wanted, before, each, around or seen())
    return before


def tide(found: ShiftState, wanted: TrafficShift = SHIFT) -> Tide:
    assert found.watched is not None
    return Tide.of(terms_of(wanted, found.watched), found.tide.values)


def counted(found: ShiftState) -> dict[str, tuple[int, ...]]:
    """Canary requests, bad ones, stable's, bad ones by test."""
    assert found.watched is not None
    rows = tide(found).counts[0].astype(int).tolist()
    return {test.name: tuple(row) for test, row in zip(found.watched.tests, rows, strict=True)}


def test_every_metric_is_weighed() -> None:
    assert counted(through(running(), look(101), look(102))) == {
        "outcomes": (120, 12, 1200, 12),
        "attempts": (120, 4, 1200, 4),
        "abandoned": (120, 0, 1200, 0),
        "latency>50ms": (120, 36, 1200, 360),
        "latency>100ms": (120, 6, 1200, 60),
        "latency>250ms": (120, 2, 1200, 12),
        "misses": (120, 4, 1200, 4),
    }


def test_a_step_and_its_window_count_what_ended() -> None:
    found = through(running(), look(101), look(102))
    assert found.steps[-1].canary == Tally(120, 12, 4)
    assert (found.window.polls, found.window.canary, found.window.stable, found.window.compared) == (2, 120, 1200, 2)
    assert found.first_bad_at == at(101)


def test_looks_in_between_do_not_shorten_the_stay() -> None:
    found = running()
    for number in range(1, 11):
        hurried = replace(look(100 + number), at=at(100) + number * timedelta(seconds=1))
        found = through(found, hurried)
    assert (found.window.polls, found.window.compared) == (10, 2)


def test_a_reading_that_arrives_twice_changes_nothing() -> None:
    once = through(running(), look(101))
    assert through(once, look(101)) == once
    assert through(once, look(100)) == once


def test_a_poll_that_is_missing_changes_nothing_but_its_number() -> None:
    """What it would have brought is brought by the next one."""
    every, some = through(running(), look(101), look(102)), through(running(), look(102))
    assert counted(every) == counted(some)
    assert every.steps[-1].canary == some.steps[-1].canary
    assert every.cursor.tables == some.cursor.tables


def test_a_replayed_gap_is_what_would_have_been_seen() -> None:
    live = through(running(), *(look(number) for number in range(101, 106)))
    later = through(running(), look(101), replace(look(105), earlier=(look(103), look(102), look(101), look(104))))
    assert later == live


def test_a_restart_anywhere_gives_the_same_bits() -> None:
    live = reborn = running()
    for number in range(101, 131):
        live = through(live, look(number, bad=number % 5))
        reborn = ShiftState.from_json(json.loads(json.dumps(through(reborn, look(number, bad=number % 5)).to_json())))
    assert reborn.tide == live.tide
    assert reborn.sums == live.sums
    assert reborn == live


def test_nothing_is_weighed_before_the_run_has_begun() -> None:
    pending = replace(running(), intent=None, steps=(), phase=Phase.PENDING)
    found = through(pending, look(101))
    assert not found.tide.values
    assert found.cursor.at == at(101)
    assert found.flow.per_s == pytest.approx(132.0)


@pytest.mark.parametrize(("share", "judged"), [("0", False), ("1/20", True)])
def test_what_has_gone_back_is_judged_no_more_but_counted(share: str, judged: bool) -> None:
    found = through(replace(running(), phase=Phase.ROLLING_BACK, share=Fraction(share)), look(101))
    assert bool(found.tide.values) is judged
    assert found.steps[-1].canary.requests == 60


def parked(number: int) -> ShiftState:
    """Parked after that poll, which nobody saw."""
    before = running()
    assert before.intent is not None
    intent = replace(before.intent, share=Fraction(0), at=at(number))
    return replace(before, phase=Phase.PARKED, share=Fraction(0), intent=intent, acknowledged_at=None)


def test_of_what_is_parked_only_what_came_before_is_weighed() -> None:
    found = through(parked(101), look(102))
    assert counted(found)["outcomes"] == (120, 12, 1200, 12)
    assert through(found, look(103)).tide == found.tide


def test_a_gap_that_ended_parked_counts_as_it_was_when_it_was_replayed() -> None:
    """Looks from before the weight went to 0 were taken under the weight of then."""

    def at_end(number: int) -> Reading:
        made = look(number)
        return replace(made, series={key: replace(each, in_flight=None) for key, each in made.series.items()})

    before = parked(103)
    before = replace(before, steps=(replace(before.steps[-1], acknowledged_at=at(90)),))
    found = through(before, replace(at_end(104), earlier=(at_end(101), at_end(102))))
    assert tide(found).polls[0] == 2


def test_after_the_end_only_the_objective_is_watched() -> None:
    promoted = replace(running(), phase=Phase.PROMOTED, share=Fraction(1), guard=Guard(0.005))
    found = through(promoted, look(101))
    assert found.guard is not None
    assert (found.guard.requests, found.guard.bad) == (60, 6)
    assert not found.tide.values
    assert found.steps == promoted.steps


def test_nothing_is_counted_of_what_was_rolled_back() -> None:
    over = replace(running(), phase=Phase.ROLLED_BACK, share=Fraction(0))
    found = through(over, look(101))
    assert (found.steps, found.tide, found.window) == (over.steps, over.tide, over.window)
    assert found.cursor.at == at(101)


def test_a_new_process_warms_up() -> None:
    wanted = replace(SHIFT, warm_up=timedelta(seconds=30))
    begun = running(wanted)
    assert begun.warm_until is None, "it served before we looked"
    other = replace(look(101), pods={PodKey("v2", "v2-1", "gw#1"): PodCounts(3, 0)})
    found = through(begun, other, wanted=wanted)
    assert found.warm_until == at(101) + timedelta(seconds=30)
    assert not tide(found, wanted).proof.any()


def test_who_observes_tests_the_share_that_others_configured() -> None:
    subject = replace(running().subject, mode=Mode.OBSERVE)
    route = RouteNow(
        "default/edge", "edge", configured=Fraction(1, 4), in_place=False, holders=("gw",), acknowledged=("gw",)
    )
    looking = replace(running(), subject=subject, acknowledged_at=at(90))
    for share, expected in ((Fraction(1, 4), 1.0), (None, 0.0)):
        around = seen(routes=(replace(route, configured=share),))
        assert tide(through(looking, look(101), around=around)).routing_polls[0] == expected


FLOWS: dict[str, tuple[list[tuple[int, int]], float | None]] = {
    "one look tells nothing": ([(0, 100)], None),
    "two tell the rate between them": ([(0, 100), (10, 150)], 5.0),
    "no request, no rate": ([(0, 100), (10, 100)], None),
    "the rate since the first look, once there is a request": ([(0, 100), (10, 100), (50, 110)], 0.2),
    "as of late: half of it from the last minute": ([(0, 0), (60, 600), (120, 600)], 5.0),
    "no traffic any more": ([(0, 0), (60, 600), (3660, 600)], pytest.approx(0.0, abs=1e-9)),
    "a clock that was set back tells nothing": (
        [(3600, 0), (3610, 50), (0, 60), (10, 110)], pytest.approx(5.1, abs=0.1),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("looks", "per_s"), FLOWS.values(), ids=FLOWS.keys())
def test_requests_a_second(looks: list[tuple[int, int]], per_s: float | None) -> None:
    found = replace(state(), flow=Flow(), cursor=Cursor(), intent=None)
    for seconds, requests in looks:
        series = {SeriesKey("v1", "gw#1", "gw"): Counts({0: requests})}
        found = learn(SHIFT, found, Reading(START + timedelta(seconds=seconds), series), seen())
    assert found.flow.per_s == per_s


def test_stables_failures_are_remembered() -> None:
    flow = through(running(), look(101), look(102)).flow
    assert (flow.requests, flow.failures) == (1200, 12)
