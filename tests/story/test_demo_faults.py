"""A bad v2, of every kind that the demo knows: it ends in a rollback by itself and names the right signal first."""

from pathlib import Path

import pytest

from tests.support.demo_story import Told, demo, demo_at_ease

DEMOS = pytest.mark.xdist_group("demo")  # one at a time: two at once would wait for each other's cores
pytestmark = [DEMOS, pytest.mark.story, pytest.mark.envoy, pytest.mark.apertium, pytest.mark.redis]

QUICK = {"poll": "1s", "warmUp": "0s"}
"""The demo's shift but for its pace: what a bad version is judged by is what `make demo` judges it by."""


@pytest.mark.parametrize(
    ("fault", "signals"),
    [
        pytest.param("errors", {"attempts"}, id="retried errors show in attempts"),
        pytest.param("retries", {"attempts"}, id="retries that no caller sees show in attempts"),
        pytest.param("internal", {"outcomes"}, id="INTERNAL shows in outcomes"),
        pytest.param("slow", {"latency"}, id="a slow version shows in latency"),
        pytest.param("tail", {"latency"}, id="a slow tail shows in latency"),
        pytest.param("hang", {"abandoned"}, id="requests that hang show in those that callers gave up"),
        pytest.param("crash", {"no ready endpoint", "attempts", "outcomes"}, id="a version that dies over and over"),
    ],
)
def test_a_bad_version_is_rolled_back_for_the_right_reason(fault: str, signals: set[str], tmp_path: Path) -> None:
    """Latency can tell only on a machine that serves the good version in time; the other signals can on any."""
    run = demo_at_ease if signals == {"latency"} else demo
    told = run(tmp_path, "--fault", fault, **QUICK)
    assert told.code == 3, told.printed
    assert told.status["phase"] == "RolledBack"
    assert told.status["share"]["configured"] == "0"
    assert told.seen["observedAfterwards"] == 0
    assert named_first(told) in signals
    assert (told.status["firstBadAt"] or "") <= told.status["finishedAt"]


def named_first(told: Told) -> str:
    """The metric that the journal's way back names."""
    sentence = told.sentence("HarmFound", "CanaryGone")
    (harmful,) = [row["metric"] for row in told.status["evidence"] if row["verdict"] == "fail"] or [""]
    if not harmful:
        assert "no ready endpoint" in sentence, sentence
        return "no ready endpoint"
    assert f"does harm: {harmful}" in sentence, sentence
    return str(harmful)
