"""What is sent to one Envoy on one discovery stream, and when?

The state machine of a stream of the aggregated, state-of-the-world protocol, without any I/O: requests and snapshots go
in, responses come out. The rules, and why:

- A request with an error is a NACK: it is recorded and what it rejects is never sent again. Of several routes rejected
  together the good ones are found by sending each alone. One without a nonce (re)subscribes and is answered. One with a
  nonce that isn't the newest is stale and ignored. Else it is an ACK, and names that it asks for anew are answered.
- Kinds go out in the order clusters, endpoints, listeners, routes. Endpoints and routes are sent only if they changed,
  clusters and listeners always completely, because absence deletes.
- A changed EDS cluster warms anew and needs its endpoints again, but the Envoy's request for them looks like an ACK. So
  they follow every response with changed clusters unasked, and so do the routes of changed listeners.
- The ACK of clusters is withheld while any of them warms. Hence clusters may be sent again before it comes, and
  endpoints never wait for it. Of endpoints and routes one response is in flight at a time, so that an ACK is never
  ambiguous.
- Make before break. A route (or set of listeners) that names a cluster which the Envoy has not yet taken waits for it;
  a cluster that is gone from the snapshot stays until nothing that the Envoy may still use names it.

Source: envoyproxy/envoy docs/root/api-docs/xds_protocol.rst; Envoy 1.40.0 as observed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from mesh.xds.snapshot import COMPLETE, NOTHING, Kind, Resource, Resources, Snapshot, mentions, version

WILDCARD = "*"
USERS_OF_CLUSTERS = (Kind.LISTENER, Kind.ROUTE)


@dataclass(frozen=True, slots=True)
class Request:
    """A DiscoveryRequest. `error` is the message of a NACK, None otherwise."""

    type_url: str
    names: frozenset[str] = frozenset()
    version: str = ""
    nonce: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """A DiscoveryResponse."""

    kind: Kind
    version: str
    nonce: str
    resources: tuple[Resource, ...]


@dataclass(slots=True)
class Interest:
    """What the Envoy wants of one kind, what it was sent, and what it said to that.

    `sent` is the newest that was sent of each name, `acked` the newest that was acknowledged, `rejected` what was
    refused with the reason; `flight` is the response that no answer has come to yet. `due` are names to send even if
    unchanged, `alone` names to send one by one, `fresh` names of which the Envoy has nothing at all yet.
    """

    subscribed: bool = False
    wildcard: bool = False
    names: frozenset[str] = frozenset()
    nonce: str = ""
    version: str = ""
    sent: dict[str, Resource] = field(default_factory=dict)
    acked: dict[str, Resource] = field(default_factory=dict)
    rejected: dict[str, tuple[Resource, str]] = field(default_factory=dict)
    flight: tuple[Resource, ...] | None = None
    due: set[str] = field(default_factory=set)
    alone: set[str] = field(default_factory=set)
    fresh: set[str] = field(default_factory=set)
    answered: bool = False
    ever_named: bool = False

    def wants(self, name: str) -> bool:
        return self.wildcard or name in self.names


class Subscription:
    """One stream. Feed it requests and snapshots; send what it returns, in that order.

    `before` is the last stream of the same node. An Envoy that only lost its connection keeps what it runs (it says so
    by naming a version in its first request), hence what is known of it is kept too; a new process starts from
    nothing.
    """

    def __init__(self, wanted: Snapshot | None = None, before: "Subscription | None" = None) -> None:
        self._wanted = wanted
        # A stream that was never used hands on the one before it.
        self._before: Subscription | None = (before._before or before) if before else None
        self._interests = {kind: Interest() for kind in Kind}
        self._nonces = 0

    # ---- what went in and came of it

    def acked(self, kind: Kind) -> Mapping[str, Resource]:
        """What the Envoy has acknowledged."""
        return self._interests[kind].acked

    def rejections(self) -> list[tuple[Kind, str, str]]:
        """Kind, name and reason of everything that is refused in the form that is wanted now."""
        return [
            (kind, name, reason)
            for kind, interest in self._interests.items()
            for name, (resource, reason) in interest.rejected.items()
            if same(self._of(kind).get(name), resource)
        ]

    def on_snapshot(self, wanted: Snapshot) -> list[Response]:
        """What has to be sent now that this is wanted."""
        self._wanted = wanted
        return list(self._flush())

    def on_request(self, request: Request) -> list[Response]:
        """What has to be sent now that the Envoy said this. A type that isn't ours is ignored."""
        if request.type_url not in list(Kind):
            return []
        kind = Kind(request.type_url)
        self._resume(request)
        interest = self._interests[kind]
        if request.error is None and (not request.nonce or not interest.subscribed):
            subscribe(interest, request, kind)
        elif request.nonce != interest.nonce or not interest.subscribed:
            return []
        else:
            self._settle(kind, interest, request)
            rename(interest, request, kind)
        return list(self._flush())

    def _resume(self, request: Request) -> None:
        """On the first request: does the Envoy still run what the stream before was about?"""
        before, self._before = self._before, None
        if before is None or not request.version:
            return
        for kind, old in before._interests.items():
            interest = self._interests[kind]
            interest.acked, interest.sent, interest.rejected = dict(old.acked), dict(old.sent), dict(old.rejected)

    # ---- answers of the Envoy

    def _settle(self, kind: Kind, interest: Interest, request: Request) -> None:
        """Records what the Envoy says to the response in flight, if there is one."""
        if interest.flight is None:
            return
        flight, interest.flight = interest.flight, None
        superseded = kind in COMPLETE and request.version == interest.version
        if request.error is None or superseded:
            take(kind, interest, flight)
        elif kind in COMPLETE:
            reject_complete(interest, flight, request.error)
        else:
            reject_partial(interest, flight, request.error)

    # ---- what to send

    def _flush(self) -> Iterator[Response]:
        if self._wanted is None:
            return
        for kind in Kind:
            interest = self._interests[kind]
            if not interest.subscribed:
                continue
            if kind in COMPLETE:
                yield from self._complete(kind, interest)
            else:
                yield from self._partial(kind, interest)

    def _complete(self, kind: Kind, interest: Interest) -> Iterator[Response]:
        """Clusters or listeners: all of them, if anything is different from what was sent."""
        wanted = {name: resource for name, resource in self._sendable(kind).items() if interest.wants(name)}
        if interest.answered and not interest.due and alike(wanted, interest.sent):
            return
        if kind is Kind.CLUSTER:
            self._interests[Kind.ENDPOINT].due |= renewed(interest.sent, wanted).keys()
            interest.acked = {name: resource for name, resource in interest.acked.items() if name in wanted}
        else:
            self._interests[Kind.ROUTE].due |= self._routes_named_by(renewed(interest.sent, wanted))
        interest.sent = wanted
        yield self._respond(kind, interest, tuple(wanted.values()), version(wanted.values()))

    def _routes_named_by(self, listeners: Resources) -> set[str]:
        names = self._interests[Kind.ROUTE].names
        return {name for name in names if any(mentions(listener, name) for listener in listeners.values())}

    def _partial(self, kind: Kind, interest: Interest) -> Iterator[Response]:
        """Endpoints or routes: those that differ from what was sent or are due, unless an answer is outstanding."""
        if interest.flight is not None:
            return
        sendable = self._sendable(kind)
        ready = [name for name in sendable if interest.wants(name) and unsent(interest, name, sendable[name])]
        ready = ready[:1] if ready and ready[0] in interest.alone else [n for n in ready if n not in interest.alone]
        if not ready:
            return
        for name in ready:
            interest.sent[name] = sendable[name]
        batch = tuple(sendable[name] for name in ready)
        yield self._respond(kind, interest, batch, self._version(kind))

    def _respond(self, kind: Kind, interest: Interest, batch: tuple[Resource, ...], newest: str) -> Response:
        self._nonces += 1
        interest.nonce, interest.version = str(self._nonces), newest
        interest.flight, interest.answered = batch, True
        names = {resource.name for resource in batch}
        interest.due -= names | {WILDCARD}
        interest.alone -= names
        interest.fresh -= names
        return Response(kind, newest, interest.nonce, batch)

    # ---- make before break

    def _sendable(self, kind: Kind) -> Resources:
        """What may be sent of a kind now: what is wanted, with the old kept where the new would break something."""
        wanted = self._of(kind)
        match kind:
            case Kind.CLUSTER:
                return self._with_clusters_in_use(wanted)
            case Kind.ENDPOINT:
                return {**self._interests[kind].sent, **wanted}
            case Kind.LISTENER:
                return self._listeners(wanted)
            case Kind.ROUTE:
                return self._routes(wanted)
            case never:
                assert_never(never)

    def _with_clusters_in_use(self, wanted: Resources) -> Resources:
        gone = [name for name in self._interests[Kind.CLUSTER].sent if name not in wanted]
        if not gone:
            return wanted
        users = list(self._users())
        sent = self._interests[Kind.CLUSTER].sent
        kept = {name: sent[name] for name in gone if any(mentions(user, name) for user in users)}
        return {**wanted, **kept}

    def _users(self) -> Iterator[Resource]:
        """Listeners and routes that the Envoy may use now: those it acknowledged, and what was sent after them."""
        for kind in USERS_OF_CLUSTERS:
            interest = self._interests[kind]
            yield from interest.acked.values()
            yield from (resource for name, resource in interest.sent.items() if not refused(interest, name, resource))

    def _pending(self) -> set[str]:
        """Clusters that were sent or are wanted, and that the Envoy has not taken."""
        interest = self._interests[Kind.CLUSTER]
        if not interest.subscribed:
            return set()
        return (self._of(Kind.CLUSTER).keys() | interest.sent.keys()) - interest.acked.keys()

    def _undecided(self) -> set[str]:
        """Pending clusters that the Envoy has not refused either."""
        return self._pending() - self._interests[Kind.CLUSTER].rejected.keys()

    def _listeners(self, wanted: Resources) -> Resources:
        """The listeners, or those of before while the Envoy has not answered for clusters that they may lead to."""
        interest = self._interests[Kind.LISTENER]
        return interest.sent if interest.answered and self._undecided() else wanted

    def _routes(self, wanted: Resources) -> Resources:
        """The routes that name no pending cluster. One that the Envoy has nothing of waits for no refused cluster."""
        pending = self._pending()
        if not pending:
            return wanted
        interest, undecided = self._interests[Kind.ROUTE], self._undecided()
        return {
            name: resource
            for name, resource in wanted.items()
            if not any(mentions(resource, cluster) for cluster in (undecided if name in interest.fresh else pending))
        }

    def _of(self, kind: Kind) -> Resources:
        return self._wanted.of(kind) if self._wanted else NOTHING

    def _version(self, kind: Kind) -> str:
        return self._wanted.versions[kind] if self._wanted else ""


