"""A small world in memory for the controller: real documents, made-up traffic, a clock that is moved by hand.

Nothing here waits. Requests are split by the share that the proxies have *acknowledged*, and fail by a rate that a
test sets, both by exact accumulation instead of chance, so that every run of a scenario is the same run.
"""

import json
import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import cache
from typing import Any

from control.engine.ledger import LedgerEntry
from control.engine.readings import Counts, PodCounts, PodKey, Reading, SeriesKey
from control.errors import Conflict, NotFound, Rejected, Unavailable
from control.loop.ports import Ports
from control.ports import Acknowledgement, AddedSubsets, Applied, MetricsQuery, Rejection, Stored
from mesh.istio.document import read_documents
from mesh.istio.problem import RouteNotFound
from mesh.istio.weights import RouteView, WeightPatch, configured_share, route_view, splice
from mesh.traffic import RouteRef, TrafficSplit

START = datetime(2026, 1, 1, tzinfo=UTC)
HOST = "translator.default.svc.cluster.local"


class Killed(BaseException):
    """The process died here: nothing that follows happens."""


@dataclass
class Behaviour:
    """How one version answers. Units: shares of requests. Slow ones take 400 ms, a tenth of the others 80 ms, the rest
    20 ms.
    """

    failing: Fraction = Fraction(0)
    retried: Fraction = Fraction(0)
    abandoned: Fraction = Fraction(0)
    slow: Fraction = Fraction(0)


def virtual_service(name: str, route: str | None = None, *, weights: Mapping[str, int] | None = None) -> bytes:
    found = weights or {"v1": 100, "v2": 0}
    entries = "".join(
        f"        - destination: {{host: {HOST}, subset: {subset}}}\n          weight: {weight}\n"
        for subset, weight in found.items()
    )
    named = f"name: {route}\n      route:\n" if route else "route:\n"
    return (
        f"apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata:\n  name: {name}\n  namespace: default\n"
        f"spec:\n  hosts: [{HOST}]\n  http:\n    - {named}{entries}"
    ).encode()


