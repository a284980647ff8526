"""Versions that must not be taken for bad ones, and a shift that only looks on while one is bad."""

from pathlib import Path

import pytest

from tests.support.demo_story import Told, demo

DEMOS = pytest.mark.xdist_group("demo")  # one at a time: two at once would wait for each other's cores
pytestmark = [DEMOS, pytest.mark.story, pytest.mark.envoy, pytest.mark.apertium, pytest.mark.redis]


def outcomes(told: Told, version: str) -> int:
    """Failed requests of a version in the whole run."""
    (row,) = [each for each in told.status["evidence"] if each["test"] == "outcomes"]
    return int(row[version]["bad"])


def test_versions_that_fail_alike_are_no_reason_to_go_back(tmp_path: Path) -> None:
    told = demo(tmp_path, "--both-fail", "2%", poll="1s", warmUp="0s")
    assert (told.code, told.status["phase"]) == (0, "Promoted"), told.printed
    assert min(outcomes(told, "canary"), outcomes(told, "stable")) > 0
    assert told.seen["observedAfterwards"] == 1


def test_a_version_that_is_bad_while_it_warms_up_is_promoted(tmp_path: Path) -> None:
    told = demo(tmp_path, "--fault", "heals", poll="1s")
    assert (told.code, told.status["phase"]) == (0, "Promoted"), told.printed
    assert outcomes(told, "canary") > 0
    assert told.status["firstBadAt"]


def test_a_shift_that_observes_decides_everything_and_writes_nothing(tmp_path: Path) -> None:
    told = demo(tmp_path, "--observe", "--fault", "internal", poll="1s")
    assert (told.code, told.status["phase"], told.status["mode"]) == (3, "RolledBack", "observe"), told.printed
    assert "would go back" in told.sentence("HarmFound")
    assert told.seen["documentsUnwritten"]
    assert "The mesh's documents: byte for byte as before." in told.printed
    assert 0.05 < told.seen["observedAfterwards"] < 0.5, "the split that somebody else made"
