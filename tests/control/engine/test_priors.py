"""What history says: worked examples, and a simulation that finds the noise that was put in."""

from typing import Any

import numpy as np
import pytest

from control.engine.evidence import Prior
from control.engine.ledger import LedgerEntry
from control.engine.priors import MOST_FREEDOM, NEWEST, beyond_chance, priors_of, sd_beyond_chance
from tests.support.ledgers import entry, finding


def history(*tests: dict[str, Any]) -> list[LedgerEntry]:
    return [entry(run, tests=(finding(**changes),)) for run, changes in enumerate(tests, 1)]


def prior(*tests: dict[str, Any]) -> Prior:
    return priors_of(history(*tests))["outcomes"]


def test_nothing_is_known_of_a_first_release() -> None:
    assert priors_of(()) == {}


@pytest.mark.parametrize(
    ("runs", "phi", "weight"),
    [
        pytest.param([(3.0, 300), (1.5, 100)], 2.625, MOST_FREEDOM, id="weighted by what it rests on"),
        pytest.param([(3.0, 30)], 3.0, 30, id="one short run"),
        pytest.param([(3.0, 30), (9.0, 0)], 3.0, 30, id="a run that shows nothing"),
        pytest.param([(9.0, 0)], 2.0, 0, id="no run shows anything: the default"),
        pytest.param([(50.0, 1000)] + [(1.0, 10)] * NEWEST, 1.0, MOST_FREEDOM, id="too long ago"),
    ],
)
def test_how_failures_clumped(runs: list[tuple[float, float]], phi: float, weight: float) -> None:
    found = prior(*({"phi": value, "freedom": freedom} for value, freedom in runs))
    assert (found.phi, found.weight) == (pytest.approx(phi), weight)


def test_reference_and_spread_are_means_too() -> None:
    found = prior(
        {"freedom": 300.0, "reference": 0.4, "spread": 0.3, "trust": 3.0},
        {"freedom": 100.0, "reference": 0.8, "spread": 0.1, "trust": 1.0},
        {"freedom": 0.0, "reference": 9.0, "spread": 9.0, "trust": 0.0},
    )
    assert found.reference == pytest.approx(0.5)
    assert found.spread == pytest.approx(np.sqrt((0.09 * 3 + 0.01) / 4))


@pytest.mark.parametrize(
    ("ratios", "sd"),
    [
        pytest.param([(0.5, 0.01), (-0.4, 0.01), (0.3, 0.01)], 0.396, id="beyond chance"),
        pytest.param([(0.5, 0.2), (-0.4, 0.2), (0.3, 0.2)], 0.0, id="by chance alone"),
        pytest.param(
            [(0.5, 0.01), (-0.4, 0.01), (0.3, 0.01), (10.0, 100.0)], 0.397, id="hardly any traffic adds little"
        ),
        pytest.param([(0.0, 0.01)] * 5, 0.0, id="all alike"),
    ],
)
def test_how_releases_differ(ratios: list[tuple[float, float]], sd: float) -> None:
    assert sd_beyond_chance(ratios) == pytest.approx(sd, abs=0.01)
    found = prior(*({"log_ratio": ratio, "variance": variance} for ratio, variance in ratios))
    assert found.releases == pytest.approx(sd, abs=0.01)
    assert found.known == len(ratios)


@pytest.mark.parametrize(
    ("ratios", "common"),
    [
        pytest.param([(0.3, 0.09)] * 5, 1.0, id="by chance alone"),
        pytest.param([(0.6, 0.09)] * 5, 22 / 7, id="four times as much as chance gives"),
        pytest.param([(0.0, 0.09)] * 5, 1.0, id="less than chance is no merit"),
        pytest.param([(0.6, 0.09), (0.0, 0.09), (0.0, 0.09)], 6 / 5, id="one release that differs"),
    ],
)
def test_what_all_processes_share_shows_between_releases(ratios: list[tuple[float, float]], common: float) -> None:
    assert beyond_chance(ratios) == pytest.approx(common)
    found = prior(*({"log_ratio": ratio, "variance": variance} for ratio, variance in ratios))
    assert found.common == pytest.approx(common)
    assert found.dispersion == pytest.approx(found.phi * common)


def test_two_releases_are_too_few_to_differ() -> None:
    found = prior({"log_ratio": 0.5, "variance": 0.01}, {"log_ratio": -0.5, "variance": 0.01})
    assert (found.releases, found.known, found.common) == (0.0, 2, 1.0)


def test_a_great_improvement_counts_as_a_half() -> None:
    quiet = [{"log_ratio": 0.05, "variance": 0.001}] * 4
    assert prior(*quiet, {"log_ratio": -3.0, "variance": 0.001}).releases < 0.35


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": "rolled back"},
        {"tests": (finding(verdict="insufficient", log_ratio=2.0, variance=0.01),)},
        {"tests": (finding(log_ratio=None, variance=None),)},
        {"tests": (finding(log_ratio=1.0, variance=-1.0),)},
        {"tests": ()},
    ],
    ids=["rolled back", "not passed", "nothing compared", "a variance that is none", "nothing watched"],
)
def test_only_good_releases_say_how_releases_differ(changes: dict[str, Any]) -> None:
    good = history(*[{"log_ratio": 0.0, "variance": 0.01}] * 3)
    found = priors_of([*good, entry(9, **changes)])["outcomes"]
    assert (found.known, found.releases) == (3, 0.0)


def test_a_release_that_was_taken_back_after_all_is_no_good_one() -> None:
    good = history(*[{"log_ratio": 0.0, "variance": 0.01}] * 4)
    back = entry(4, outcome="rolled back", ended=good[3].ended.replace(hour=23), tests=good[3].tests)
    assert priors_of([back, *good])["outcomes"].known == 3


def test_an_edge_that_no_run_had_takes_what_its_metric_had() -> None:
    tests = (
        finding("latency>100ms", phi=2.0, freedom=50.0),
        finding("latency>250ms", phi=4.0, freedom=50.0, variance=0.5),
    )
    found = priors_of([entry(1, tests=tests)])
    assert set(found) == {"latency", "latency>100ms", "latency>250ms"}
    assert found["latency"].phi == 3.0
    assert found["latency"].known == 1
    assert found["latency>250ms"].phi == 4.0


def test_the_noise_that_was_put_in_is_found() -> None:
    """500 histories of five releases: noise of sd 0.3 that all of a version's processes share, and none."""
    draw = np.random.default_rng(3)
    for sd, within in ((0.3, (0.2, 0.4)), (0.0, (0.0, 0.1))):
        variances = draw.uniform(0.005, 0.05, (500, 5))
        ratios = draw.normal(0, np.sqrt(sd**2 + variances))
        found = [sd_beyond_chance(list(zip(*each, strict=True))) for each in zip(ratios, variances, strict=True)]
        assert within[0] <= np.median(found) <= within[1]
