"""Is the simulated world what its scenarios and shapes say? Rates, clumps, processes, determinism by seed."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.bench.canary.conditions import PUBLISHED, TUNING, Name
from tests.bench.canary.luck import Luck
from tests.bench.canary.rates import ABANDONED, FAILED, REQUESTS, RETRIED, SLOW
from tests.bench.canary.scenarios import SCENARIOS
from tests.bench.canary.shapes import HOUR, SHAPES, TICK_S, minutes
from tests.bench.canary.telemetry import Telemetry
from tests.bench.canary.world import full_excess, step, world

Floats = NDArray[np.float64]
STABLE = 6
"""Processes of stable, which come first, in most scenarios."""


@dataclass(frozen=True)
class Passed:
    """Some ticks of many runs. `counts` (ticks, runs, routes, processes, channels); `noise` without channels; `excess`
    (ticks, runs); `seen` like counts, what was scraped.
    """

    counts: Floats
    noise: Floats
    excess: Floats
    seen: Floats
    waiting: Floats
    lasting: Floats


@cache
def passed(
    scenario: str,
    shape: str = "steady",
    *,
    rps: float = 50.0,
    share: float = 0.5,
    ticks: int = 120,
    seeds: range = range(1, 41),
    stream: str = TUNING,
) -> Passed:
    now = world([Name(SCENARIOS[scenario], SHAPES[shape], rps, seed) for seed in seeds], stream)
    telemetry, counts, noise, excess, seen = Telemetry(np.zeros((1, 1, 1, 1))), [], [], [], []
    for tick in range(ticks):
        now, brought = step(now, tick, np.full(len(seeds), share))
        telemetry, shown = telemetry.scrape(now, tick, brought.counts)
        counts.append(brought.counts)
        noise.append(now.state.noise)
        excess.append(brought.excess)
        seen.append(shown.counts)
    lists = (counts, noise, excess, seen)
    return Passed(*map(np.array, lists), waiting=telemetry.waiting, lasting=now.lasting)


def part(counts: Floats, channel: int) -> float:
    return float(counts[..., channel].sum() / counts[..., REQUESTS].sum())


NOISES = {"iid": 0.03, "clumps-5": 0.06, "clumps-20": 0.12, "poll-noise": 0.05, "ar-noise": 0.12, "resets": 0.03}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("rate", [0.003, 0.021])
def test_rates_are_realised_on_both_versions_whatever_the_noise(noise: str, rate: float) -> None:
    counts = passed(f"aa-{noise}-{rate * 100:g}").counts
    for version in (counts[:, :, :, :STABLE], counts[:, :, :, STABLE:]):
        assert part(version, FAILED) == pytest.approx(rate, rel=NOISES[noise] + 0.02 / (rate * 100))


@pytest.mark.parametrize(("scenario", "rate"), [("errors-0.3-2", 0.02), ("errors-0-1", 0.01), ("errors-0.3-20", 0.2)])
def test_a_bad_canary_fails_as_often_as_it_is_said_to_and_stable_does_not(scenario: str, rate: float) -> None:
    counts = passed(scenario).counts
    assert part(counts[:, :, :, STABLE:], FAILED) == pytest.approx(rate, rel=0.03)
    assert part(counts[:, :, :, :STABLE], FAILED) == pytest.approx(SCENARIOS[scenario].stable.failed, rel=0.06)


@pytest.mark.parametrize("channel", range(FAILED, SLOW + 3))
@pytest.mark.parametrize("scenario", ["aa-iid-0.3", "retry-storm", "slower-2", "tail", "bimodal"])
def test_every_way_to_be_bad_has_its_rate(scenario: str, channel: int) -> None:
    case, counts = SCENARIOS[scenario], passed(scenario).counts
    for version, rates in ((counts[:, :, :, :STABLE], case.stable), (counts[:, :, :, STABLE:], case.then)):
        assert part(version, channel) == pytest.approx(rates.numbers()[channel - 1], rel=0.08, abs=0.0001)


def test_slower_requests_are_among_the_slow_ones() -> None:
    slow = passed("bimodal").counts[..., SLOW:]
    assert (np.diff(slow, axis=-1) <= 0).all()


@pytest.mark.parametrize(("noise", "size"), [("iid", 1.0), ("clumps-5", 5.0), ("clumps-20", 20.0)])
def test_clumps_have_their_size(noise: str, size: float) -> None:
    """The variance of a process's failures in a poll is 2 * size - 1 times their mean: sizes are geometric."""
    failed = passed(f"aa-{noise}-0.3", rps=500.0).counts[..., FAILED]
    assert failed.var() / failed.mean() == pytest.approx(2 * size - 1, rel=0.12)


