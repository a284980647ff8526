"""Under which names does an answer stand in the cache?

Two names for each key. The *bucket* is the key of the reference deployment (source language, domain, first 128
characters): good for affinity and for a Redis Cluster's hash tag, but different texts share it. The *identity* is a
digest of everything that makes one answer differ from another, over the whole text: it alone decides a hit.
"""

import hashlib
import unicodedata
from dataclasses import dataclass
from typing import Final

SCHEMA: Final = 1
PREFIX_CHARS: Final = 128
DIGEST_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class KeyFields:
    """What a cached answer depends on. `content` may come in any normal form."""

    tenant: str
    source: str
    target: str
    domain: str
    mime_type: str
    model: str
    content: str


@dataclass(frozen=True, slots=True)
class CacheName:
    """The derived names. `text` is a digest of the text alone: equal buckets with unequal texts are a collision."""

    tenant: str
    bucket: bytes
    identity: bytes
    text: bytes

    @property
    def shared(self) -> str:
        """The name in Redis; the braces keep a bucket in one slot of a cluster."""
        return f"tc:{SCHEMA}:{{{self.bucket.hex()}}}:{self.identity.hex()}"


def cache_name(fields: KeyFields) -> CacheName:
    """The names of one key. Texts that are equal in NFC have equal names."""
    text = unicodedata.normalize("NFC", fields.content)
    return CacheName(
        tenant=fields.tenant,
        bucket=_bucket(fields.source, fields.domain, text),
        identity=_identity(fields, text),
        text=hashlib.blake2b(text.encode(), digest_size=8).digest(),
    )


def framed(*parts: str) -> bytes:
    """The parts as one byte string that can be cut in one way only: each behind its length.

    Example: framed("en", "us") != framed("enu", "s")
    """
    encoded = [part.encode() for part in parts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in encoded)


def _bucket(source: str, domain: str, text: str) -> bytes:
    return hashlib.md5(framed(source, domain, text[:PREFIX_CHARS]), usedforsecurity=False).digest()


def _identity(fields: KeyFields, text: str) -> bytes:
    canonical = framed(
        str(SCHEMA),
        fields.tenant,
        fields.source,
        fields.target,
        fields.domain,
        fields.mime_type or "text/plain",
        fields.model,
        text,
    )
    return hashlib.blake2b(canonical, digest_size=DIGEST_BYTES).digest()
