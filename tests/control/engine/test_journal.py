"""What an entry of the journal keeps of the decision that it tells."""

import pytest

from control.engine.decision import Cause, Decision
from control.engine.journal import as_json, noted
from tests.support.situations import LATER, state


@pytest.mark.parametrize(
    ("facts", "harm"),
    [
        ({"logHarm": "5.3566"}, 212.0),
        ({"logHarm": "-2.0"}, 0.1353),
        ({"logHarm": "-inf"}, 0.0),
        ({"logHarm": "9999.0"}, 1e9),
        ({}, None),
    ],
    ids=["for harm", "against harm", "lost for good", "beyond all doubt", "no evidence"],
)
def test_an_entry_keeps_the_evidence_in_odds(facts: dict[str, str], harm: float | None) -> None:
    (entry,) = as_json(noted(state(), Decision(Cause.DONE, facts=facts), LATER, name="translator").outbox)
    assert entry.get("harm") == harm
