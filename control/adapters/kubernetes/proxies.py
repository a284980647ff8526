"""Which proxies hold a route, and which of them run its weights? As all istiods say it.

Right after a patch what was sent and what was acknowledged still agree, on the former configuration. So only a nonce
counts that was sent after it, and a dump of the proxy's routes must show the weights in the version that it
acknowledged. In a large mesh a sample is dumped; of the rest, those hold the route that were sent something new.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from zlib import crc32

from control.adapters.kubernetes.istiod import Istiods
from control.adapters.kubernetes.syncz import Synced, Weights, expected, routes_of, runs, synced
from control.errors import TidegateError
from control.ports import Acknowledgement, Documents
from mesh.traffic import RouteRef

SAMPLE = 24
RouteName = tuple[str, str]


@dataclass(slots=True)
class Known:
    """What is known of one revision: the nonces from before it was written, and who runs it already."""

    revision: str
    before: Mapping[str, str] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)
    holders: set[str] = field(default_factory=set)


class ClusterProxies:
    """The Proxies port. `before_write` is called by whoever writes, right before it does."""

    def __init__(self, istiods: Istiods, documents: Documents) -> None:
        self._istiods = istiods
        self._documents = documents
        self._known: dict[RouteRef, Known] = {}
        self._nonces: dict[RouteName, Mapping[str, str]] = {}

    async def before_write(self, ref: RouteRef) -> None:
        """Remembers which nonces were sent until now. Who can't be asked is asked again later."""
        self._istiods.forget()
        try:
            proxies = await self._proxies()
        except TidegateError:
            self._nonces.pop((ref.namespace, ref.virtual_service), None)
        else:
            self._nonces[ref.namespace, ref.virtual_service] = {name: each.sent for (_, name), each in proxies.items()}

    async def acknowledgement(self, ref: RouteRef, revision: str) -> Acknowledgement:
        """Raises Unavailable when any istiod can't be asked."""
        view = await self._documents.route(ref)
        if view.revision != revision:
            return Acknowledgement(ref, revision, frozenset(), frozenset(), current=False)
        proxies = await self._proxies()
        known = self._revision(ref, revision)
        fresh = {
            key: each for key, each in _sampled(proxies).items() if key[1] not in known.running or not each.in_step
        }
        await asyncio.gather(*(self._look(known, ref, key, each, expected(view)) for key, each in fresh.items()))
        names = {name for _, name in proxies}
        holders = (known.holders & names) | _pushed(proxies, known) if len(proxies) > SAMPLE else known.holders & names
        acked = {name for name in holders if name in known.running} | (_rest(proxies, known) & holders)
        return Acknowledgement(ref, revision, frozenset(holders), frozenset(acked))

    def _revision(self, ref: RouteRef, revision: str) -> Known:
        known = self._known.get(ref)
        if known is None or known.revision != revision:
            before = self._nonces.get((ref.namespace, ref.virtual_service), {})
            known = self._known[ref] = Known(revision, before)
        return known

    async def _proxies(self) -> dict[tuple[str, str], Synced]:
        """All proxies by replica and name."""
        replicas = await self._istiods.replicas()
        answers = await asyncio.gather(*(self._istiods.syncz(each) for each in replicas))
        return {
            (replica, name): each
            for replica, answer in zip(replicas, answers, strict=True)
            for name, each in synced(answer).items()
        }

    async def _look(self, known: Known, ref: RouteRef, key: tuple[str, str], proxy: Synced, wanted: Weights) -> None:
        replica, name = key
        dump = await self._istiods.config_dump(replica, name)
        if dump is None:  # it has left, or is only coming: what is known of it stays, and it has acknowledged nothing
            known.running.discard(name)
            return
        found = routes_of(dump, ref)
        (known.holders.add if found.weights else known.holders.discard)(name)
        is_new = known.before.get(name) != proxy.sent
        (known.running.add if is_new and runs(proxy, found, wanted) else known.running.discard)(name)


def _sampled(proxies: Mapping[tuple[str, str], Synced]) -> Mapping[tuple[str, str], Synced]:
    """All of a small mesh, always the same few of a large one."""
    chosen = sorted(proxies, key=lambda key: crc32(key[1].encode()))[:SAMPLE]
    return {key: proxies[key] for key in chosen}


def _pushed(proxies: Mapping[tuple[str, str], Synced], known: Known) -> set[str]:
    return {name for (_, name), each in proxies.items() if known.before and known.before.get(name) != each.sent}


def _rest(proxies: Mapping[tuple[str, str], Synced], known: Known) -> set[str]:
    """Beyond the sample: who has acknowledged what it was sent since the write."""
    sample = {name for _, name in _sampled(proxies)}
    pushed = _pushed(proxies, known)
    return {name for (_, name), each in proxies.items() if name not in sample and name in pushed and each.in_step}