def subscribe(interest: Interest, request: Request, kind: Kind) -> None:
    """A first request of a stream, or one without a nonce: everything that it names is due."""
    anew = not interest.subscribed
    set_names(interest, request, kind)
    interest.due |= interest.names if kind not in COMPLETE else {WILDCARD}
    if anew and not request.version:
        interest.fresh |= interest.names
    if kind not in COMPLETE:
        forget(interest, (interest.sent.keys() | interest.acked.keys()) - interest.names)


def rename(interest: Interest, request: Request, kind: Kind) -> None:
    """An answer may ask for other names than before: new ones are due, forgotten ones are forgotten."""
    before, all_before = interest.names, interest.wildcard
    set_names(interest, request, kind)
    grown = interest.names - before
    if kind in COMPLETE:
        more = interest.wildcard or bool(grown)
        interest.due |= {WILDCARD} if more and not all_before else set()
        return
    interest.due |= grown
    interest.fresh |= grown
    forget(interest, before - interest.names)


def forget(interest: Interest, names: Iterable[str]) -> None:
    """The Envoy no longer has these."""
    for name in names:
        interest.sent.pop(name, None)
        interest.acked.pop(name, None)
        interest.rejected.pop(name, None)


def set_names(interest: Interest, request: Request, kind: Kind) -> None:
    """Names as asked for. None means everything for clusters and listeners that never were named, else nothing."""
    interest.ever_named = interest.ever_named or bool(request.names)
    interest.wildcard = WILDCARD in request.names or (kind in COMPLETE and not interest.ever_named)
    interest.names = request.names - {WILDCARD}
    interest.subscribed = interest.wildcard or bool(interest.names)


