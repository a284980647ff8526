"""What is taken for granted before anything has run, and what one poll of it can bring."""

import numpy as np
import pytest

from control.engine.foresee import Assumed, Setting, setting
from control.engine.foresee.assumed import slower
from control.engine.foresee.draw import drawn
from tests.support.spec_shifts import parsed

V = '{version="{{ version }}"}'
OWN = f"""\
metrics:
- {{name: outcomes}}
- {{name: misses, prometheus: {{kind: ratio, bad: 'm{V}', total: 't{V}'}}}}
- name: tokens
  direction: higher
  prometheus: {{kind: histogram, buckets: 'a_bucket{V}', unit: none, edges: [10, 20]}}
- {{name: first-token, prometheus: {{kind: histogram, buckets: 'b_bucket{V}'}}}}
- {{name: memory, prometheus: {{kind: gauge, value: 'g{V}', max: 1}}}}
"""
MORE = f"metrics: [{{name: a, direction: higher, prometheus: {{kind: histogram, buckets: 'b_bucket{V}'}}}}]"


def at(spec: str = "", **given: float) -> Setting:
    return setting(parsed(spec), Assumed(**{"per_s": 50.0, **given}))  # type: ignore[arg-type]


def rates(spec: str = "", **given: float) -> dict[str, tuple[float, float]]:
    found = at(spec, **given)
    return {
        test.name: (round(float(stable), 4), round(float(canary), 4))
        for test, (stable, canary) in zip(found.terms.tests, found.rates, strict=True)
    }


def test_the_tests_are_those_of_a_real_run() -> None:
    assert rates(stable=0.003, canary=0.02, latency_factor=2) == {
        "outcomes": (0.003, 0.02),
        "attempts": (0.006, 0.04),
        "abandoned": (0.001, 0.001),
        "latency>50ms": (0.25, 0.5761),
        "latency>100ms": (0.05, 0.2182),
        "latency>250ms": (0.01, 0.0722),
    }


def test_metrics_of_ones_own_are_taken_to_be_alike() -> None:
    assert rates(OWN) == {
        "outcomes": (0.003, 0.003),
        "misses": (0.05, 0.05),
        "tokens<10": (0.95, 0.95),
        "tokens<20": (0.99, 0.99),
        "first-token>50ms": (0.25, 0.25),
        "first-token>100ms": (0.05, 0.05),
        "first-token>250ms": (0.01, 0.01),
    }


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        pytest.param(
            "",
            ["latency (slowest 25 %)", "latency (slowest 5 %)", "latency (slowest 1 %)"],
            id="nobody knows yet",
        ),
        pytest.param("metrics: [{name: latency, edges: [0.1s]}]", ["latency>100ms"], id="as the spec names it"),
        pytest.param(MORE, ["a (lowest 75 %)", "a (lowest 95 %)", "a (lowest 99 %)"], id="more is better"),
    ],
)
def test_an_edge_that_nobody_knows_is_named_for_what_exceeds_it(spec: str, names: list[str]) -> None:
    found = at(spec)
    assert [found.named(test) for test in range(len(found.terms.tests))][-len(names) :] == names


def test_without_retries_attempts_are_not_compared() -> None:
    assert "attempts" not in rates(retries=0)


@pytest.mark.parametrize(
    ("part", "factor", "expected"),
    [
        pytest.param(0.05, 1, 0.05, id="as long as before"),
        pytest.param(0.05, 2, 0.218, id="twice as long"),
        pytest.param(0.01, 0.5, 0.0007, id="half as long"),
    ],
)
def test_the_part_above_an_edge_when_all_is_slower(part: float, factor: float, expected: float) -> None:
    assert slower(part, factor) == pytest.approx(expected, rel=0.03)


def test_what_is_slower_than_an_edge_is_slower_than_those_below() -> None:
    found = at(OWN + "- {name: latency}\n")
    stable, canary = drawn(found, np.full(200, 0.3), np.random.default_rng(1))
    by_name = {test.name: index for index, test in enumerate(found.terms.tests)}
    for low, high in (("latency>100ms", "latency>250ms"), ("first-token>50ms", "first-token>100ms")):
        assert (stable[:, by_name[low], :, 1] >= stable[:, by_name[high], :, 1]).all()
    assert (canary[:, by_name["tokens<10"], :, 1] <= canary[:, by_name["tokens<20"], :, 1]).all()


def test_counts_are_as_often_bad_as_they_should_be() -> None:
    found = at(stable=0.01, canary=0.05, processes=2)
    both = drawn(found, np.full(4000, 0.2), np.random.default_rng(2))
    for counts, version, share in zip(both, (0, 1), (0.8, 0.2), strict=True):
        assert counts.shape == (4000, 6, 2, 2)
        n, bad = counts.sum(axis=(0, 2)).T
        assert n / 4000 == pytest.approx(np.full(6, 50 * 5 * share), rel=0.01)
        assert bad / n == pytest.approx(found.rates[:, version], rel=0.05, abs=2e-4)
        assert (counts[..., 1] <= counts[..., 0] * np.array([1, 2, 1, 1, 1, 1])[:, None]).all()


def test_a_request_that_failed_has_been_tried_as_often_as_it_may_be() -> None:
    _, canary = drawn(at(retries=3), np.full(50, 0.5), np.random.default_rng(3))
    assert (canary[:, 1, :, 1] == 3 * canary[:, 0, :, 1]).all()
    alone = at("metrics: [{name: attempts}]", stable=0.1, canary=0.1)
    stable, _ = drawn(alone, np.full(500, 0.5), np.random.default_rng(3))
    assert stable[..., 1].sum() / stable[..., 0].sum() == pytest.approx(0.2, rel=0.1)
