"""Does our translation do what istiod did when it was last asked?"""

import pytest

from tests.conformance import golden, results
from tests.conformance.canonical import IGNORED, canonical
from tests.conformance.compare import Outcome, compared
from tests.conformance.corpus import HOME, cases

CASES = {case.name: case for case in cases(HOME)}
ENDED = {each.name: each for each in results.read()}
LEAST_TRANSLATED = 0.9


@pytest.mark.parametrize("name", CASES)
def test_our_mesh_does_what_istiod_does(name: str) -> None:
    kept = golden.kept()[name]
    assert kept.digest == golden.digest(CASES[name]), "the case has changed: `python -m tests.conformance --write`"
    found = compared(CASES[name], kept.answers)
    assert found.differences == ()
    assert results.ended(found) == ENDED[name], "`python -m tests.conformance --write`"


def test_every_case_has_an_answer_and_every_answer_a_case() -> None:
    assert golden.kept().keys() == CASES.keys() == ENDED.keys()


def test_the_answers_are_from_the_istiod_that_is_pinned() -> None:
    assert golden.asked_version() == golden.istiod_version()


def test_what_the_api_server_refuses_our_mesh_refuses_too() -> None:
    refused = {name for name, kept in golden.kept().items() if kept.refused}
    assert refused <= {name for name, each in ENDED.items() if each.outcome is Outcome.REFUSED}


def test_most_of_the_corpus_is_translated_and_nothing_differs_silently() -> None:
    outcomes = [each.outcome for each in ENDED.values()]
    assert Outcome.DIFFERENT not in outcomes
    assert outcomes.count(Outcome.EQUAL) >= LEAST_TRANSLATED * len(outcomes)


def test_what_is_not_compared_says_why() -> None:
    assert all(each.what and each.where and each.why for each in IGNORED)


@pytest.mark.parametrize(
    ("told", "left"),
    [
        pytest.param({"metadata": {}, "name": "a"}, {"name": "a"}, id="an empty block goes"),
        pytest.param({"metadata": {"a": 1}}, {"metadata": {"a": 1}}, id="one that says something stays"),
        pytest.param({"domains": ["b", "a"]}, {"domains": ["a", "b"]}, id="domains are a set"),
        pytest.param({"routes": ["b", "a"]}, {"routes": ["b", "a"]}, id="routes are not"),
        pytest.param({"timeout": "0s"}, {"timeout": "0s"}, id="a zero that is written stays"),
        pytest.param({"weight": 0}, {"weight": 0}, id="a number too"),
    ],
)
def test_canonical_form(told: dict[str, object], left: dict[str, object]) -> None:
    case = next(iter(CASES.values()))
    assert canonical({"x.Cluster": {"a": told}}, case) == {"Cluster": {"a": left}}
