"""Which proxies hold a route, and which of them run its weights? As all istiods say it.

Right after a patch what was sent and what was acknowledged still agree, on the former configuration. So only a nonce
counts that was sent after it, and a dump of the proxy's routes must show the weights in the version that it
acknowledged, or before a push that it acknowledged. In a large mesh a sample is dumped; of the rest, those hold the
route that were sent something new.

An istiod can push for a change and still send the route as it was: it took it from its cache (seen on 1.32, in one of
ten first changes after its start: "RDS: PUSH ... cached:1/1"). Every proxy is then in step, on old weights, for good.
So the same weights are written once more, in another scale: nothing changes in meaning, and istiod makes the route
anew.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import structlog

from control.adapters.kubernetes.istiod import Istiods
from control.adapters.kubernetes.syncz import (
    Dumped,
    Synced,
    Weights,
    dumped,
    expected,
    has,
    later,
    routes_of,
    runs,
    runs_another,
    synced,
)
from control.errors import TidegateError
from control.ports import Acknowledgement, Documents
from mesh.istio.weights import RouteView, WeightPatch
from mesh.traffic import RouteRef

SAMPLE = 24
STALE_FOR_S = 2.0
DUMP_FRESH_S = 0.1
SCALE, MOST_WEIGHT = 10, 1_000_000_000
RouteName = tuple[str, str]
ProxyKey = tuple[str, str]
"""Replica and name."""


@dataclass(slots=True)
class Known:
    """What is known of one revision: the nonces from before it was written, who runs it already, and who acknowledged a
    newer push that did not have it. `stale_since` is when the first of these was seen. `bars` are, by proxy, what had
    been sent when its routes had been shown with the weights before (empty: they are shown for the first time).
    """

    revision: str
    before: Mapping[str, str] = field(default_factory=dict)
    bars: dict[str, str] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)
    holders: set[str] = field(default_factory=set)
    stale: set[str] = field(default_factory=set)
    stale_since: float | None = None
    written_again: bool = False

    def overtaken(self, proxy: Synced, *, shown: bool) -> bool:
        """Has the proxy acknowledged what was sent after its routes were shown with the weights? Where pushes never
        end, what was sent last is never what was acknowledged last.
        """
        if not shown:
            self.bars.pop(proxy.proxy, None)
            return False
        bar = self.bars.get(proxy.proxy)
        if not bar:
            self.bars[proxy.proxy] = "" if bar is None else proxy.sent_version
            return False
        return later(proxy.acked_version, bar)


@dataclass(frozen=True, slots=True)
class Asked:
    """A dump that was asked for: of a proxy as it was then. Units: `at` is seconds of the monotonic clock."""

    proxy: Synced
    at: float
    answer: asyncio.Future[Dumped | None]

    def holds(self, proxy: Synced, now: float) -> bool:
        """A dump of the version that the proxy has acknowledged holds until it is sent another: hundreds of shifts ask
        for the same. Any other holds for a moment.
        """
        if self.proxy != proxy:
            return False
        if not self.answer.done():
            return True
        if self.answer.cancelled() or self.answer.exception() is not None:
            return False
        found = self.answer.result()
        conclusive = found is not None and proxy.in_step and proxy.acked_version in found.versions
        return conclusive or now - self.at < DUMP_FRESH_S


class ClusterProxies:
    """The Proxies port. `before_write` is called by whoever writes, right before it does."""

    def __init__(self, istiods: Istiods, documents: Documents) -> None:
        self._istiods = istiods
        self._documents = documents
        self._log: Any = structlog.get_logger("control")
        self._known: dict[RouteRef, Known] = {}
        self._nonces: dict[RouteName, Mapping[str, str]] = {}
        self._dumps: dict[ProxyKey, Asked] = {}

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
        self._dumps = {key: each for key, each in self._dumps.items() if key in proxies}
        known = self._revision(ref, revision)
        fresh = {
            key: each for key, each in _sampled(proxies).items() if key[1] not in known.running or not each.in_step
        }
        await asyncio.gather(*(self._look(known, ref, key, each, expected(view)) for key, each in fresh.items()))
        await self._mend(known, view)
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
        name = key[1]
        dump = await self._dumped(key, proxy)
        if dump is None:  # it has left, or is only coming: what is known of it stays, and it has acknowledged nothing
            known.running.discard(name)
            return
        found = routes_of(dump, ref)
        (known.holders.add if found.weights else known.holders.discard)(name)
        is_new = known.before.get(name) != proxy.sent
        runs_it = is_new and (runs(proxy, found, wanted) or known.overtaken(proxy, shown=has(found, wanted)))
        (known.running.add if runs_it else known.running.discard)(name)
        is_stale = is_new and bool(known.before) and runs_another(proxy, found, wanted)
        (known.stale.add if is_stale else known.stale.discard)(name)

    async def _dumped(self, key: ProxyKey, proxy: Synced) -> Dumped | None:
        """What the proxy's routes are."""
        now, asked = time.monotonic(), self._dumps.get(key)
        if asked is None or not asked.holds(proxy, now):
            asked = self._dumps[key] = Asked(proxy, now, asyncio.ensure_future(self._ask(key)))
        return await asyncio.shield(asked.answer)

    async def _ask(self, key: ProxyKey) -> Dumped | None:
        dump = await self._istiods.config_dump(*key)
        return None if dump is None else dumped(dump)

    async def _mend(self, known: Known, view: RouteView) -> None:
        """Writes the same weights in another scale once istiod has been sending old ones for a while."""
        now = time.monotonic()
        known.stale_since = (known.stale_since or now) if known.stale else None
        if known.stale_since is None or known.written_again or now - known.stale_since < STALE_FOR_S:
            return
        known.written_again = True
        patch = rescaled(view)
        if patch is not None:
            self._log.warning("istiod sends old weights; they are written again", route=str(view.ref), to=patch.weights)
            await self._documents.apply(patch)


def rescaled(view: RouteView) -> WeightPatch | None:
    """The same split in other numbers; None where there is none to write."""
    weights = [each.weight or 0 for each in view.destinations]
    shrinks = all(each % SCALE == 0 for each in weights) and sum(weights) > SCALE * 10
    scaled = tuple(each // SCALE if shrinks else each * SCALE for each in weights)
    if len(weights) < 2 or not 0 < sum(scaled) <= MOST_WEIGHT:
        return None
    return WeightPatch(view.ref, view.index, view.destinations, scaled)


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