def test_clumps_find_their_requests_later() -> None:
    """No process fails more requests than it has."""
    counts = passed("aa-clumps-20-2.1", rps=5.0).counts
    assert (counts[..., FAILED] <= counts[..., REQUESTS]).all()


@pytest.mark.parametrize("scenario", ["aa-iid-2.1", "aa-clumps-5-2.1", "aa-poll-noise-2.1", "aa-ar-noise-2.1"])
def test_processes_fail_independently_of_each_other(scenario: str) -> None:
    failed = passed(scenario, rps=500.0).counts[:, :, 0, :, FAILED]
    assert np.abs(between(failed, range(9), range(9))).mean() < 0.05


def test_noise_that_is_common_is_so_within_a_version_only() -> None:
    failed = passed("common-noise-2.1", rps=500.0).counts[:, :, 0, :, FAILED]
    assert between(failed, range(STABLE), range(STABLE)).min() > 0.5
    assert between(failed, range(STABLE, 9), range(STABLE, 9)).min() > 0.5
    assert abs(between(failed, range(STABLE), range(STABLE, 9)).mean()) < 0.15


def between(failed: Floats, some: range, others: range) -> Floats:
    """Correlations of different processes over all ticks and runs."""
    table = np.corrcoef(failed.reshape(-1, failed.shape[-1]).T)
    return np.array([table[a, b] for a in some for b in others if a != b])


@pytest.mark.parametrize(("scenario", "memory"), [("aa-poll-noise-0.3", 0.0), ("aa-ar-noise-0.3", 0.9)])
def test_noise_is_standard_and_has_the_memory_that_is_said(scenario: str, memory: float) -> None:
    noise = passed(scenario).noise
    assert noise.std() == pytest.approx(1.0, rel=0.1)
    assert np.corrcoef(noise[:-1].ravel(), noise[1:].ravel())[0, 1] == pytest.approx(memory, abs=0.03)


@pytest.mark.parametrize("sd", [0.3, 0.5])
def test_processes_differ_for_good_by_what_is_said(sd: float) -> None:
    lasting = passed(f"spread-{sd}-6", ticks=1, seeds=range(1, 401)).lasting
    assert np.log(lasting).std() == pytest.approx(sd, rel=0.05)
    assert lasting.mean() == pytest.approx(1.0, rel=0.03)


def test_an_outage_that_is_shared_hits_both_from_its_beginning_to_its_end() -> None:
    counts = passed("aa-shared-outage-0.3").counts
    for version in (counts[:, :, :, :STABLE], counts[:, :, :, STABLE:]):
        assert part(version[:24], FAILED) == pytest.approx(0.003, rel=0.15)
        assert part(version[24:96], FAILED) == pytest.approx(0.03, rel=0.06)
        assert part(version[96:], FAILED) == pytest.approx(0.003, rel=0.15)


@pytest.mark.parametrize(
    ("scenario", "healthy", "bad"),
    [("late", slice(0, 60), slice(60, 120)), ("warms-up", slice(12, 120), slice(0, 12))],
)
def test_a_fault_begins_and_heals_when_it_is_said_to(scenario: str, healthy: slice, bad: slice) -> None:
    canary = passed(scenario).counts[:, :, :, STABLE:]
    assert part(canary[healthy], FAILED) == pytest.approx(0.003, rel=0.12)
    assert part(canary[bad], FAILED) == pytest.approx(SCENARIOS[scenario].then.failed, rel=0.06)


