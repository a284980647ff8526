"""A poll compares like with like, counts each request once, and says what it may be used for."""

from dataclasses import replace
from math import inf, isnan, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from control.engine.cursor import PODS, UNKNOWN
from control.engine.evidence import Margin, Poll, Terms
from control.engine.evidence import Test as Compared
from control.engine.increments import LATENCY, Increments
from control.engine.polls import FEWEST, MOST_WAITING, Moment, compares, gathered, poll_of
from control.engine.readings import Tally
from control.engine.watched import Watched
from tests.support.fake_ports import START

Pair = tuple[str, str]
WIDE = Margin(1.1, 0.0005)


def watching(*names: str, higher: tuple[str, ...] = (), longest_s: float = 0.5) -> Watched:
    tests = (
        Compared(name, name.partition(">")[0], WIDE, WIDE, 1.0, tries=2 if name == "attempts" else 1) for name in names
    )
    return Watched(tests=tuple(tests), higher=higher, longest_s=longest_s)


def moment(
    in_force_s: float | None = 60.0, share: float = 0.1, *, warming: bool = False, span_s: float = 5.0
) -> Moment:
    return Moment("v1", "v2", share, in_force_s, warming, span_s)


def new(
    canary: dict[str, tuple[int, ...]], stable: dict[str, tuple[int, ...]], *, at_end: bool = False, **more: Any
) -> Increments:
    """Rows of started, failures, retries and abandoned by stratum."""
    rows = {("v2", each): row for each, row in canary.items()} | {("v1", each): row for each, row in stable.items()}
    filled = {pair: (*row, 0, 0, 0)[:4] for pair, row in rows.items()}
    tallies = {pair: Tally(row[0] - row[3], *row[1:]) for pair, row in filled.items()}
    return Increments(
        START, tallies=tallies, started={pair: row[0] for pair, row in filled.items()}, at_end=at_end, **more
    )


def polled(
    found: Increments, watched: Watched, at: Moment | None = None, waiting: tuple[float, ...] = ()
) -> tuple[Poll, tuple[float, ...]]:
    return poll_of(found, watched, Terms(watched.tests), at or moment(), waiting)


def rows(counts: Any, test: int = 0) -> list[tuple[float, float]]:
    """The strata of a test that have any."""
    return [(n, bad) for n, bad in counts[0, test].tolist() if n or bad]


METRICS = {
    "outcomes": (410.0, 14.0), "attempts": (410.0, 30.0), "abandoned": (410.0, 5.0),
}  # fmt: skip


@pytest.mark.parametrize(("name", "expected"), METRICS.items(), ids=METRICS.keys())
def test_what_a_metric_compares(name: str, expected: tuple[float, float]) -> None:
    poll, _ = polled(new({"gw": (410, 14, 30, 5)}, {"gw": (3702, 9, 8, 1)}), watching(name))
    assert rows(poll.canary) == [expected]


def test_each_edge_of_latency_is_a_test() -> None:
    counts = {LATENCY: {("v2", "gw"): (100, 30, 4), ("v1", "gw"): (900, 200, UNKNOWN)}}
    poll, _ = polled(new({}, {}, counts=counts), watching("latency>100", "latency>250"))
    assert (rows(poll.canary), rows(poll.canary, 1)) == ([(100, 30)], [])
    assert (rows(poll.stable), rows(poll.stable, 1)) == ([(900, 200)], []), "an edge that one version lacks"


def test_where_more_is_better_the_others_are_bad() -> None:
    counts = {"hits": {("v2", "eu"): (50, 45), ("v1", "eu"): (100, 103)}}
    poll, _ = polled(new({}, {}, counts=counts), watching("hits", higher=("hits",)))
    assert (rows(poll.canary), rows(poll.stable)) == ([(50, 5)], [(100, 0)])


BAD_BEYOND_ALL = {
    "a failure of a request that began before": ("outcomes", (0, 1), (1.0, 1.0)),
    "more failures than began": ("outcomes", (2, 5), (5.0, 5.0)),
    "a request may be repeated twice": ("attempts", (1, 0, 6), (3.0, 6.0)),
}


@pytest.mark.parametrize(("name", "row", "expected"), BAD_BEYOND_ALL.values(), ids=BAD_BEYOND_ALL.keys())
def test_what_went_badly_was_one_request_at_least(
    name: str, row: tuple[int, ...], expected: tuple[float, float]
) -> None:
    poll, _ = polled(new({"gw": row}, {"gw": (100,)}), watching(name))
    assert rows(poll.canary) == [expected]


