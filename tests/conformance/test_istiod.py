"""Does a real istiod still say what it said? Asks it everything again; minutes, and only in `make test-cluster`."""

from collections.abc import Iterator

import pytest

from tests.conformance import golden, oracle
from tests.conformance.canonical import differences
from tests.conformance.corpus import cases
from tests.conformance.stack import Stack, running

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running() as found:
        yield found


def test_a_real_istiod_says_what_is_kept(stack: Stack) -> None:
    answers, refused = oracle.answers(stack, cases())
    kept = golden.kept()
    assert {
        name: differences(kept[name].answers, found) for name, found in answers.items() if kept[name].answers != found
    } == {}
    assert len(refused) == sum(bool(each.refused) for each in kept.values())
