"""A release that changes how calls are made must be watched for what that hides."""

import pytest

from control.spec.release import release_rule
from tests.support.spec_shifts import parsed

ALL = "{name: outcomes}, {name: attempts}, {name: latency}"


@pytest.mark.parametrize(
    ("metrics", "differing", "expected"),
    [
        pytest.param(ALL, ["timeout", "retries"], [], id="all that is needed is watched"),
        pytest.param("{name: outcomes}", [], [], id="nothing differs"),
        pytest.param(
            "{name: outcomes}, {name: latency}",
            ["timeout"],
            ["the mesh says that the release changes its time-out, and attempts is not watched"],
            id="a time-out, without attempts",
        ),
        pytest.param(
            "{name: attempts}",
            ["retries"],
            ["the mesh says that the release changes its retries, and latency is not watched"],
            id="retries, without latency",
        ),
        pytest.param(
            "{name: outcomes}",
            ["retries", "timeout", "retries", "outlier detection"],
            [
                "the mesh says that the release changes its retries and its time-out and outlier detection,"
                " and latency and attempts are not watched"
            ],
            id="several differences make one mistake",
        ),
    ],
)
def test_what_the_mesh_says_differs_must_be_watched(metrics: str, differing: list[str], expected: list[str]) -> None:
    found = release_rule(parsed(f"metrics: [{metrics}]"), differing)
    assert [each.message for each in found] == expected
    assert all(each.path == ("spec", "metrics") for each in found)


@pytest.mark.parametrize("changes", ["timeout", "retries", "timeout, retries", ""])
def test_the_usual_metrics_watch_everything(changes: str) -> None:
    found = parsed(f"changes: [{changes}]")
    assert [each.value for each in found.changes] == [each for each in changes.split(", ") if each]
    assert release_rule(found, ["timeout", "retries"]) == ()
