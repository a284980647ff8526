"""A row a test: titles, numbers, margins, what the evidence says."""

from typing import Any

import pytest

from control.view.metrics import edge_of, metric_row, title_of
from control.view.model import Tone
from tests.support.cli_documents import evidence


def test_a_row_has_everything() -> None:
    row = metric_row(evidence("latency>250ms"))
    assert (row.metric, row.test, row.title) == ("latency", "latency>250ms", "over 250 ms")
    assert (row.stable.text, row.canary.text) == ("1 of 2,400 (0.04 %)", "3 of 120 (2.5 %)")
    assert (row.stable.short, row.canary.short, row.canary.ratio) == ("0.04 % of 2,400", "2.5 % of 120", 0.025)
    assert row.difference is not None
    assert row.difference.text == "+2.46 % (-0.42 % to +9.1 %)"
    assert row.tolerated is not None
    assert row.proven is not None
    assert (row.tolerated.text, row.proven.text) == ("1.1 x stable + 0.05 %", "1.25 x stable + 0.5 %")
    assert (row.verdict, row.tone, row.phi, row.proof) == ("pass", Tone.GOOD, 1.2, 3.1)


def test_a_row_of_nothing_is_not_zero() -> None:
    row = metric_row({"metric": "latency"})
    assert (row.title, row.verdict, row.tone, row.harm) == ("slow", "no data", Tone.WARN, None)
    assert (row.canary.ratio, row.canary.text, row.canary.short) == (None, "none seen", "none seen")
    assert (row.difference, row.tolerated, row.evidence) == (None, None, "")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"harm": 212.0, "proof": 0.01}, "harm 212 : 1"),
        ({"harm": 1.6, "proof": 3.1}, "proof 3.1 : 1"),
        ({"harm": 0.1, "proof": 0.2}, "proof 1 : 5"),
        ({"harm": 1e9, "proof": 0.0}, "harm over 1,000,000 : 1"),
        ({"harm": None, "proof": None}, ""),
        ({"harm": 1.0, "proof": 1.1}, ""),
        ({"harm": 1.0, "proof": 0.7}, ""),
        ({"low": 5.0, "high": 20.0}, "5 to 20"),
        ({"low": None, "high": 20.0}, "at most 20"),
        ({"low": 0.5, "high": None}, "at least 0.5"),
    ],
    ids=str,
)
def test_what_says_most(changes: dict[str, Any], said: str) -> None:
    assert metric_row(evidence(**changes)).evidence == said


def test_a_gauge_has_values_instead_of_counts() -> None:
    row = metric_row({"metric": "pool", "high": 20.0, "canary": {"value": 12.5}, "stable": {"value": None}})
    assert (row.canary.text, row.canary.ratio, row.stable.text) == ("12.5", 12.5, "unknown")


@pytest.mark.parametrize(
    ("test", "title", "parts"),
    [
        ("outcomes", "failed", ("outcomes", "", "")),
        ("attempts", "tried again", ("attempts", "", "")),
        ("abandoned", "abandoned", ("abandoned", "", "")),
        ("latency>250ms", "over 250 ms", ("latency", ">", "250 ms")),
        ("first-token>1000ms", "first-token over 1000 ms", ("first-token", ">", "1000 ms")),
        ("tokens<=512", "tokens up to 512", ("tokens", "<=", "512")),
        ("tokens<512", "tokens below 512", ("tokens", "<", "512")),
        ("cache-misses", "cache-misses", ("cache-misses", "", "")),
    ],
)
def test_titles(test: str, title: str, parts: tuple[str, str, str]) -> None:
    assert title_of(test, test.partition(">")[0]) == title
    assert edge_of(test) == parts