def test_small_strata_are_pooled_and_large_ones_are_not() -> None:
    stable = {"big": (FEWEST,), "small": (FEWEST - 1, 2), "tiny": (1,)}
    canary = {"big": (5, 1), "small": (2,), "other": (3, 3)}
    poll, _ = polled(new(canary, stable), watching("outcomes"))
    assert rows(poll.stable) == [(FEWEST, 0), (FEWEST, 2)]
    assert rows(poll.canary) == [(5, 1), (5, 3)]


WAITS: dict[str, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {
    "a request of each": ([(1, 1)], [(1, 1)]),
    "the canary's waits for one of stable": ([(1, 0), (2, 0), (0, 1)], [(0, 0), (0, 0), (3, 1)]),
    "stable's waits for one of the canary": ([(0, 3), (0, 3), (1, 0)], [(0, 0), (0, 0), (1, 6)]),
    "but not for ever": ([(0, 12), (0, 12), (1, 2)], [(0, 0), (0, 24), (1, 2)]),
    "nor does the canary's": ([(MOST_WAITING, 0), (0, 1)], [(MOST_WAITING, 0), (0, 0)]),
    "a poll with plenty waits for nothing": ([(0, 500), (3, 0)], [(0, 500), (0, 0)]),
    "nothing at all": ([(0, 0), (0, 0)], [(0, 0), (0, 0)]),
}


@pytest.mark.parametrize(("polls", "expected"), WAITS.values(), ids=WAITS.keys())
def test_few_requests_wait_for_some_to_be_compared_with(
    polls: list[tuple[int, int]], expected: list[tuple[int, int]]
) -> None:
    waiting: tuple[float, ...] = ()
    found = []
    for canary, stable in polls:
        poll, waiting = polled(new({"gw": (canary,)}, {"gw": (stable,)}), watching("outcomes"), waiting=waiting)
        found.append((int(poll.canary[..., 0].sum()), int(poll.stable[..., 0].sum())))
    assert found == expected


def test_what_may_be_proof_is_not_mixed_with_what_may_not() -> None:
    _, waiting = polled(new({"gw": (3,)}, {}), watching("outcomes"), moment(0.0))
    poll, _ = polled(new({}, {"gw": (4,)}), watching("outcomes"), moment(60.0), waiting)
    assert (rows(poll.canary), bool(poll.proof[0])) == ([], True)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=40))
def test_however_requests_wait_each_is_compared_once(polls: list[tuple[int, int]]) -> None:
    waiting, canary, stable = np.zeros((1, 1, 4)), 0.0, 0.0
    for n_c, n_s in polls:
        found = gathered(np.array([[[[n_c, 0.0]]]]), np.array([[[[n_s, 0.0]]]]), waiting)
        of_canary, of_stable, waiting = found
        canary, stable = canary + of_canary[..., 0].sum(), stable + of_stable[..., 0].sum()
    assert canary + waiting[0, 0, 0] == sum(n_c for n_c, _ in polls)
    assert stable + waiting[0, 0, 2] == sum(n_s for _, n_s in polls)
    assert waiting[0, 0, 0] < MOST_WAITING
    assert waiting[0, 0, 2] < FEWEST


#      in force, longest, span, at the end only -> harm, proof
USES = {
    "not in force: harm counts, where what began is counted": (None, 10.0, 5.0, False, True, False),
    "just in force": (0.0, 10.0, 5.0, False, True, False),
    "the longest have ended": (10.0, 10.0, 5.0, False, True, False),
    "and one poll more": (15.0, 10.0, 5.0, False, True, True),
    "a poll that began before": (15.0, 10.0, 6.0, False, True, False),
    "a short poll is no poll more": (10.2, 10.0, 0.2, False, True, False),
    "nobody knows when the poll began": (99.0, 10.0, inf, False, True, False),
    "counted at the end: nothing while it is not in force": (None, 10.0, 5.0, True, False, False),
    "the longest have not all ended": (9.9, 10.0, 5.0, True, False, False),
    "the longest have ended, but those of this poll have not": (10.0, 10.0, 5.0, True, False, False),
    "those that began before this poll have": (15.0, 10.0, 5.0, True, True, True),
    "few are under way": (5.0, 0.5, 15.0, True, True, False),
    "too many are": (4.9, 0.5, 15.0, True, False, False),
}


