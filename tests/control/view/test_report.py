"""What a report says of a run: rows with verdicts in words, the earlier window, values over time."""

from typing import Any

import pytest

from control.view.drawing import clock_of, evidence_drawing, row_drawing, share_drawing
from control.view.markdown import markdown
from control.view.over_time import Moment
from control.view.percentiles import percentiles
from control.view.report import WEAKER, Baseline, ReportRow, ReportView, report_view
from control.view.shift import shift_view
from tests.support.cli_documents import NOW, at, by_evidence, document, evidence, promoted, rolled_back, status

DIFFERENCE = {"estimate": 0.022, "low": 0.005, "high": 0.068}
EARLIER = {
    "from": "2026-11-23T08:00:00Z",
    "to": "2026-11-23T10:00:00Z",
    "version": "v1",
    "rows": [
        {
            "test": "outcomes",
            "requests": 30000,
            "bad": 90,
            "difference": {"estimate": 0.022, "low": 0.005, "high": 0.068},
        },
        {"test": "attempts", "requests": 0, "bad": 0, "difference": None},
    ],
    "troubles": {"cache-misses": "no such series"},
}
JOURNAL = [
    {"at": at(-9000), "share": "1/2", "harm": 99.0},
    {"at": at(-600), "share": "1/100", "harm": 1.0, "sentence": "begun"},
    {"at": at(-300), "share": "1/20", "harm": 7.0, "sentence": "<b>on | on</b>"},
    {"at": at(-200), "sentence": "nothing of either"},
]


def view(journal: Any = JOURNAL, baseline: Baseline = Baseline(), **changes: Any) -> ReportView:  # noqa: B008 (frozen)
    return report_view(by_evidence(**{"startedAt": at(-600)} | changes), journal, NOW, baseline)


def row(**changes: Any) -> ReportRow:
    return view(evidence=[evidence(**changes)]).rows[0]


def test_the_head_of_a_report() -> None:
    found = view()
    assert (found.name, found.stable, found.canary, found.phase) == ("translator", "v1", "v2", "Progressing")
    assert dict(found.facts) == {
        "began": "2026-11-30 11:51:00 UTC",
        "runs for": "10 min 00 s",
        "verdict": "insufficient",
        "budget": "12.3 of 50 failures spent, 37.7 left",
        "not watched": "abandoned: no caller ever left",
    }
    assert found.lasted_s == 600
    assert (found.fail_at, found.hold_at) == (100.0, 5.0)


