"""What does the cache know about a text, and what is it told?

A key holds everything that makes one answer differ from another, the maker's identity included. Looking up never fails
a translation: a cache that is slow or away is a value of its own, and the engine translates. Storing happens after the
answer and delays nobody.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import grpc
from tidegate.cache.v1 import cache_pb2
from tidegate.translation.v1 import translation_pb2

from services.runtime.texts import MAX_CODE_POINTS, MAX_TEXTS, PLAIN_TEXT
from services.translator.languages import Pair

CacheResult = translation_pb2.CacheResult
_LEVELS = {
    cache_pb2.CACHE_LEVEL_UNSPECIFIED: translation_pb2.CACHE_RESULT_MISS,
    cache_pb2.CACHE_LEVEL_LOCAL: translation_pb2.CACHE_RESULT_HIT_LOCAL,
    cache_pb2.CACHE_LEVEL_SHARED: translation_pb2.CACHE_RESULT_HIT_SHARED,
}
HITS = frozenset({translation_pb2.CACHE_RESULT_HIT_LOCAL, translation_pb2.CACHE_RESULT_HIT_SHARED})


@dataclass(frozen=True, slots=True)
class Key:
    """Whose answer, from what to what. `model` is the identity of the answer's maker."""

    pair: Pair
    domain: str
    model: str
    content: str

    def message(self) -> cache_pb2.CacheKey:
        """The key on the wire."""
        return cache_pb2.CacheKey(
            source_language_code=self.pair.source,
            target_language_code=self.pair.target,
            domain=self.domain,
            mime_type=PLAIN_TEXT,
            model=self.model,
            content=self.content,
        )


@dataclass(frozen=True, slots=True)
class Look:
    """What a look-up said about one key. `text` and `unknown_ratio` are set on a hit."""

    result: CacheResult
    text: str = ""
    unknown_ratio: float = 0.0

    @property
    def hit(self) -> bool:
        """True when the answer is known."""
        return self.result in HITS


@dataclass(frozen=True, slots=True)
class Entry:
    """A fresh answer."""

    key: Key
    text: str
    unknown_ratio: float


class Cache(Protocol):
    """Where answers are kept."""

    async def lookup(self, keys: Sequence[Key]) -> list[Look]:
        """One look a key, in order. Never raises for a cache that is away."""

    async def store(self, entries: Sequence[Entry]) -> None:
        """Keeps the answers if it can."""


class NoCache:
    """The process was started without a cache: no look-up is made."""

    async def lookup(self, keys: Sequence[Key]) -> list[Look]:
        """Nothing was asked."""
        return [Look(translation_pb2.CACHE_RESULT_UNSPECIFIED)] * len(keys)

    async def store(self, entries: Sequence[Entry]) -> None:
        """Nothing is kept."""


@dataclass(frozen=True, slots=True)
class CacheProxy:
    """The cache-proxy service; `stub` is a generated CacheServiceStub."""

    stub: Any

    async def lookup(self, keys: Sequence[Key]) -> list[Look]:
        """One look a key; all of a batch that failed are UNAVAILABLE."""
        return [look for batch in batches(keys) for look in await self._batch(batch)]

    async def _batch(self, keys: Sequence[Key]) -> list[Look]:
        request = cache_pb2.BatchLookupRequest(keys=[key.message() for key in keys])
        try:
            response = await self.stub.BatchLookup(request)
        except grpc.aio.AioRpcError:
            return [Look(translation_pb2.CACHE_RESULT_UNAVAILABLE)] * len(keys)
        if len(response.results) != len(keys):
            return [Look(translation_pb2.CACHE_RESULT_UNAVAILABLE)] * len(keys)
        return [
            Look(_LEVELS[found.level], found.value.translated_text, found.value.unknown_ratio)
            for found in response.results
        ]

    async def store(self, entries: Sequence[Entry]) -> None:
        """Sends the answers; a cache that is away is not told again."""
        by_key = {entry.key: entry for entry in entries}
        for batch in batches(list(by_key)):
            try:
                await self.stub.BatchStore(_store([by_key[key] for key in batch]))
            except grpc.aio.AioRpcError:
                return


def _store(entries: Sequence[Entry]) -> cache_pb2.BatchStoreRequest:
    values = [
        cache_pb2.StoreEntry(
            key=entry.key.message(),
            value=cache_pb2.CachedTranslation(translated_text=entry.text, unknown_ratio=entry.unknown_ratio),
        )
        for entry in entries
    ]
    return cache_pb2.BatchStoreRequest(entries=values)


def batches(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    """The keys in runs that respect the cache's limits on keys and code points of one request."""
    start, points = 0, 0
    for index, key in enumerate(keys):
        if index > start and (index - start >= MAX_TEXTS or points + len(key.content) > MAX_CODE_POINTS):
            yield keys[start:index]
            start, points = index, 0
        points += len(key.content)
    if start < len(keys):
        yield keys[start:]
