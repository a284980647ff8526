"""How do the cache's calls read and answer on the wire?"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from google.protobuf.message import DecodeError
from tidegate.cache.v1 import cache_pb2 as pb
from tidegate.cache.v1.cache_pb2_grpc import CacheServiceServicer

from services.cache_proxy.cache import Found, Level, Storable, TwoLevelCache
from services.cache_proxy.keys import CacheName, KeyFields, cache_name
from services.runtime.call import annotate
from services.runtime.errors import FieldViolation, bad_request
from services.runtime.texts import request_violations

MAX_TTL: Final = timedelta(days=7)
LEVELS: Final = {Level.LOCAL: pb.CACHE_LEVEL_LOCAL, Level.SHARED: pb.CACHE_LEVEL_SHARED}


@dataclass(slots=True)
class CacheServicer(CacheServiceServicer):
    """CacheService over a two-level cache. `clock` gives the current time in UTC."""

    cache: TwoLevelCache
    default_ttl: timedelta
    clock: Callable[[], datetime]

    async def BatchLookup(self, request: pb.BatchLookupRequest, _context: Any) -> pb.BatchLookupResponse:
        """What is known of each key."""
        _refuse(_batch_violations([key.content for key in request.keys], "keys"))
        found = await self.cache.lookup([_name(key) for key in request.keys], now=self.clock())
        annotate(keys=len(found), hits=sum(answer.level is not Level.NONE for answer in found))
        return pb.BatchLookupResponse(results=[lookup_result(answer) for answer in found])

    async def BatchStore(self, request: pb.BatchStoreRequest, _context: Any) -> pb.BatchStoreResponse:
        """Take the entries into both levels."""
        texts = [entry.key.content for entry in request.entries]
        _refuse([*_batch_violations(texts, "entries"), *_ttl_violations(request.entries)])
        stored = await self.cache.store([self._storable(entry) for entry in request.entries], now=self.clock())
        annotate(entries=len(request.entries), stored=stored.taken, shared=stored.shared)
        return pb.BatchStoreResponse(stored=stored.taken, shared=stored.shared)

    def _storable(self, entry: pb.StoreEntry) -> Storable:
        ttl = entry.ttl.ToTimedelta() if entry.HasField("ttl") else self.default_ttl
        return Storable(_name(entry.key), entry.value.SerializeToString(), ttl)


def lookup_result(answer: Found) -> pb.LookupResult:
    """The contract's message for one answer; a value that can't be read is a miss."""
    if answer.level is Level.NONE:
        return pb.LookupResult()
    try:
        value = pb.CachedTranslation.FromString(answer.value)
    except DecodeError:
        return pb.LookupResult()
    return pb.LookupResult(level=LEVELS[answer.level], value=value)


def _name(key: pb.CacheKey) -> CacheName:
    return cache_name(
        KeyFields(
            tenant=key.tenant,
            source=key.source_language_code,
            target=key.target_language_code,
            domain=key.domain,
            mime_type=key.mime_type,
            model=key.model,
            content=key.content,
        )
    )


def _batch_violations(texts: Sequence[str], field: str) -> list[FieldViolation]:
    return request_violations(texts, "", field=field)


def _ttl_violations(entries: Iterable[pb.StoreEntry]) -> Iterable[FieldViolation]:
    longest = MAX_TTL.total_seconds()
    for number, entry in enumerate(entries):
        seconds = entry.ttl.seconds + entry.ttl.nanos / 1e9
        if entry.HasField("ttl") and not 0 < seconds <= longest:
            yield FieldViolation(f"entries[{number}].ttl", f"{seconds:g} s is not above 0 and at most {longest:g} s")


def _refuse(violations: Sequence[FieldViolation]) -> None:
    if violations:
        raise bad_request(*violations)
