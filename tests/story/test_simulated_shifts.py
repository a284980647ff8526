"""The whole controller between simulated counters and a simulated mesh, an hour of virtual time in some seconds: each
run ends as it does in the vectorised mode. So what the benchmark says of the engine is true of the controller.
"""

import pytest

from tests.bench.canary.conditions import TUNING
from tests.bench.canary.heats import Cell
from tests.bench.canary.served.beside import beside
from tests.bench.canary.served.whole import POLICY, Pace, played

SEED = 1
ENDS = {
    "aa-iid-0.3": ("promoted", "", False),
    "errors-0.3-20": ("rolled back", "outcomes", False),
    "retry-storm": ("rolled back", "attempts", False),
    "scrape-gone": ("undecided", "", True),
}
"""How a run of a scenario ends, which metric is blamed, and whether the canary waits at weight 0."""
NAMES = {
    "aa-iid-0.3": "the same version twice is promoted",
    "errors-0.3-20": "many errors go back",
    "retry-storm": "retries that callers don't see go back",
    "scrape-gone": "without any counters it parks, and nobody is blamed",
}


@pytest.mark.story
@pytest.mark.parametrize("scenario", ENDS, ids=NAMES.get)
def test_the_controller_ends_as_the_engine_does(scenario: str) -> None:
    cell, pace = Cell(POLICY, scenario), Pace()
    run, said = played(cell, SEED, TUNING, pace), beside(cell, [SEED], TUNING, pace)[SEED]
    assert (run.end, run.named, run.parked) == ENDS[scenario]
    assert said.agrees(run), said
