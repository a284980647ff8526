from fractions import Fraction

from control.view.diff import DocumentChange, diff_lines, diff_view, nothing_next
from control.view.plain import plain
from mesh.istio.diff import ABSENT, Change

BEFORE = "a\nb\nc\nweight: 90\nd\ne\nf\ng\nh\ni\nweight: 10\n"
AFTER = BEFORE.replace("90", "80").replace("10", "20")


def test_changed_lines_with_their_numbers_and_context() -> None:
    lines = [(line.sign, line.number, line.text) for line in diff_lines(BEFORE, AFTER, 5)]
    assert lines == [
        (" ", 6, "b"),
        (" ", 7, "c"),
        ("-", 8, "weight: 90"),
        ("+", 8, "weight: 80"),
        (" ", 9, "d"),
        (" ", 10, "e"),
        (" ", 13, "h"),
        (" ", 14, "i"),
        ("-", 15, "weight: 10"),
        ("+", 15, "weight: 20"),
    ]


def test_a_document_that_has_these_weights_already() -> None:
    changes = [
        DocumentChange("VirtualService default/edge", "edge.yaml", 1, BEFORE, AFTER),
        DocumentChange("VirtualService default/other", "other.yaml", 1, BEFORE, BEFORE),
    ]
    view = diff_view("translator", from_share=Fraction(1, 10), to_share=Fraction(1, 5), changes=changes)
    assert view.headline == "from 10 % to 20 %: 1 document would change"
    assert [document.sentence for document in view.documents] == ["2 lines would change", "has these weights already"]


def test_fields_by_their_paths() -> None:
    fields = (Change("spec.http[0].route[t v2].weight", 10, 20), Change("spec.http[0].route[t v1].weight", ABSENT, 80))
    changes = [DocumentChange("VirtualService default/edge", "edge.yaml", 1, BEFORE, AFTER, fields)]
    (document,) = diff_view("t", from_share=None, to_share=Fraction(1, 5), changes=changes).documents
    assert plain(document.fields) == [
        {"path": fields[0].path, "before": 10, "after": 20, "sentence": f"{fields[0].path}: 10 -> 20"},
        {"path": fields[1].path, "before": None, "after": 80, "sentence": f"{fields[1].path}: added 80"},
    ]


def test_what_was_rolled_back_has_no_next_step() -> None:
    assert nothing_next("t", Fraction(1, 20)).headline == "no next step; tidegate retry would begin at 5 %"


def test_what_only_observes_says_so() -> None:
    view = diff_view("t", from_share=Fraction(0), to_share=Fraction(1, 100), changes=[], observes=True)
    assert view.headline == "observes: nothing is written; a step from 0 % to 1 %: 0 documents would change"


def test_an_unknown_share_is_not_zero() -> None:
    assert diff_view("t", from_share=None, to_share=Fraction(1), changes=[]).from_share == "unknown"