@dataclass
class World:
    """The mesh, its traffic, the store and the clock. Mutable: a test is the world's god.

    `lingering` is how long requests last: those that end now began by the weights of then. `reaching` is the canary's
    part that ignores all weights. `hidden` are versions that the metrics say nothing about. With `pods` they tell
    serving processes apart, of which `bad_pod` (a version's) alone fails.
    """

    now: datetime = START
    texts: dict[tuple[str, str], bytes] = field(default_factory=dict)
    previous: dict[tuple[str, str], tuple[datetime, bytes]] = field(default_factory=dict)
    lag: timedelta = timedelta(milliseconds=50)
    lingering: timedelta = timedelta(0)
    behaviours: dict[str, Behaviour] = field(default_factory=lambda: {v: Behaviour() for v in ("v1", "v2", "v3")})
    endpoints: dict[str, int | None] = field(default_factory=lambda: {"v1": 1, "v2": 1, "v3": 1})
    builds: dict[str, tuple[str, ...]] = field(default_factory=dict)
    rps: int = 200
    proxies: tuple[str, ...] = ("gateway", "sidecar")
    incarnations: dict[str, int] = field(default_factory=lambda: {"gateway": 1, "sidecar": 1})
    unread: frozenset[str] = frozenset()
    blind: bool = False
    hidden: frozenset[str] = frozenset()
    gauges: dict[str, dict[str, float]] = field(default_factory=dict)
    troubles: dict[str, str] = field(default_factory=dict)
    misrouted: Fraction | None = None
    pods: dict[str, int] = field(default_factory=dict)
    bad_pod: str = ""
    tries: dict[PodKey, list[int]] = field(default_factory=dict)
    ledger: list[LedgerEntry] = field(default_factory=list)
    ledger_broken: str = ""
    unreachable: frozenset[str] = frozenset()
    refusing: str = ""
    nack: str = ""
    differing: tuple[str, ...] = ()
    nack_from: datetime = START
    acknowledgements_known: bool = True
    proxies_unreachable: bool = False
    unwritable: str = ""
    stored: dict[tuple[str, str], Stored] = field(default_factory=dict)
    entries: list[Mapping[str, Any]] = field(default_factory=list)
    counts: dict[SeriesKey, list[int]] = field(default_factory=dict)
    owed: dict[tuple[str, str], Fraction] = field(default_factory=dict)
    writes: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    kill: Callable[[str, str], None] = lambda call, when: None

    def __post_init__(self) -> None:
        if not self.texts:
            self.texts = {
                ("default", "translator"): virtual_service("translator", "primary"),
                ("default", "edge"): virtual_service("edge"),
            }

    def ports(self) -> Ports:
        return Ports(_Documents(self), _Proxies(self), _Workloads(self), _Metrics(self), _Store(self), _Ledger(self))

    def share(self, document: str = "translator", canary: str = "v2", stable: str = "v1") -> Fraction:
        """What the document says now."""
        ref = RouteRef("default", document)
        return configured_share(_view(self, ref), TrafficSplit(HOST, stable, canary, Fraction(0)))

    def weights(self, document: str = "translator") -> dict[str, int]:
        view = _view(self, RouteRef("default", document))
        return {each.subset: each.weight or 0 for each in view.destinations}

    def write(self, text: bytes, document: str = "translator") -> None:
        """Somebody else writes a document."""
        key = "default", document
        self.previous[key] = self.now, self.texts[key]
        self.texts[key] = text

    def set_weights(self, weights: Mapping[str, int], document: str = "translator") -> None:
        route = "primary" if document == "translator" else None
        self.write(virtual_service(document, route, weights=weights), document)

    def pass_time(self, length: timedelta) -> None:
        """The clock moves on, and requests come in meanwhile, split as the proxies have it now."""
        if self.now + length <= self.now:
            return
        for proxy in self.proxies:
            self._traffic(proxy, Fraction(self.rps) * Fraction(round(length / timedelta(milliseconds=1)), 1000) / 2)
        self.now += length

    def _traffic(self, proxy: str, requests: Fraction) -> None:
        for version, part in self._parts(proxy).items():
            behaviour = self.behaviours[version]
            came = self._whole(proxy, version, requests * part)
            left = self._whole(proxy, version + " left", came * behaviour.abandoned)
            served = came - left
            bad = self._serve(proxy, version, served)
            retried, slow, slower = (
                self._whole(proxy, f"{version} {what}", served * part)
                for what, part in (("retried", behaviour.retried), ("slow", behaviour.slow), ("80 ms", Fraction(1, 10)))
            )
            key = SeriesKey(version, f"{proxy}#{self.incarnations[proxy]}", proxy)
            row = self.counts.setdefault(key, [0] * 6)
            new = (served, bad, retried, left, slow, slow + slower)
            row[:] = [old + more for old, more in zip(row, new, strict=True)]

    def _parts(self, proxy: str) -> dict[str, Fraction]:
        weights = self._running("edge" if proxy == "gateway" else "translator")
        total = sum(weights.values()) or 1
        parts = {version: Fraction(weight, total) for version, weight in weights.items()}
        return parts if self.misrouted is None else {"v1": 1 - self.misrouted, "v2": self.misrouted}

    def _serve(self, proxy: str, version: str, served: int) -> int:
        """How many of them fail, be it in one process only."""
        dead = self.endpoints.get(version) == 0
        failing = Fraction(1) if dead else self.behaviours[version].failing
        names = [f"{version}-{number}" for number in range(self.pods.get(version, 0))]
        if not names:
            return self._whole(proxy, version + " bad", served * failing)
        in_all = 0
        for name in names:
            rate = failing if not self.bad_pod.startswith(version) or name == self.bad_pod else Fraction(0)
            share = self._whole(proxy, name, Fraction(served, len(names)))
            bad = self._whole(proxy, name + " bad", share * rate)
            row = self.tries.setdefault(PodKey(version, name, f"{proxy}#{self.incarnations[proxy]}"), [0, 0])
            row[:] = [row[0] + share, row[1] + bad]
            in_all += bad
        return in_all

    def _running(self, document: str) -> dict[str, int]:
        """The weights by which the requests began that end now: the last text's, or those of the one before."""
        key = "default", document
        if key not in self.texts:
            return {}
        at, text = self.previous.get(key, (START, self.texts[key]))
        current = self.texts[key] if self.runs(at + self.lingering) else text
        view = _view_of(current, RouteRef("default", document))
        return {each.subset: each.weight or 0 for each in view.destinations}

    def runs(self, written: datetime) -> bool:
        """Do the proxies run what was written then?"""
        return self.now >= written + self.lag and not (self.nack and written >= self.nack_from)

    def _whole(self, proxy: str, what: str, amount: Fraction) -> int:
        owed = self.owed.get((proxy, what), Fraction(0)) + amount
        whole = owed.numerator // owed.denominator
        self.owed[proxy, what] = owed - whole
        return whole

    def restart_proxy(self, proxy: str) -> None:
        self.incarnations[proxy] += 1
        self.counts = {key: row for key, row in self.counts.items() if key.stratum != proxy}