@pytest.mark.parametrize(
    ("in_force_s", "longest_s", "span_s", "at_end", "harm", "proof"), USES.values(), ids=USES.keys()
)
def test_what_a_poll_may_be_used_for(
    in_force_s: float | None, longest_s: float, span_s: float, at_end: bool, harm: bool, proof: bool
) -> None:
    found = new({"gw": (30, 1)}, {"gw": (300, 1)}, at_end=at_end)
    at = moment(in_force_s, span_s=span_s)
    poll, _ = polled(found, watching("outcomes", longest_s=longest_s), at)
    assert (poll.harm.tolist(), poll.proof.tolist()) == ([harm], [proof])
    assert rows(poll.canary) == [(30, 1)], "people see all that was counted"


def test_a_metric_of_ones_own_is_counted_at_the_end_and_waits_whatever_the_proxies_know() -> None:
    counts = {"misses": {("v2", "eu"): (50, 5), ("v1", "eu"): (100, 1)}}
    found = new({"gw": (30, 1)}, {"gw": (300, 1)}, counts=counts)
    poll, _ = polled(found, watching("outcomes", "misses", longest_s=10.0), moment(5.0))
    assert (rows(poll.canary), rows(poll.canary, 1)) == ([(30, 1)], [])
    poll, _ = polled(found, watching("outcomes", "misses", longest_s=10.0), moment(15.0))
    assert rows(poll.canary, 1) == [(50, 5)]


def test_the_share_is_tested_only_while_it_is_settled() -> None:
    found = new({"gw": (30, 1)}, {"gw": (300, 1), "sc": (20,)})
    settled, unsettled = (polled(found, watching("outcomes"), moment(each, 0.2))[0] for each in (60.0, 1.0))
    assert (settled.share.tolist(), settled.sent.tolist()) == ([0.2], [[30.0, 320.0]])
    assert isnan(unsettled.share[0])


def test_a_warming_process_makes_the_poll_warm() -> None:
    poll, _ = polled(new({"gw": (30, 1)}, {"gw": (300, 1)}), watching("outcomes"), moment(warming=True))
    assert poll.warm.tolist() == [True]


def test_processes_are_told_apart_where_the_source_can() -> None:
    served = {PODS: {("v2", 0): (9, 2), ("v2", 3): (5, 0), ("v1", 1): (80, 1)}, "misses": {("v2", 7): (4, 1)}}
    counts = {"misses": {("v2", "eu"): (4, 1), ("v1", "eu"): (100, 1)}}
    found = new({"gw": (14, 2)}, {"gw": (80, 1)}, served=served, counts=counts)
    poll, _ = polled(found, watching("outcomes", "attempts", "abandoned", "misses"))
    seen = [{slot: tuple(each) for slot, each in enumerate(test) if any(each)} for test in poll.canary_pods[0].tolist()]
    assert seen == [{0: (9, 2), 3: (5, 0)}, {0: (9, 2), 3: (5, 0)}, {}, {7: (4, 1)}]
    assert poll.stable_pods[0, 0, 1].tolist() == [80, 1]


def test_no_data_is_an_empty_poll() -> None:
    poll, waiting = polled(Increments(START), watching("outcomes", "latency>100", "misses"))
    assert not compares(poll, Terms(watching("outcomes").tests))
    assert not poll.canary.any()
    assert not any(waiting[1:])


def test_versions_compare_only_within_a_stratum() -> None:
    apart = new({"gw": (30,)}, {"sc": (300,)})
    assert not compares(polled(apart, watching("outcomes"))[0], Terms(watching("outcomes").tests))
    together = new({"gw": (30,)}, {"gw": (300,)})
    assert compares(polled(together, watching("outcomes"))[0], Terms(watching("outcomes").tests))


def test_what_counts_when_it_likes_is_no_look() -> None:
    """The latency of a request that was counted a poll ago, beside a test that counts requests."""
    watched = watching("outcomes", "misses")
    late = new({}, {"eu": (9,)}, counts={"misses": {("v2", "eu"): (1, 0), ("v1", "eu"): (9, 0)}})
    poll, _ = polled(late, watched)
    outcomes, misses = (replace(each, counted=each.name == "outcomes") for each in watched.tests)
    assert not compares(poll, Terms((outcomes, misses)))
    assert compares(poll, Terms((replace(outcomes, counted=False), misses)))


@given(st.floats() | st.none(), st.booleans())
def test_a_poll_never_holds_what_is_no_number(in_force_s: float | None, at_end: bool) -> None:
    found = new({"gw": (30, 1)}, {"gw": (10**12, 1)}, at_end=at_end)
    poll, _ = polled(found, watching("outcomes"), moment(nan if in_force_s is None else in_force_s))
    assert np.isfinite(poll.canary).all()
    assert np.isfinite(poll.stable).all()
