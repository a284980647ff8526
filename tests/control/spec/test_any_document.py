"""Whatever a document holds, it is a shift or a list of mistakes, each with words and a field."""

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from control.errors import SpecError
from control.spec import TrafficShift, from_document, to_document
from tests.support.spec_shifts import QUICK, shifts

Path = tuple[str | int, ...]
NUMBERS = [0, -1, 1e308, 10**400, float("nan"), float("inf"), -0.0]
TEXTS = ["", " ", "0%", "-1%", "101%", "1/0", "NaN%", "9" * 500, "1e9s", "0s", "-5m", "auto", "steps", "evidence"]
QUERIES = ['"} or vector(1) #', "{{ version }}", 'm{v="{{ version }}"', "\x00", "é" * 70]
NESTED = [[], {}, [[]], [{}], [None], {"kind": None}, {"kind": ["ratio"]}, {"": {}}, [{"name": "latency"}] * 40]
STRANGE = st.sampled_from([None, True, *NUMBERS, *TEXTS, *QUERIES, *NESTED])


def places(data: Any, path: Path = ()) -> Iterator[Path]:
    """Every place of a document, itself aside."""
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inside:
        yield (*path, key)
        yield from places(value, (*path, key))


def put(data: Any, path: Path, value: Any) -> Any:
    changed = copy.deepcopy(data)
    inside = changed
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return changed


def judged(document: Any) -> TrafficShift | tuple[str, ...]:
    try:
        return from_document(document)
    except SpecError as error:
        return tuple(str(each) for each in error.problems)


@QUICK
@given(shifts(), st.data())
def test_a_strange_value_anywhere_is_refused_or_understood(shift: TrafficShift, data: st.DataObject) -> None:
    document = to_document(shift)
    path = data.draw(st.sampled_from(sorted(places(document), key=str)))
    found = judged(put(document, path, data.draw(STRANGE)))
    if isinstance(found, TrafficShift):
        assert from_document(to_document(found)) == found
    else:
        assert found
        assert all(": " in each for each in found)


@QUICK
@given(shifts(), st.data())
def test_several_mistakes_are_told_together(shift: TrafficShift, data: st.DataObject) -> None:
    document = to_document(shift)
    wrong = {("spec", "alpha"): "50%", ("spec", "budget"): 0, ("spec", "poll"): 5, ("spec", "mode"): "watch"}
    chosen = data.draw(st.lists(st.sampled_from(sorted(wrong)), min_size=1, unique=True))
    for path in chosen:
        document = put(document, path, wrong[path])
    found = judged(document)
    assert not isinstance(found, TrafficShift)
    assert {each.split(": ")[1] for each in found} == {".".join(path) for path in chosen}


@QUICK
@given(
    st.recursive(STRANGE, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner), max_leaves=10)
)
def test_anything_at_all_is_no_crash(anything: Any) -> None:
    whole = {"apiVersion": "tidegate.dev/v1alpha1", "kind": "TrafficShift", "metadata": {"name": "a"}, "spec": anything}
    for document in (anything, whole):
        assert judged(document)