@cache
def _view_of(text: bytes, ref: RouteRef) -> RouteView:
    documents, problems = read_documents("mesh.yaml", text)
    assert not problems, problems
    return route_view(documents[0], ref)


def _view(world: World, ref: RouteRef) -> RouteView:
    key = ref.namespace, ref.virtual_service
    if key not in world.texts:
        names = ", ".join(sorted("/".join(each) for each in world.texts))
        raise NotFound(f"there is no VirtualService {key[0]}/{key[1]}", f"there are: {names}")
    try:
        return _view_of(world.texts[key], ref)
    except RouteNotFound as error:
        raise NotFound(error.message, error.hint) from error


@dataclass
class _Documents:
    world: World

    async def route(self, ref: RouteRef) -> RouteView:
        if ref.virtual_service in self.world.unreachable:
            raise Unavailable("the mesh does not answer")
        if self.world.unwritable:
            raise Rejected(self.world.unwritable)
        return _view(self.world, ref)

    async def apply(self, patch: WeightPatch) -> Applied:
        self.world.kill("apply", "before")
        key = patch.ref.namespace, patch.ref.virtual_service
        if self.world.refusing:
            raise Rejected(self.world.refusing)
        document = read_documents("mesh.yaml", self.world.texts[key])[0][0]
        if _view(self.world, patch.ref).destinations != patch.expected:
            raise Conflict("the route has changed")
        self.world.write(splice(document, patch), patch.ref.virtual_service)
        self.world.writes.append((patch.ref.virtual_service, patch.weights))
        self.world.kill("apply", "after")
        return Applied(patch.ref, _view(self.world, patch.ref).revision)

    async def differences(self, namespace: str, host: str, versions: Sequence[str]) -> tuple[str, ...]:
        return self.world.differing

    async def add_subsets(self, namespace: str, host: str, names: Sequence[str]) -> AddedSubsets | None:
        missing = tuple(name for name in names if name not in self.world.endpoints)
        if self.world.refusing and missing:
            raise Rejected(self.world.refusing)
        self.world.endpoints |= dict.fromkeys(missing, 1)
        return AddedSubsets(f"DestinationRule {namespace}/{host}", missing) if missing else None

    def changes(self) -> AsyncIterator[RouteRef | None]:
        raise NotImplementedError("ticks are taken by hand")


@dataclass
class _Proxies:
    world: World

    async def acknowledgement(self, ref: RouteRef, revision: str) -> Acknowledgement:
        world = self.world
        if world.proxies_unreachable:
            raise Unavailable("the mesh does not answer")
        at, _ = world.previous.get((ref.namespace, ref.virtual_service), (START - world.lag, b""))
        holders = frozenset({"gateway" if ref.virtual_service == "edge" else "sidecar"}) & frozenset(world.proxies)
        runs = world.runs(at)
        rejections = (Rejection("sidecar", world.nack),) if world.nack and not runs else ()
        current = _view(world, ref).revision == revision
        return Acknowledgement(
            ref, revision, holders, holders if runs else frozenset(), rejections, current, world.acknowledgements_known
        )