def test_a_run_that_observes_and_one_that_has_not_begun_say_so() -> None:
    assert dict(view(mode="observe").facts)["mode"] == "observed only: nothing was written"
    bare = report_view(document({}), [], NOW)
    assert dict(bare.facts)["began"] == "not yet"
    assert (bare.rows, bare.lasted_s, bare.share_over_time, bare.evidence_over_time) == ((), 0.0, (), ())


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"verdict": "pass", "proof": 31.0}, "pass: shown to be within 1.25 x stable + 0.5 %, 31 : 1"),
        ({"verdict": "fail", "harm": 212.0}, "fail: worse than 1.1 x stable + 0.05 % allows, 212 : 1"),
        (
            {"verdict": "insufficient", "proof": 3.1},
            "insufficient: neither shown to be worse nor to be within 1.25 x stable + 0.5 %: 3.1 : 1, 20 : 1 is needed",
        ),
        ({"verdict": "no data"}, "no data: nothing of it was counted"),
        ({"verdict": "unavailable"}, "unavailable: it could not be read"),
        ({"verdict": "maybe"}, "maybe: 3.1 : 1"),
        ({"verdict": "pass", "proven": None, "low": 5.0, "high": None}, "pass: at least 5"),
        ({"verdict": "pass", "proven": None, "harm": None, "proof": None}, "pass"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_verdict_in_words(changes: dict[str, Any], told: str) -> None:
    assert row(**changes).told == told


def test_fixed_steps_pass_without_proof() -> None:
    found = report_view(document(status(evidence=[evidence(proof=3.1, harm=0.2)])), [], NOW).rows[0]
    assert found.told == "pass: enough was seen, and no harm: 1 : 5"


def test_margins_are_rates_at_what_stable_had() -> None:
    found = row(stable={"requests": 1000, "bad": 10})
    assert (found.tolerated, found.proven) == (pytest.approx(0.0115), pytest.approx(0.0175))
    assert row(stable={"requests": 0, "bad": 0}).tolerated is None


def test_the_earlier_window_is_labelled_as_the_weaker_proof() -> None:
    found = view(baseline=Baseline(EARLIER))
    assert found.before == f"v1 on 2026-11-23 from 08:00 to 10:00 UTC: {WEAKER}"
    before = found.rows[0].before
    assert before is not None
    assert before.difference is not None
    assert (before.cell.text, before.difference.text) == ("90 of 30,000 (0.3 %)", "+2.2 % (+0.5 % to +6.8 %)")
    other = found.rows[1].before
    assert other is not None
    assert (other.cell.text, other.difference) == ("none seen", None)
    assert found.rows[2].before is None
    assert found.notes[-1] == "cache-misses is not in the earlier window: no such series"


@pytest.mark.parametrize(
    ("baseline", "said"),
    [
        (Baseline(), ""),
        (Baseline(missing="no Prometheus is configured"), "no Prometheus is configured"),
        (Baseline({**EARLIER, "to": "2026-11-24T01:00:00Z"}), "v1 on 2026-11-23 from 08:00 to 2026-11-24 01:00 UTC"),
        (Baseline({"rows": []}), WEAKER),
    ],
    ids=["not asked", "not available", "over midnight", "from a newer controller"],
)
def test_what_is_said_of_the_earlier_window(baseline: Baseline, said: str) -> None:
    assert view(baseline=baseline).before.startswith(said)
    assert bool(view(baseline=baseline).before) == bool(said)


def test_values_over_time_are_those_of_this_run() -> None:
    found = view()
    assert found.share_over_time == (Moment(0.0, 0.01), Moment(300.0, 0.05))
    assert found.evidence_over_time == (Moment(0.0, 1.0), *(Moment(*each) for each in ((0, 1), (300, 7), (600, 1.5))))
    assert view(harm=None).evidence_over_time[-1] == Moment(300.0, 7.0)


def test_without_a_journal_the_steps_tell_the_shares() -> None:
    assert [each.value for each in view(journal=[], startedAt=at(-20)).share_over_time] == [0.01, 0.02, 0.05]


LATENCY = {"latency>100ms": (40, 300), "latency>250ms": (4, 30)}


@pytest.mark.parametrize(
    ("bad", "requests", "said"),
    [
        (LATENCY, 1000, "latency P95: v1 at most 100 ms, v2 between 100 ms and 250 ms"),
        (LATENCY, 99, ""),
        ({"latency>100ms": (60, 60)}, 1000, "latency P95: v1 over 100 ms, v2 over 100 ms"),
        ({"tokens>512": (0, 0)}, 1000, "tokens P95: v1 at most 512, v2 at most 512"),
        ({"tokens<512": (0, 0), "misses": (1, 1), "odd>much": (1, 1)}, 1000, ""),
    ],
    ids=["between edges", "too few", "beyond the last edge", "no time", "no edges of a percentile"],
)
def test_percentiles_name_the_edges_they_are_read_from(
    bad: dict[str, tuple[int, int]], requests: int, said: str
) -> None:
    rows = [
        evidence(test, stable={"requests": requests, "bad": old}, canary={"requests": requests, "bad": new})
        for test, (old, new) in bad.items()
    ]
    found = list(percentiles(shift_view(by_evidence(evidence=rows), [], NOW).metrics, "v1", "v2"))
    assert (found[0] if found else "").startswith(said)
    assert bool(found) == bool(said)
    assert all("read from the edge" in line for line in found)


def test_plots_are_left_out_where_there_is_nothing_to_show() -> None:
    bare = report_view(document({}), [], NOW)
    assert (share_drawing(bare), evidence_drawing(bare)) == (None, None)
    assert evidence_drawing(view(journal=[], harm=None)) is None
    assert row_drawing(row(stable={"requests": 0, "bad": 0})) is None


def test_the_plot_of_the_share_climbs_in_steps() -> None:
    drawing = share_drawing(view())
    assert drawing is not None
    assert drawing.told == "The share of v2 over time: up to 5 %"
    path = drawing.lines[-1].path
    assert (path.count("H"), path.count("V")) == (2, 2)
    assert [each.text for each in drawing.words if each.anchor == "middle"][:3] == ["0", "2 min", "4 min"]


def test_the_plot_of_the_evidence_has_its_bars() -> None:
    drawing = evidence_drawing(view())
    assert drawing is not None
    assert [line.style for line in drawing.lines] == ["fail", "hold", "grid", "canary"]
    assert {"100 : 1", "5 : 1", "rolls back", "holds"} <= {each.text for each in drawing.words}
    heights = [dot.y for dot in drawing.dots]
    assert heights[0] == heights[1] > heights[3] > heights[2]


@pytest.mark.parametrize("harm", [0.0, 1e-9, 1e9])
def test_no_evidence_leaves_the_plot(harm: float) -> None:
    drawing = evidence_drawing(view(harm=harm))
    assert drawing is not None
    assert all(0 <= dot.y <= drawing.height for dot in drawing.dots)


@pytest.mark.parametrize("canary", [(120, 0), (120, 3), (120, 120)])
def test_the_plot_of_a_row_stays_inside(canary: tuple[int, int]) -> None:
    bounds = {"estimate": canary[1] / canary[0], "low": -0.9, "high": 1.0}
    drawing = row_drawing(row(canary={"requests": canary[0], "bad": canary[1]}, difference=bounds))
    assert drawing is not None
    assert all(0 <= dot.x <= drawing.width for dot in drawing.dots)
    assert all(band.x + band.width <= drawing.width for band in drawing.bands)
    assert drawing.told.startswith("failed (outcomes): stable 0.04 %, canary 0 % to")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0"), (45, "45 s"), (60, "1 min"), (90, "1:30 min"), (7200, "2 h"), (5400, "1:30 h"), (90000, "25 h")],
)
def test_a_time_on_an_axis(seconds: int, text: str) -> None:
    assert clock_of(seconds) == text


@pytest.mark.parametrize("whole", [promoted(), rolled_back(), document({})], ids=["promoted", "rolled back", "fresh"])
def test_every_phase_has_a_report(whole: dict[str, Any]) -> None:
    assert markdown(report_view(whole, [], NOW)).startswith("# translator: v1 to v2")


def test_markdown_is_markdown_whatever_people_wrote(file_regression: Any) -> None:
    text = markdown(view(baseline=Baseline(EARLIER), reason="*bold* <script> | `code`"))
    assert "<script>" not in text
    file_regression.check(text, extension=".md", basename="report")
