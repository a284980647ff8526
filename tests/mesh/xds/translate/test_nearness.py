"""In which order does a caller prefer endpoints, by where they are?"""

from typing import Any

import pytest

from mesh.istio.views_balancing import LocalitySetting
from mesh.xds.translate.caller import Caller
from mesh.xds.translate.nearness import PlaceToServe, arranged, grouped

HERE = Caller("default", (("app", "client"), ("zone", "a")), "eu/a/1")
PLACES = ("eu/a/1", "eu/a/2", "eu/b", "us", "asia/x", "")


def place(locality: str, **labels: str) -> PlaceToServe:
    return PlaceToServe(f"127.9.0.{len(locality)}", 1, 1, locality, tuple(sorted(labels.items())))


def ranks(setting: LocalitySetting | None, *, fails_over: bool = True, caller: Caller = HERE) -> dict[str, int]:
    found = arranged(grouped(place(each) for each in PLACES), setting, caller, fails_over=fails_over)
    return {group.locality: group.priority for group in found}


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        pytest.param(None, (0, 1, 2, 3, 3, 3), id="by nearness where nothing is said"),
        pytest.param(LocalitySetting(enabled=False), (0, 0, 0, 0, 0, 0), id="switched off"),
        pytest.param(LocalitySetting(failover=(("eu", "us"),)), (0, 1, 2, 3, 4, 4), id="one region before the others"),
        pytest.param(LocalitySetting(failover=(("us", "asia"),)), (0, 1, 2, 3, 3, 3), id="a rule of another region"),
    ],
)
def test_ranks(setting: LocalitySetting | None, expected: tuple[int, ...]) -> None:
    assert ranks(setting) == dict(zip(PLACES, expected, strict=True))


def test_without_outlier_detection_nobody_is_ranked() -> None:
    assert set(ranks(None, fails_over=False).values()) == {0}


def test_ranks_have_no_gaps() -> None:
    found = arranged(grouped([place("us"), place("eu/b")]), None, HERE, fails_over=True)
    assert [(group.locality, group.priority) for group in found] == [("eu/b", 0), ("us", 1)]


def test_a_caller_that_is_nowhere_has_only_the_nowhere_near() -> None:
    assert ranks(None, caller=Caller("default", ())) == {"": 0} | dict.fromkeys(PLACES[:-1], 1)


def weights(*distribute: Any, caller: Caller = HERE) -> dict[str, int]:
    setting = LocalitySetting(distribute=tuple(distribute))
    found = arranged(grouped(place(each) for each in PLACES), setting, caller, fails_over=False)
    return {group.locality: group.weight if group.places else 0 for group in found}


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        pytest.param(
            [("eu", (("eu", 60), ("us", 40)))], (20, 20, 20, 40, 0, 0), id="shared by weight within a pattern"
        ),
        pytest.param([("us", (("us", 100),))], (1, 1, 1, 1, 1, 1), id="no rule for this place"),
        pytest.param([("eu/a/*", (("eu/a/1", 100),)), ("eu", (("us", 100),))], (100, 0, 0, 0, 0, 0), id="the first"),
        pytest.param([("*", (("eu/*", 50), ("us", 50)))], (17, 17, 17, 50, 0, 0), id="rounded up"),
    ],
)
def test_weights(rules: Any, expected: tuple[int, ...]) -> None:
    assert weights(*rules) == dict(zip(PLACES, expected, strict=True))


NEAR, FAR = place("eu", app="client", zone="a"), place("eu", app="client", zone="b")
NEITHER = place("eu", zone="a")


@pytest.mark.parametrize(
    ("wanted", "caller", "expected"),
    [
        pytest.param(("app", "zone"), HERE, {0: [NEAR], 1: [FAR], 2: [NEITHER]}, id="the first label weighs most"),
        pytest.param(("zone=b",), HERE, {0: [FAR], 1: [NEAR, NEITHER]}, id="a value instead of the caller's own"),
        pytest.param(("app",), Caller("default", (), "eu"), {0: [NEAR, FAR, NEITHER]}, id="a caller without labels"),
        pytest.param(
            ("topology.istio.io/network", "zone"), HERE, {0: [NEAR, NEITHER], 1: [FAR]}, id="the network only shifts"
        ),
    ],
)
def test_ranks_by_labels(wanted: tuple[str, ...], caller: Caller, expected: Any) -> None:
    found = arranged(grouped([NEAR, FAR, NEITHER]), LocalitySetting(failover_priority=wanted), caller, fails_over=True)
    assert {group.priority: list(group.places) for group in found} == expected
