"""When is an entry gone, and how does Redis remember it?

A time to live is stretched or shrunk by up to a tenth, so that entries stored together don't expire together. The
value in Redis carries its expiry, so that a copy in the first level ends at the same moment as the original.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

JITTER: Final = 0.1
EXPIRY_BYTES: Final = 8


def jittered(ttl: timedelta, draw: float) -> timedelta:
    """The time to live moved by up to ±10 %.

    Units: `draw` is 0 to 1, uniform.
    Example: 100 s with draw 0, 0.5 and 1 -> 90, 100 and 110 s
    """
    return ttl * (1 + JITTER * (2 * draw - 1))


def packed(value: bytes, expires_at: datetime) -> bytes:
    """The value behind its expiry in milliseconds since 1970."""
    return round(expires_at.timestamp() * 1000).to_bytes(EXPIRY_BYTES, "big") + value


def unpacked(stored: bytes) -> tuple[bytes, datetime] | None:
    """Value and expiry; None when the bytes are not ours."""
    if len(stored) < EXPIRY_BYTES:
        return None
    try:
        expires_at = datetime.fromtimestamp(int.from_bytes(stored[:EXPIRY_BYTES], "big") / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return stored[EXPIRY_BYTES:], expires_at
