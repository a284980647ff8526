"""Laws of weights and of their splices, over texts in many styles."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from mesh.istio.diff import diff
from mesh.istio.document import Document, read_documents
from mesh.istio.weights import (
    TOTALS,
    DestinationWeight,
    RouteView,
    WeightPatch,
    configured_share,
    route_view,
    splice,
    weight_patch,
)
from mesh.traffic import RouteRef, TrafficSplit
from tests.support.doc_styles import Written, without_weights, written

REF = RouteRef("default", "translator", "primary")
HOST = "translator.default.svc.cluster.local"
shares = st.fractions(0, 1, max_denominator=10**9) | st.sampled_from([Fraction(n, 100) for n in (0, 1, 5, 20, 50, 100)])
weights = st.lists(st.integers(0, 2000) | st.none(), min_size=2, max_size=5)
counts = st.integers(0, 1 << 20)


def read(text: str) -> Document:
    documents, problems = read_documents("mesh.yaml", text.encode())
    assert not problems, problems
    assert len(documents) == 1
    return documents[0]


def patch(document: Document, new: tuple[int, ...]) -> WeightPatch:
    view = route_view(document, REF)
    return WeightPatch(REF, view.index, view.destinations, new)


def view_of(found: list[int | None]) -> RouteView:
    destinations = tuple(DestinationWeight(HOST, f"v{at}", None, weight) for at, weight in enumerate(found, 1))
    return RouteView(REF, 0, "r", destinations, 2, False, "mesh.yaml", 1)


def split(share: Fraction) -> TrafficSplit:
    return TrafficSplit("translator", "v1", "v2", share)


@given(written(), st.data())
def test_a_splice_changes_digits_of_weights_and_no_other_character(subject: Written, data: st.DataObject) -> None:
    new = tuple(data.draw(st.lists(counts, min_size=len(subject.weights), max_size=len(subject.weights)).filter(sum)))
    before = read(subject.text)
    after = splice(before, patch(before, new)).decode()
    expected, end = "", 0
    for (start, stop), weight in zip(subject.positions, new, strict=True):
        expected += subject.text[end:start] + str(weight)
        end = stop
    assert after == (expected + subject.text[end:])[: len(after)]
    assert route_view(read(after), REF).destinations == tuple(
        DestinationWeight(old.host, old.subset, old.port, weight)
        for old, weight in zip(route_view(before, REF).destinations, new, strict=True)
    )


@given(written(), st.data())
def test_a_splice_back_gives_the_very_same_bytes(subject: Written, data: st.DataObject) -> None:
    new = tuple(data.draw(st.lists(counts, min_size=len(subject.weights), max_size=len(subject.weights)).filter(sum)))
    before = read(subject.text)
    after = read(splice(before, patch(before, new)).decode())
    assert splice(after, patch(after, subject.weights)) == before.text


@given(without_weights(), st.tuples(counts, counts).filter(lambda found: all(found)))
def test_weights_that_are_missing_come_in_and_nothing_goes(text: str, new: tuple[int, int]) -> None:
    before = read(text)
    after = read(splice(before, patch(before, new)).decode())
    assert tuple(one.weight for one in route_view(after, REF).destinations) == new
    assert {change.path[-8:] for change in diff(before, after)} == {"].weight"}
    remaining = iter(after.text.decode())
    assert all(letter in remaining for letter in text)
    assert after.text.count(b"\r\n") in (0, after.text.count(b"\n"))


@given(written(), shares)
@settings(max_examples=50)
def test_what_was_asked_for_is_what_is_configured(subject: Written, share: Fraction) -> None:
    before = read(subject.text)
    others = any(subject.weights[2:])
    both = sum(subject.weights[:2])
    if others and 0 < share < 1 and not Fraction(1, both) <= share <= 1 - Fraction(1, both):
        return
    found = weight_patch(route_view(before, REF), split(share))
    after = read(splice(before, found).decode()) if found else before
    configured = configured_share(route_view(after, REF), split(share))
    assert abs(configured - share) <= Fraction(1, 2 * (both if others else TOTALS[-1])) or not others
    assert abs(configured - share) < Fraction(1, 10**6) or others
    assert tuple(one.weight for one in route_view(after, REF).destinations[2:]) == subject.weights[2:]
    assert weight_patch(route_view(after, REF), split(share)) is None


@given(weights, shares)
def test_shares_and_totals(found: list[int | None], share: Fraction) -> None:
    others = [weight or 0 for weight in found[2:]]
    both = sum(weight or 0 for weight in found[:2])
    if any(others) and (both == 0 or (0 < share < 1 and not Fraction(1, both) <= share <= 1 - Fraction(1, both))):
        return
    result = weight_patch(view_of(found), split(share))
    if result is None:
        assert both > 0
        assert abs(configured_share(view_of(found), split(share)) - share) <= (
            Fraction(1, 2 * both) if any(others) else 0
        )
        return
    stable, canary, *rest = result.weights
    assert rest == others
    assert (canary > 0) == (share > 0)
    assert (stable > 0) == (share < 1)
    assert stable + canary == both if any(others) else stable + canary in TOTALS
    if not any(others):
        exact = [total for total in TOTALS if (share * total).denominator == 1]
        assert Fraction(canary, stable + canary) == share or not exact
        assert stable + canary == (exact or [TOTALS[-1]])[0]