def take(kind: Kind, interest: Interest, flight: Iterable[Resource]) -> None:
    """The Envoy runs what was in flight."""
    accepted = {resource.name: resource for resource in flight}
    if kind in COMPLETE:
        interest.acked = accepted
        interest.rejected = {}
        return
    interest.acked.update({name: resource for name, resource in accepted.items() if interest.wants(name)})
    for name in accepted:
        interest.rejected.pop(name, None)


def reject_complete(interest: Interest, flight: tuple[Resource, ...], reason: str) -> None:
    """Clusters or listeners were refused: those that the reason names, the others are applied; without a name, all."""
    changed = [resource for resource in flight if not same(interest.acked.get(resource.name), resource)]
    bad = [resource for resource in changed if resource.name in reason]
    interest.rejected = {resource.name: (resource, reason) for resource in bad or changed}
    if bad:
        old = {name: resource for name, resource in interest.acked.items() if name in interest.rejected}
        good = {resource.name: resource for resource in flight if resource.name not in interest.rejected}
        interest.acked = {**old, **good}


def reject_partial(interest: Interest, flight: tuple[Resource, ...], reason: str) -> None:
    """Endpoints or routes were refused, none took effect. Several are tried alone: one bad must not stop the rest."""
    if len(flight) == 1:
        interest.rejected[flight[0].name] = (flight[0], reason)
        return
    names = {resource.name for resource in flight}
    interest.alone |= names
    interest.due |= names


def unsent(interest: Interest, name: str, resource: Resource) -> bool:
    if refused(interest, name, resource):
        return False
    return name in interest.due or not same(interest.sent.get(name), resource)


def refused(interest: Interest, name: str, resource: Resource) -> bool:
    return name in interest.rejected and same(interest.rejected[name][0], resource)


def renewed(sent: Resources, wanted: Resources) -> Resources:
    """What is changed or new. New too: when it was gone for a moment only, the Envoy asks as if it had its answer."""
    return {name: resource for name, resource in wanted.items() if not same(sent.get(name), resource)}


def alike(one: Resources, other: Resources) -> bool:
    return one.keys() == other.keys() and all(same(resource, other[name]) for name, resource in one.items())


def same(one: Resource | None, other: Resource) -> bool:
    return one is other or (one is not None and one.digest == other.digest)
