"""What does the process itself remember, and what does it forget first?

The least recently used entry goes first, as soon as the bytes would pass the bound. A tenant that would pass its quota
loses its own oldest entries, never another tenant's. An entry is gone at its expiry. The clock is the caller's.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from services.cache_proxy.keys import CacheName

ENTRY_OVERHEAD_BYTES: Final = 1_000  # names, both orders, the bucket's count: 730 measured, rounded up


class Eviction(StrEnum):
    """Why an entry went: too many bytes in all, too many of its tenant, or its time was over."""

    SIZE = "size"
    QUOTA = "quota"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored value and the moment it is gone."""

    name: CacheName
    value: bytes
    expires_at: datetime

    @property
    def size(self) -> int:
        return len(self.value) + len(self.name.tenant) + ENTRY_OVERHEAD_BYTES


@dataclass(slots=True)
class Tenant:
    """One tenant's entries, oldest first, and their bytes."""

    identities: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    size: int = 0


@dataclass(slots=True)
class MemoryCache:
    """The first level.

    Invariant: `size` <= `max_bytes`, and each tenant's <= `tenant_bytes`, after every call.
    """

    max_bytes: int
    tenant_bytes: int
    evicted: Callable[[Eviction], None] = lambda _reason: None
    size: int = 0
    _entries: OrderedDict[bytes, Entry] = field(default_factory=OrderedDict)
    _tenants: dict[str, Tenant] = field(default_factory=dict)
    _buckets: dict[bytes, Counter[bytes]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, name: CacheName, *, now: datetime) -> bytes | None:
        """The value, which thereby becomes the most recently used; None on a miss."""
        entry = self._entries.get(name.identity)
        if entry is None:
            return None
        if entry.expires_at <= now:
            self._remove(entry, Eviction.EXPIRED)
            return None
        self._entries.move_to_end(name.identity)
        self._tenants[entry.name.tenant].identities.move_to_end(name.identity)
        return entry.value

    def put(self, name: CacheName, value: bytes, *, expires_at: datetime, now: datetime) -> bool:
        """Store the value in place of an older one. False: it is over a bound by itself, or expired already."""
        entry = Entry(name, value, expires_at)
        if entry.size > min(self.max_bytes, self.tenant_bytes) or expires_at <= now:
            return False
        if (older := self._entries.get(name.identity)) is not None:
            self._remove(older, None)
        self._make_room(entry)
        self._insert(entry)
        return True

    def holds_another_text(self, name: CacheName) -> bool:
        """Whether the bucket holds some other text: a cache by bucket alone would have answered wrongly."""
        return any(text != name.text for text in self._buckets.get(name.bucket, ()))

    def tenant_size(self, tenant: str) -> int:
        """Bytes that the tenant's entries take."""
        return self._tenants[tenant].size if tenant in self._tenants else 0

    def _make_room(self, entry: Entry) -> None:
        while self.tenant_size(entry.name.tenant) + entry.size > self.tenant_bytes:
            oldest = next(iter(self._tenants[entry.name.tenant].identities))
            self._remove(self._entries[oldest], Eviction.QUOTA)
        while self.size + entry.size > self.max_bytes:
            self._remove(next(iter(self._entries.values())), Eviction.SIZE)

    def _insert(self, entry: Entry) -> None:
        name = entry.name
        self._entries[name.identity] = entry
        tenant = self._tenants.setdefault(name.tenant, Tenant())
        tenant.identities[name.identity] = None
        tenant.size += entry.size
        self.size += entry.size
        self._buckets.setdefault(name.bucket, Counter())[name.text] += 1

    def _remove(self, entry: Entry, reason: Eviction | None) -> None:
        name = entry.name
        del self._entries[name.identity]
        tenant = self._tenants[name.tenant]
        del tenant.identities[name.identity]
        tenant.size -= entry.size
        self.size -= entry.size
        if not tenant.identities:
            del self._tenants[name.tenant]
        self._forget_text(name)
        if reason is not None:
            self.evicted(reason)

    def _forget_text(self, name: CacheName) -> None:
        texts = self._buckets[name.bucket]
        texts[name.text] -= 1
        if not texts[name.text]:
            del texts[name.text]
        if not texts:
            del self._buckets[name.bucket]