def test_one_bad_process_of_three_is_one() -> None:
    canary = passed("one-of-3-bad").counts[:, :, :, STABLE:]
    rates = canary[..., FAILED].sum(axis=(0, 1, 2)) / canary[..., REQUESTS].sum(axis=(0, 1, 2))
    assert sorted(rates > 0.02) == [False, False, True]


# ------------------------------------------------------------------------------------------------ excess


@pytest.mark.parametrize("scenario", ["aa-iid-2.1", "aa-clumps-20-2.1", "spread-0.5-3", "aa-drift-2.1", "retry-storm"])
def test_what_does_not_fail_more_has_no_excess(scenario: str) -> None:
    assert not passed(scenario, ticks=20).excess.any()


def test_excess_is_what_failed_beyond_stables_rate() -> None:
    found = passed("errors-0.3-2")
    served = found.counts[:, :, :, STABLE:, REQUESTS].sum(axis=(2, 3))
    assert found.excess == pytest.approx(0.017 * served)


@pytest.mark.parametrize(
    ("scenario", "shape"), [("errors-0.3-2", "steady"), ("ramp", "fade"), ("warms-up", "cron"), ("better", "steady")]
)
def test_the_rest_of_an_hour_costs_what_it_would_have_cost_tick_by_tick(scenario: str, shape: str) -> None:
    names = [Name(SCENARIOS[scenario], SHAPES[shape], 50.0, seed) for seed in range(1, 6)]
    at_once = full_excess(world(names, TUNING), 0)
    excess = passed(scenario, shape, share=1.0, ticks=HOUR, seeds=range(1, 6)).excess
    assert at_once == pytest.approx(excess.sum(axis=0), rel=0.05)


# ------------------------------------------------------------------------------------------------ determinism


@pytest.mark.parametrize("scenario", ["aa-iid-0.3", "aa-clumps-5-2.1", "aa-ar-noise-0.3", "aa-late-scrapes-2.1"])
@pytest.mark.parametrize("shape", ["steady", "bursts", "sticky", "streams", "route-mix"])
def test_a_run_is_the_same_beside_any_others(scenario: str, shape: str) -> None:
    together = passed(scenario, shape, ticks=30, seeds=range(1, 8))
    alone = passed(scenario, shape, ticks=30, seeds=range(5, 6))
    assert (together.counts[:, 4] == alone.counts[:, 0]).all()
    assert (together.seen[:, 4] == alone.seen[:, 0]).all()


def test_another_seed_or_stream_is_another_run() -> None:
    one, other = (passed("aa-iid-0.3", ticks=30, seeds=range(seed, seed + 1)).counts for seed in (1, 2))
    published = passed("aa-iid-0.3", ticks=30, seeds=range(1, 2), stream=PUBLISHED).counts
    assert (one != other).any()
    assert (one != published).any()


def test_more_share_brings_more_requests_of_the_same_luck() -> None:
    some, more = (passed("aa-iid-0.3", share=share, ticks=30).counts for share in (0.1, 0.2))
    assert (some[:, :, :, STABLE:, REQUESTS] <= more[:, :, :, STABLE:, REQUESTS]).all()


# ------------------------------------------------------------------------------------------------ shapes


LUCK = Luck.of([("shapes", seed) for seed in range(400)])
UNEVEN = {"office-day": 0.25, "flash-crowd": 0.95, "bursts": 0.05, "fade": 0.34}
"""Shapes whose mean over an hour is not 1, and by how much it may differ."""


def test_there_are_seventeen_shapes() -> None:
    assert len(SHAPES) == 17


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_never_negative_and_has_mean_one(name: str) -> None:
    curve = SHAPES[name].curve(LUCK, minutes())
    assert curve.shape == (400, HOUR)
    assert curve.min() >= 0
    assert curve.mean() == pytest.approx(1.0, abs=UNEVEN.get(name, 0.03))


@pytest.mark.parametrize("shape", ["steady", "sticky", "tenants", "streams", "route-mix"])
def test_requests_come_at_the_rate(shape: str) -> None:
    counts = passed("aa-iid-0.3", shape).counts
    load = SHAPES[shape].curve(LUCK, minutes())[:, : len(counts)].mean()
    assert counts[..., REQUESTS].sum() / (counts.shape[0] * counts.shape[1] * TICK_S) == pytest.approx(
        50 * load, rel=0.05
    )


