"""Documents as people really write them, before and after a shift to one canary request in five.

The files stand side by side in tests/golden/weights, so that a reader's diff shows what a splice is.
"""

from fractions import Fraction
from pathlib import Path

import pytest

from mesh.istio.diff import diff
from mesh.istio.document import Document, read_documents
from mesh.istio.weights import replace_document, route_view, splice, weight_patch
from mesh.traffic import RouteRef, TrafficSplit

GOLDEN = Path(__file__).parents[2] / "golden" / "weights"
NAMES = sorted(file.name.removesuffix(".before.yaml") for file in GOLDEN.glob("*.before.yaml"))
REF = RouteRef("default", "translator", "primary")


def translator(raw: bytes) -> Document:
    documents, problems = read_documents("golden.yaml", raw)
    assert not problems, problems
    return next(document for document in documents if document.name == "translator")


def shifted(raw: bytes, share: Fraction) -> bytes:
    subject = translator(raw)
    patch = weight_patch(route_view(subject, REF), TrafficSplit("translator", "v1", "v2", share))
    assert patch is not None
    return replace_document(raw, subject, splice(subject, patch))


def test_there_are_goldens() -> None:
    assert len(NAMES) >= 5


@pytest.mark.parametrize("name", NAMES)
def test_shift(name: str) -> None:
    before, after = ((GOLDEN / f"{name}.{side}.yaml").read_bytes() for side in ("before", "after"))
    assert shifted(before, Fraction(1, 5)) == after


@pytest.mark.parametrize("name", NAMES)
def test_only_the_two_weights_mean_something_else(name: str) -> None:
    before = (GOLDEN / f"{name}.before.yaml").read_bytes()
    changes = diff(translator(before), translator(shifted(before, Fraction(1, 5))))
    assert len(changes) == 2
    assert all(change.path.startswith("spec.http[primary].route[") for change in changes)
    assert all(change.path.endswith("].weight") for change in changes)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "as-kubectl-prints-it"])
def test_shift_and_back_leaves_no_trace(name: str) -> None:
    before = (GOLDEN / f"{name}.before.yaml").read_bytes()
    assert shifted(shifted(before, Fraction(1, 5)), Fraction(1, 10)) == before
