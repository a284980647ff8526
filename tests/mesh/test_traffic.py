"""Traffic splits and the names of routes."""

from fractions import Fraction

import pytest

from mesh.traffic import RouteRef, TrafficSplit


@pytest.mark.parametrize("share", [0, 1, Fraction(1, 3)])
def test_a_share_is_from_nothing_to_everything(share: Fraction) -> None:
    assert TrafficSplit("a", "v1", "v2", Fraction(share)).canary_share == share


@pytest.mark.parametrize("share", [Fraction(-1, 100), Fraction(101, 100)])
def test_no_other_share(share: Fraction) -> None:
    with pytest.raises(ValueError, match="is not between 0 and 1"):
        TrafficSplit("a", "v1", "v2", share)


def test_a_route_is_named_for_people() -> None:
    assert str(RouteRef("default", "edge")) == "VirtualService default/edge"
    assert str(RouteRef("default", "edge", "primary")) == "VirtualService default/edge, route primary"