def test_callers_that_retry_bring_more_load_and_callers_that_wait_less() -> None:
    plain, retried = (
        passed("errors-0.3-20", shape).counts[..., REQUESTS].sum() for shape in ("steady", "client-retries")
    )
    assert retried == pytest.approx(plain * (1 + 2 * 0.1015), rel=0.05)
    plain, waited = (passed("bimodal", shape).counts[..., REQUESTS].sum() for shape in ("steady", "closed-loop"))
    assert waited < 0.95 * plain


def test_sessions_stay_with_their_process() -> None:
    """The requests of a process hang together from tick to tick, much more than without sessions."""
    sticky, loose = (passed("aa-iid-0.3", shape).counts[:, :, 0, 0, REQUESTS] for shape in ("sticky", "steady"))
    again = [np.corrcoef(each[20:-1].ravel(), each[21:].ravel())[0, 1] for each in (sticky, loose)]
    assert again[0] > 0.4 > 0.05 > abs(again[1])


def test_long_requests_fail_later_and_no_less_often() -> None:
    counts = passed("errors-0.3-20", "streams", ticks=360, seeds=range(1, 9)).counts[:, :, :, STABLE:]
    assert part(counts[:6], FAILED) < 0.15
    assert part(counts[60:], FAILED) == pytest.approx(0.2, rel=0.05)


def test_a_mix_of_routes_makes_alike_versions_look_different() -> None:
    """Each route fails alike on both; all together the canary fails more often (Simpson)."""
    late = passed("aa-iid-2.1", "route-mix", ticks=240).counts[120:]
    canary, stable = late[:, :, :, STABLE:], late[:, :, :, :STABLE]
    for route in (0, 1):
        assert part(canary[:, :, route], FAILED) == pytest.approx(part(stable[:, :, route], FAILED), rel=0.1)
    assert part(canary, FAILED) > 1.3 * part(stable, FAILED)


# ------------------------------------------------------------------------------------------------ telemetry


def test_late_scrapes_lose_nothing() -> None:
    found = passed("aa-late-scrapes-2.1")
    assert (found.seen.sum(axis=0) + found.waiting == found.counts.sum(axis=0)).all()
    assert (found.seen[..., REQUESTS] == 0).mean() == pytest.approx(0.33, abs=0.02)


def test_restarts_lose_counts() -> None:
    found = passed("aa-resets-2.1")
    lost = 1 - found.seen[..., REQUESTS].sum() / found.counts[..., REQUESTS].sum()
    assert lost == pytest.approx(TICK_S / 120.0, rel=0.15)


@pytest.mark.parametrize(
    ("scenario", "stable_seen", "canary_seen", "canary_served"),
    [
        ("scrape-gone", False, False, True),
        ("canary-scrape-gone", True, False, True),
        ("route-gone", True, False, False),
    ],
)
def test_what_is_lost_is_lost_from_the_first_minute_on(
    scenario: str, *, stable_seen: bool, canary_seen: bool, canary_served: bool
) -> None:
    found = passed(scenario, ticks=30)
    assert found.seen[:12, :, :, STABLE:, REQUESTS].any()
    assert found.seen[12:, :, :, :STABLE, REQUESTS].any() == stable_seen
    assert found.seen[12:, :, :, STABLE:, REQUESTS].any() == canary_seen
    assert found.counts[12:, :, :, STABLE:, REQUESTS].any() == canary_served


def test_nobody_reaches_a_canary_without_a_route() -> None:
    assert not passed("zero-share", ticks=30).counts[:, :, :, STABLE:].any()


def test_abandoned_requests_are_counted() -> None:
    assert part(passed("aa-iid-0.3").counts, ABANDONED) == pytest.approx(0.0005, rel=0.1)
    assert part(passed("retry-storm").counts[:, :, :, STABLE:], RETRIED) == pytest.approx(0.1, rel=0.03)
