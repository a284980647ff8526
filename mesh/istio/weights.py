"""Which bytes of a person's VirtualService change for a new split? Only the weights of one route.

STATE: the value types below are the seam to control; the functions are being written.
"""

from dataclasses import dataclass

from mesh.traffic import RouteRef


@dataclass(frozen=True, slots=True)
class DestinationWeight:
    """One destination of a route. `host` is fully qualified; `weight` is None when the document gives none."""

    host: str
    subset: str
    port: int | None
    weight: int | None


@dataclass(frozen=True, slots=True)
class RouteView:
    """One route as it stands in a document: its destinations in document order.

    `retries` is how often the route repeats a failed try (2 when the document is silent, 0 when switched off).
    `hands_off` is True when the document carries the annotation `tidegate.dev/hands-off: "true"`.
    """

    ref: RouteRef
    index: int
    revision: str
    destinations: tuple[DestinationWeight, ...]
    retries: int
    hands_off: bool
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class WeightPatch:
    """New weights for one route, valid only while its destinations and weights are still `expected`."""

    ref: RouteRef
    index: int
    expected: tuple[DestinationWeight, ...]
    weights: tuple[int, ...]
