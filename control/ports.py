"""What does the controller need from the world?

Protocols only. The loop knows these and no adapter; `wiring.py` picks the adapters. A method raises nothing but the
errors of `control.errors`: Unavailable (try later), Conflict (re-read), Rejected (hold), NotFound, SpecError (a text).
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from control.engine.ledger import LedgerEntry
from control.engine.readings import Reading
from control.spec import Source, UserMetric
from mesh.istio.weights import RouteView, WeightPatch
from mesh.traffic import RouteRef


@dataclass(frozen=True, slots=True)
class Applied:
    """A document's revision after a write; acknowledgement is asked for by this revision."""

    ref: RouteRef
    revision: str


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a proxy refused what it was sent."""

    proxy: str
    message: str


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """Which proxies hold a document's revision, and which of them run it.

    `current` is False when the document has moved on to another revision. `known` is False when the mesh can't tell.
    """

    ref: RouteRef
    revision: str
    holders: frozenset[str]
    acknowledged: frozenset[str]
    rejections: tuple[Rejection, ...] = ()
    current: bool = True
    known: bool = True


@dataclass(frozen=True, slots=True)
class AddedSubsets:
    """Which subsets were added to which DestinationRule, as people name it."""

    rule: str
    names: tuple[str, ...]


class Documents(Protocol):
    """The mesh documents that people own, and the one write that we are allowed: weights."""

    async def route(self, ref: RouteRef) -> RouteView:
        """The route as it stands. Raises NotFound with the routes that exist, Unavailable."""

    async def apply(self, patch: WeightPatch) -> Applied:
        """Writes new weights if destinations and weights are still those that the patch saw.

        Raises: Conflict, Rejected, Unavailable.
        """

    async def differences(self, namespace: str, host: str, versions: Sequence[str]) -> tuple[str, ...]:
        """Where callers wait or retry otherwise for one of these subsets of the host: each field with its values, as
        a person reads it. Raises Unavailable.
        """

    async def add_subsets(self, namespace: str, host: str, names: Sequence[str]) -> AddedSubsets | None:
        """Adds those of the subsets that no DestinationRule of the host has, for processes labelled `version: NAME`.
        None when there is nothing to add. Raises Conflict, Rejected, Unavailable.
        """

    def changes(self) -> AsyncIterator[RouteRef | None]:
        """Yields whenever a document may have changed (None: anything may have). Ends never; reconnects by itself."""


class Proxies(Protocol):
    """What runs the documents, and has said so."""

    async def acknowledgement(self, ref: RouteRef, revision: str) -> Acknowledgement:
        """Who holds and who runs this revision now. Raises Unavailable."""


class Workloads(Protocol):
    """What stands behind the subsets."""

    async def ready_endpoints(self, namespace: str, host: str, subset: str) -> int:
        """Ready endpoints behind a subset. Raises NotFound when the subset is not declared, Unavailable."""

    async def builds(self, namespace: str, host: str, subset: str) -> tuple[str, ...]:
        """The builds that stand behind a subset, ready or not, as "workload@revision", sorted; none where nobody can
        tell them apart. Raises NotFound, Unavailable.
        """


class Metrics(Protocol):
    """What the proxies have counted."""

    async def read(self, query: "MetricsQuery") -> Reading:
        """Cumulative counters of every version and process that could be read. Raises Unavailable."""


@dataclass(frozen=True, slots=True)
class MetricsQuery:
    """Whose counters are wanted: `versions` are subsets of the host, stable first.

    `since` is when they were last read: where the source can tell what it had counted in between, and more than a few
    polls have passed, it brings that along (`Reading.earlier`). `source` is who counts requests, `metrics` are people's
    own, which Prometheus has.
    """

    namespace: str
    host: str
    versions: tuple[str, ...]
    since: datetime | None = None
    source: Source = Source.MESH
    metrics: tuple[UserMetric, ...] = ()


@dataclass(frozen=True, slots=True)
class Stored:
    """One versioned value of the store. `spec` is the person's document, `state` the engine's; both JSON."""

    namespace: str
    name: str
    spec: Mapping[str, Any]
    state: Mapping[str, Any]
    version: int


class Store(Protocol):
    """Compare-and-swap of one value a shift, and an advisory journal that resume never reads."""

    async def load(self, namespace: str, name: str) -> Stored | None:
        """None when there is no such shift."""

    async def list(self, namespace: str | None = None) -> Sequence[Stored]:
        """By name; of one namespace or of all."""

    async def save(
        self, namespace: str, name: str, *, spec: Mapping[str, Any], state: Mapping[str, Any], expect: int
    ) -> int:
        """Writes if the stored version is still `expect` (0: none yet) and returns the new one. Raises Conflict."""

    async def delete(self, namespace: str, name: str, *, expect: int) -> None:
        """Raises Conflict."""

    async def record(self, namespace: str, name: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Appends to the journal (JSON objects; see `control.engine.journal`)."""

    async def journal(self, namespace: str, name: str, *, limit: int = 0) -> Sequence[Mapping[str, Any]]:
        """The newest `limit` entries (0: all kept), oldest first."""


class History(Protocol):
    """What the proxies counted in the past. Only a source that keeps it has any: Prometheus."""

    async def window(self, query: "MetricsQuery", begin: datetime, end: datetime) -> Reading:
        """What was counted from `begin` to `end`, by version and stratum: increments, not counts since a process began.

        A counter that was set back within counts what it shows after that. Raises Unavailable, also where nothing is
        kept of that time.
        """


class Ledger(Protocol):
    """What the finished shifts of each service left behind, in files that a team reads and may edit."""

    async def read(self, namespace: str, service: str) -> tuple[LedgerEntry, ...]:
        """All entries, oldest first; none for a service without a file. Raises SpecError with line and column when the
        file can't be understood (it is never written to then), Unavailable.
        """

    async def append(self, namespace: str, service: str, entry: LedgerEntry) -> None:
        """Adds the entry at the end; one that is there already is the same entry. Raises SpecError, Unavailable."""

    async def services(self) -> tuple[tuple[str, str], ...]:
        """Namespace and service of every file there is."""


class Clock(Protocol):
    """The only source of `now`."""

    def now(self) -> datetime:
        """Aware, UTC."""
