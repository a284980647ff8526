"""Which numbers does the cache publish beyond those of every service?"""

from dataclasses import dataclass

from prometheus_client import Counter, Gauge

from services.cache_proxy.memory import Eviction, MemoryCache
from services.cache_proxy.shared import SharedState
from services.runtime.metrics import Meter, Metric

HITS = Metric("tidegate_cache_hits_total", Counter, "Look-ups answered, by level (local, shared).", ("level",))
MISSES = Metric("tidegate_cache_misses_total", Counter, "Look-ups that neither level could answer.")
STORED = Metric("tidegate_cache_stored_total", Counter, "Entries taken into the first level.")
REFUSED = Metric("tidegate_cache_refused_total", Counter, "Entries not taken: over a size limit or expired.")
BYTES = Metric("tidegate_cache_bytes", Gauge, "Bytes that the first level takes, bookkeeping included.")
ENTRIES = Metric("tidegate_cache_entries", Gauge, "Entries in the first level.")
EVICTIONS = Metric(
    "tidegate_cache_evictions_total", Counter, "Entries forgotten, by reason (size, quota, expired).", ("reason",)
)
COLLISIONS = Metric(
    "tidegate_cache_prefix_collision_total",
    Counter,
    "Misses whose bucket (first 128 characters) held another text: wrong answers of a cache without identities.",
)
REDIS_STATE = Metric("tidegate_cache_redis_state", Gauge, "1 for the state of the second level, else 0.", ("state",))
METRICS = (HITS, MISSES, STORED, REFUSED, BYTES, ENTRIES, EVICTIONS, COLLISIONS, REDIS_STATE)


@dataclass(frozen=True, slots=True)
class CacheMeter:
    """The cache's numbers of one process."""

    meter: Meter

    def start(self) -> None:
        """Publish every number from the start, so that a rate sees the first event."""
        for metric in (MISSES, STORED, REFUSED, BYTES, ENTRIES, COLLISIONS):
            self.meter[metric].inc(0)
        for level in ("local", "shared"):
            self.meter[HITS].labels(level).inc(0)
        for reason in Eviction:
            self.meter[EVICTIONS].labels(reason).inc(0)

    def hits(self, level: str, amount: int) -> None:
        self.meter[HITS].labels(level).inc(amount)

    def misses(self, amount: int, *, collisions: int) -> None:
        self.meter[MISSES].inc(amount)
        self.meter[COLLISIONS].inc(collisions)

    def stored(self, taken: int, *, refused: int) -> None:
        self.meter[STORED].inc(taken)
        self.meter[REFUSED].inc(refused)

    def evicted(self, reason: Eviction) -> None:
        self.meter[EVICTIONS].labels(reason).inc()

    def level(self, memory: MemoryCache) -> None:
        """How full the first level is."""
        self.meter[BYTES].set(memory.size)
        self.meter[ENTRIES].set(len(memory))

    def redis(self, state: SharedState) -> None:
        for other in SharedState:
            self.meter[REDIS_STATE].labels(other).set(int(other is state))
