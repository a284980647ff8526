"""Every name that a person can meet has its words, its use in the product, and its place in docs/."""

from pathlib import Path

import pytest

from control.engine.decision import Cause
from control.engine.phase import REFUSALS, Phase, Verdict
from control.engine.words import WORDS
from control.spec.metric import BUILT_IN, BuiltInName
from control.view.metrics import TITLE_OF_METRIC
from control.view.shift import HEADLINE_OF_PHASE

ROOT = Path(__file__).parents[2]
REFERENCE, SHIFTS, EVIDENCE = (
    (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("reference.md", "shifts.md", "evidence/README.md")
)
TABLES = {"decision.py", "words.py"}
USES = "\n".join(
    path.read_text(encoding="utf-8")
    for part in ("engine", "loop")
    for path in sorted((ROOT / "control" / part).glob("*.py"))
    if path.name not in TABLES
)


@pytest.mark.parametrize("cause", Cause)
def test_a_cause_has_words_a_use_and_a_line_in_the_reference(cause: Cause) -> None:
    assert WORDS[cause].why
    assert f"Cause.{cause.name}" in USES, "nothing ever decides this"
    assert f"| `{cause.value}` |" in REFERENCE, "run `make docs` and commit"


@pytest.mark.parametrize("phase", Phase)
def test_a_phase_has_its_headline_its_refusal_and_its_meaning(phase: Phase) -> None:
    assert HEADLINE_OF_PHASE[phase.value]
    assert REFUSALS[phase]
    rows = [line.split("|")[1] for line in SHIFTS.splitlines() if line.count("|") == 4]
    assert any(phase.value in row.replace(",", " ").split() for row in rows)


@pytest.mark.parametrize("verdict", Verdict)
def test_a_verdict_is_explained(verdict: Verdict) -> None:
    assert f"| {verdict.value} |" in SHIFTS


@pytest.mark.parametrize("metric", BuiltInName)
def test_a_metric_has_its_weight_its_title_and_its_meaning(metric: BuiltInName) -> None:
    assert BUILT_IN[metric].weight > 0
    assert TITLE_OF_METRIC[metric.value]
    assert f"| `{metric.value}` |" in EVIDENCE
