"""What does one tick see of the world? Plain values, gathered before anything is decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction

from control.engine.decision import Cause


@dataclass(frozen=True, slots=True)
class RouteNow:
    """One route: what its document says, and which proxies run that.

    `in_place` is True when the document gives the canary exactly what state says (after rounding to weights).
    `problem` is the cause that keeps the route from being used, `message` its words. `known` is False when the mesh
    can't tell who runs what; then only time does. `spare` is True when no proxy holds the route while proxies hold
    another one of the shift: nothing is sent by it.
    """

    key: str
    name: str
    revision: str = ""
    configured: Fraction | None = None
    in_place: bool = False
    hands_off: bool = False
    retries: int = 0
    problem: Cause | None = None
    message: str = ""
    holders: tuple[str, ...] = ()
    acknowledged: tuple[str, ...] = ()
    rejections: tuple[tuple[str, str], ...] = ()
    known: bool = True
    current: bool = True
    spare: bool = False

    @property
    def acknowledged_by_all(self) -> bool:
        """Every proxy that holds the route runs what the document says, whatever that is."""
        return self.known and self.current and (bool(self.holders) or self.spare) and not self.late

    @property
    def in_force(self) -> bool:
        """Every proxy that holds the route runs what state says."""
        return self.in_place and self.acknowledged_by_all

    @property
    def cut_off(self) -> bool:
        """The route or its canary destination is gone from the documents: nothing reaches the canary by it."""
        return self.problem in (Cause.ROUTE_MISSING, Cause.DESTINATION_MISSING) and not self.configured

    @property
    def unheld(self) -> bool:
        """No proxy holds the route, so that none can send anywhere by it."""
        return self.in_place and self.known and self.current and not self.holders and not self.spare

    @property
    def late(self) -> tuple[str, ...]:
        return tuple(sorted(set(self.holders) - set(self.acknowledged)))


def beside_held(routes: Sequence[RouteNow]) -> tuple[RouteNow, ...]:
    """The routes, those that no proxy holds marked as spare if proxies hold another one."""
    some_held = any(route.holders for route in routes)
    return tuple(replace(route, spare=some_held and not route.holders) for route in routes)


@dataclass(frozen=True, slots=True)
class Observation:
    """All that one tick saw. None means that it could not be found out, which is never the same as 0.

    `canary_builds` are the builds behind the canary ("workload@revision", sorted), none where nobody can tell.
    `readable` is False when the source of metrics could not be read; `unseen` are versions that it says nothing about,
    `unread` proxies whose counts are missing. `gauges` are people's gauges by name and version, `troubles` why one of
    their metrics could not be read. Messages are the words of who could not answer.
    """

    at: datetime
    routes: tuple[RouteNow, ...]
    canary_endpoints: int | None = None
    stable_endpoints: int | None = None
    canary_builds: tuple[str, ...] = ()
    endpoints_message: str = ""
    readable: bool = False
    unseen: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    gauges: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    troubles: Mapping[str, str] = field(default_factory=dict)
    metrics_message: str = ""

    @property
    def hands_off(self) -> bool:
        return any(route.hands_off for route in self.routes)

    @property
    def configured(self) -> Fraction | None:
        """The canary's share that all documents agree on and all their proxies run; None when there is no such one."""
        shares = {route.configured for route in self.routes if route.acknowledged_by_all}
        everywhere = all(route.acknowledged_by_all for route in self.routes)
        return next(iter(shares)) if everywhere and len(shares) == 1 else None

    @property
    def retries(self) -> int:
        """The most that one request may repeat on any of the routes."""
        return max((route.retries for route in self.routes), default=0)

    @property
    def problem(self) -> RouteNow | None:
        return next((route for route in self.routes if route.problem), None)

    @property
    def rejection(self) -> tuple[str, str] | None:
        """The first proxy that refused a route which is not in force, and its words."""
        open_routes = (route for route in self.routes if not route.acknowledged_by_all)
        return next((each for route in open_routes for each in route.rejections), None)
