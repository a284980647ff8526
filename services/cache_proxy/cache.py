"""How do the two levels answer together?

Look-up: the process's own memory, then one question to Redis for everything that it lacks; what Redis knew is kept in
memory until the same moment. Store: both levels, with one jittered expiry.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from services.cache_proxy.expiry import jittered, packed, unpacked
from services.cache_proxy.keys import CacheName
from services.cache_proxy.memory import MemoryCache
from services.cache_proxy.metrics import CacheMeter
from services.cache_proxy.shared import SharedLevel


class Level(StrEnum):
    """Where an answer was found."""

    LOCAL = "local"
    SHARED = "shared"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to one look-up; `value` is empty on a miss."""

    level: Level
    value: bytes = b""


@dataclass(frozen=True, slots=True)
class Storable:
    """An entry to be stored."""

    name: CacheName
    value: bytes
    ttl: timedelta


@dataclass(frozen=True, slots=True)
class Stored:
    """`taken`: entries in the first level. `shared`: whether the second has them too."""

    taken: int
    shared: bool


MISS = Found(Level.NONE)


@dataclass(frozen=True, slots=True)
class TwoLevelCache:
    """Memory, then Redis. `draw` gives the jitter, 0 to 1."""

    memory: MemoryCache
    shared: SharedLevel
    meter: CacheMeter
    draw: Callable[[], float]

    async def lookup(self, names: Sequence[CacheName], *, now: datetime) -> list[Found]:
        """The answers, in the order of `names`."""
        local = [self.memory.get(name, now=now) for name in names]
        lacking = [name for name, value in zip(names, local, strict=True) if value is None]
        known = await self._from_shared(lacking, now=now)
        found = [
            Found(Level.LOCAL, value) if value is not None else known.get(name.identity, MISS)
            for name, value in zip(names, local, strict=True)
        ]
        self._count(names, found)
        return found

    async def store(self, items: Sequence[Storable], *, now: datetime) -> Stored:
        """Store in both levels. What the first refuses (too large) doesn't go to the second either."""
        taken: list[tuple[str, bytes, timedelta]] = []
        for item in items:
            ttl = jittered(item.ttl, self.draw())
            if self.memory.put(item.name, item.value, expires_at=now + ttl, now=now):
                taken.append((item.name.shared, packed(item.value, now + ttl), ttl))
        self.meter.stored(len(taken), refused=len(items) - len(taken))
        self.meter.level(self.memory)
        return Stored(len(taken), shared=await self.shared.put(taken) if taken else False)

    async def _from_shared(self, lacking: Sequence[CacheName], *, now: datetime) -> dict[bytes, Found]:
        stored = await self.shared.get([name.shared for name in lacking])
        answers: dict[bytes, Found] = {}
        for name, raw in zip(lacking, stored, strict=True):
            value = unpacked(raw) if raw is not None else None
            if value is not None and value[1] > now:
                self.memory.put(name, value[0], expires_at=value[1], now=now)
                answers[name.identity] = Found(Level.SHARED, value[0])
        return answers

    def _count(self, names: Sequence[CacheName], found: Sequence[Found]) -> None:
        missed = [name for name, answer in zip(names, found, strict=True) if answer.level is Level.NONE]
        collisions = sum(self.memory.holds_another_text(name) for name in missed)
        self.meter.misses(len(missed), collisions=collisions)
        for level in (Level.LOCAL, Level.SHARED):
            self.meter.hits(level, sum(answer.level is level for answer in found))
        self.meter.level(self.memory)
