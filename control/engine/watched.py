"""What does a run compare? Settled when it begins: an edited spec changes nothing that the evidence rests on."""

from dataclasses import dataclass, field

from control.engine.evidence.terms import Test


@dataclass(frozen=True, slots=True)
class Watched:
    """The tests in the order of the tide, with their margins and priors; all of one run's evidence has their shape.

    `edges_ms` are each histogram's chosen edges by the name of its metric, `retries` the most that a request may be
    repeated on any route, `budget` the excess failed requests that this run may cost.
    """

    tests: tuple[Test, ...] = ()
    edges_ms: dict[str, tuple[float, ...]] = field(default_factory=dict)
    retries: int = 0
    budget: float = 50.0
