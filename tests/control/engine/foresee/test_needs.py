"""How many requests a margin needs, how long they take, and that what is said to help does."""

from dataclasses import replace
from datetime import timedelta
from math import inf, isinf

import pytest

from control.engine.foresee import Assumed, Setting, setting
from control.engine.foresee.needs import needs, proof_share, remedies, rounded_up, takes_s
from control.spec import TrafficShift
from tests.support.spec_shifts import parsed

OUTCOMES = "metrics: [{name: outcomes, proof: {extra: EXTRA}}]\n"


def at(spec: str = "", per_s: float = 50.0, stable: float = 0.003) -> Setting:
    return setting(parsed(spec), Assumed(per_s, stable, stable))


@pytest.mark.parametrize(
    ("extra", "stable", "requests"),
    [
        pytest.param("0.5%", 0.0, 2180, id="without any failure"),
        pytest.param("0.5%", 0.003, 3890, id="with some"),
        pytest.param("0.5%", 0.021, 7000, id="with many"),
        pytest.param("2%", 0.003, 600, id="a wide margin"),
        pytest.param("5%", 0.003, 205, id="a very wide one"),
    ],
)
def test_requests_for_a_margin(extra: str, stable: float, requests: float) -> None:
    (found,) = needs(at(OUTCOMES.replace("EXTRA", extra), stable=stable))
    assert found.requests == pytest.approx(requests, rel=0.15)
    assert found.rate == stable


def test_time_follows_the_traffic_at_the_share_of_the_proof() -> None:
    (found,) = needs(at(OUTCOMES.replace("EXTRA", "0.5%"), per_s=10))
    assert found.seconds == pytest.approx(found.requests / (10 * 0.2))
    (unknown,) = needs(at(OUTCOMES.replace("EXTRA", "0.5%"), per_s=inf))
    assert (isinf(unknown.seconds), unknown.requests) == (True, found.requests)


@pytest.mark.parametrize(
    ("strategy", "share"),
    [
        pytest.param("{}", 0.2, id="that of the bake"),
        pytest.param("{bake: {at: 50%}}", 0.5, id="a bake at more"),
        pytest.param("{bake: {for: 0s, at: 50%}}", 0.2, id="no bake: where it has learned"),
        pytest.param("{rungs: [1%, 5%], bake: {for: 0s}}", 0.05, id="low rungs"),
        pytest.param("{rungs: [40%], bake: {for: 0s}}", 0.4, id="high rungs"),
    ],
)
def test_the_share_at_which_everything_is_proven(strategy: str, share: float) -> None:
    assert proof_share(at(f"strategy: {strategy}")) == share


@pytest.mark.parametrize(
    ("bake", "proof_s", "seconds"),
    [
        pytest.param("10m", 60, 600, id="the bake lasts longer than its proof"),
        pytest.param("10m", 900, 900, id="the proof lasts longer than the bake"),
        pytest.param("0s", 900, 900, id="no bake"),
    ],
)
def test_the_whole_time(bake: str, proof_s: float, seconds: float) -> None:
    assert takes_s(at(f"strategy: {{bake: {{for: {bake}}}}}"), proof_s) == seconds


@pytest.mark.parametrize(
    ("per_s", "limit_s"),
    [
        pytest.param(50, 3600, id="it fits"),
        pytest.param(inf, 60, id="nobody knows the traffic"),
    ],
)
def test_no_remedy_where_none_is_needed(per_s: float, limit_s: float) -> None:
    assert remedies(at(per_s=per_s), limit_s) is None


@pytest.mark.parametrize("bake", ["10m", "40m", "0s"])
@pytest.mark.parametrize("per_s", [0.2, 1, 2])
def test_each_remedy_helps_by_itself(bake: str, per_s: float) -> None:
    now, limit_s = at(f"strategy: {{bake: {{for: {bake}}}}}", per_s), 3600.0
    found = remedies(now, limit_s)
    assert found is not None
    assert _takes(now) == pytest.approx(found.deadline_s)
    assert _takes(setting(now.shift, replace(now.given, per_s=found.per_s * 1.0001))) <= limit_s
    assert _takes(setting(_widened(now.shift, found.wider), now.given)) <= limit_s
    assert remedies(now, found.deadline_s) is None


def test_no_margin_is_wide_enough_for_hardly_any_traffic() -> None:
    found = remedies(at("metrics: [{name: outcomes}]", per_s=0.001), 3600)
    assert found is not None
    assert found.wider == {"outcomes": None}


def test_a_bake_alone_can_be_too_long() -> None:
    found = remedies(at("strategy: {bake: {for: 2h}}"), 3600)
    assert found is not None
    assert isinf(found.per_s)
    assert set(found.wider.values()) == {None}


def test_margins_are_rounded_to_the_wider_side() -> None:
    assert [rounded_up(each) for each in (0.01234, 0.012, 0.5, 0.00501)] == [0.013, 0.012, 0.5, 0.0051]


def _takes(now: Setting) -> float:
    return takes_s(now, max(each.seconds for each in needs(now)))


def _widened(shift: TrafficShift, wider: dict[str, float | None]) -> TrafficShift:
    metrics = tuple(
        replace(each, proof=replace(each.proof, extra=wider.get(each.name) or each.proof.extra))
        for each in shift.metrics
    )
    return replace(shift, metrics=metrics, deadline=timedelta(days=1))
