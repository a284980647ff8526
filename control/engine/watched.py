"""What does a run compare? Settled when it begins: an edited spec changes nothing that the evidence rests on."""

from dataclasses import dataclass, field

from control.engine.evidence.terms import Test


@dataclass(frozen=True, slots=True)
class Watched:
    """The tests in the order of the tide, with their margins and priors; all of one run's evidence has their shape.

    `edges_ms` are each histogram's chosen edges by the name of its metric, `higher` the metrics of which more is
    better, `retries` the most that a request may be repeated on any route, `budget` the excess failed requests that
    this run may cost, `alpha` and `beta` what was promised. `longest_s` is how long stable's longest requests last:
    evidence that is only counted when requests end waits for so long. `unwatched` says of a metric that was asked for
    why it has no test.
    """

    tests: tuple[Test, ...] = ()
    edges_ms: dict[str, tuple[float, ...]] = field(default_factory=dict)
    higher: tuple[str, ...] = ()
    retries: int = 0
    budget: float = 50.0
    alpha: float = 0.01
    beta: float = 0.05
    longest_s: float = 0.0
    unwatched: dict[str, str] = field(default_factory=dict)
