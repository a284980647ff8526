"""Outcomes add up by version, attempt and status; quantiles are right within their precision."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.loadgen.progress import progress_line
from services.loadgen.tally import Latency, Outcome, Tally, timestamp

NOON = datetime(2026, 1, 2, 12, 0, 0, 250_000, tzinfo=UTC)


def outcome(status: str = "OK", *, ms: float = 10, after_s: float = 0, **more) -> Outcome:
    return Outcome(status, ms / 1000, NOON + timedelta(seconds=after_s), **more)


def tally_of(*outcomes: Outcome) -> dict:
    tally = Tally()
    for one in outcomes:
        tally.send()
        tally.add(one)
    return tally.to_json()


def test_outcomes_by_version() -> None:
    report = tally_of(
        outcome(version="v1", attempts=1, cache="miss"),
        outcome(version="v1", attempts=3, cache="hitLocal"),
        outcome("UNAVAILABLE", version="v2", attempts=3),
        outcome("DEADLINE_EXCEEDED"),
    )
    assert (report["sent"], report["ok"], report["failed"]) == (4, 2, 2)
    assert report["statuses"] == {"DEADLINE_EXCEEDED": 1, "OK": 2, "UNAVAILABLE": 1}
    assert report["cache"] == {"hitLocal": 1, "miss": 1}
    assert {name: (v["n"], v["failed"], v["attempts"]) for name, v in report["versions"].items()} == {
        "v1": (2, 0, {"1": 1, "3": 1}),
        "v2": (1, 1, {"3": 1}),
        "unknown": (1, 1, {"unknown": 1}),
    }


def test_the_first_failure_and_the_first_retry_are_the_earliest() -> None:
    report = tally_of(
        outcome("INTERNAL", after_s=5),
        outcome("INTERNAL", after_s=3),
        outcome(after_s=1),
        outcome(after_s=2, attempts=2),
    )
    assert report["firstFailureAt"] == "2026-01-02T12:00:03.250Z"
    assert report["firstRetryAt"] == "2026-01-02T12:00:02.250Z"


def test_nothing_happened() -> None:
    report = tally_of()
    assert (report["p50Ms"], report["maxMs"], report["firstFailureAt"], report["versions"]) == (None, None, None, {})
    assert timestamp(None) is None


@given(st.lists(st.floats(0, 500), min_size=1, max_size=200))
def test_quantiles_are_within_one_percent_of_the_rank_they_name(latencies: list[float]) -> None:
    latency = Latency()
    for seconds in latencies:
        latency.add(seconds)
    ordered = sorted(latencies)
    report = latency.to_json()
    assert report["maxMs"] == pytest.approx(ordered[-1] * 1000, abs=0.002)
    middle = ordered[int(len(ordered) * 0.5 + 0.5) - 1] * 1000
    assert report["p50Ms"] == pytest.approx(middle, rel=0.011, abs=0.003)


def test_a_latency_over_the_range_counts_as_the_range() -> None:
    latency = Latency()
    latency.add(10_000)
    assert latency.to_json()["maxMs"] == 600_000


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ({"kind": "tick", "elapsedS": 2.0}, "   2.0 s   1 sent   1 ok   0 failed   p50 10.0 ms  p99 10.0 ms   v1 1"),
        (
            {"kind": "summary", "durationS": 3.5},
            "   3.5 s   total   1 sent   1 ok   0 failed   p50 10.0 ms  p99 10.0 ms   v1 1",
        ),
    ],
    ids=["tick", "summary"],
)
def test_a_report_as_a_line(head: dict, line: str) -> None:
    assert progress_line({**head, **tally_of(outcome(version="v1"))}) == line


def test_a_line_without_answers() -> None:
    assert "p50 -  p99 -" in progress_line({"kind": "tick", "elapsedS": 1.0, **tally_of()})