@dataclass
class _Workloads:
    world: World

    async def ready_endpoints(self, namespace: str, host: str, subset: str) -> int:
        if subset not in self.world.endpoints:
            raise NotFound(f"subset {subset} is not declared")
        ready = self.world.endpoints[subset]
        if ready is None:
            raise Unavailable("the registry does not answer")
        return ready

    async def builds(self, namespace: str, host: str, subset: str) -> tuple[str, ...]:
        await self.ready_endpoints(namespace, host, subset)
        return self.world.builds.get(subset, ())


@dataclass
class _Metrics:
    world: World

    async def read(self, query: MetricsQuery) -> Reading:
        world = self.world
        if world.blind:
            raise Unavailable("no proxy answers")
        series: dict[SeriesKey, Counts] = {}
        for proxy in world.proxies:
            for version in query.versions if proxy not in world.unread else ():
                key = SeriesKey(version, f"{proxy}#{world.incarnations[proxy]}", proxy)
                if version not in world.hidden:
                    series[key] = _counts(world.counts.get(key, [0] * 6))
        pods = {key: PodCounts(*row) for key, row in world.tries.items() if key.version in query.versions}
        return Reading(
            world.now,
            series,
            tuple(sorted(world.unread)),
            pods,
            gauges=dict(world.gauges),
            troubles=dict(world.troubles),
        )


def _counts(row: Sequence[int]) -> Counts:
    n, bad, retried, left, slow, slower = row
    buckets = {25.0: n - slower, 100.0: n - slow, 250.0: n - slow, 500.0: n, math.inf: n}
    return Counts({0: n - bad, 1: left, 14: bad}, retried, latency_ms=buckets)


@dataclass
class _Store:
    world: World

    async def load(self, namespace: str, name: str) -> Stored | None:
        return self.world.stored.get((namespace, name))

    async def list(self, namespace: str | None = None) -> Sequence[Stored]:
        return list(self.world.stored.values())

    async def save(
        self, namespace: str, name: str, *, spec: Mapping[str, Any], state: Mapping[str, Any], expect: int
    ) -> int:
        self.world.kill("save", "before")
        found = self.world.stored.get((namespace, name))
        if (found.version if found else 0) != expect:
            raise Conflict("somebody else has written")
        self.world.stored[namespace, name] = Stored(
            namespace, name, spec, json.loads(json.dumps(dict(state))), expect + 1
        )
        self.world.kill("save", "after")
        return expect + 1

    async def delete(self, namespace: str, name: str, *, expect: int) -> None:
        self.world.kill("delete", "before")
        if self.world.stored[namespace, name].version != expect:
            raise Conflict("somebody else has written")
        del self.world.stored[namespace, name]
        self.world.kill("delete", "after")

    async def record(self, namespace: str, name: str, entries: Sequence[Mapping[str, Any]]) -> None:
        self.world.kill("record", "before")
        self.world.entries += [entry for entry in entries if entry not in self.world.entries]
        self.world.kill("record", "after")

    async def journal(self, namespace: str, name: str, *, limit: int = 0) -> Sequence[Mapping[str, Any]]:
        return self.world.entries[-limit:] if limit else self.world.entries


@dataclass
class _Ledger:
    world: World

    async def read(self, namespace: str, service: str) -> tuple[LedgerEntry, ...]:
        if self.world.ledger_broken:
            raise Unavailable(self.world.ledger_broken)
        return tuple(self.world.ledger)

    async def append(self, namespace: str, service: str, entry: LedgerEntry) -> None:
        self.world.kill("append", "before")
        if entry.key not in [each.key for each in self.world.ledger]:
            self.world.ledger.append(entry)
        self.world.kill("append", "after")

    async def services(self) -> tuple[tuple[str, str], ...]:
        return (("default", "translator"),)
