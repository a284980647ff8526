"""What share of the traffic does each version get?

The one value that control hands to a mesh. A share is an exact fraction: rounding to Istio's integer weights is the
business of whoever renders it, and never feeds back into a decision.
"""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True, order=True)
class RouteRef:
    """One HTTP route of a VirtualService. `route` is the route's name, or None when the document has just one route."""

    namespace: str
    virtual_service: str
    route: str | None = None

    def __str__(self) -> str:
        suffix = f", route {self.route}" if self.route else ""
        return f"VirtualService {self.namespace}/{self.virtual_service}{suffix}"


@dataclass(frozen=True, slots=True)
class TrafficSplit:
    """Stable and canary subsets of one host, and the canary's share of what the two get together.

    Units: `canary_share` is 0 to 1, exact.
    Invariant: destinations that are neither stable nor canary keep their own weight.
    """

    host: str
    stable: str
    canary: str
    canary_share: Fraction

    def __post_init__(self) -> None:
        if not 0 <= self.canary_share <= 1:
            raise ValueError(f"canary share {self.canary_share} is not between 0 and 1")
