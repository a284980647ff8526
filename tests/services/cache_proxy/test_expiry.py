"""Jittered lives, and values that carry their expiry."""

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.cache_proxy.breaker import Breaker, probe_delays
from services.cache_proxy.expiry import jittered, packed, unpacked


@pytest.mark.parametrize(("draw", "seconds"), [(0, 90), (0.5, 100), (1, 110)], ids=["shortest", "middle", "longest"])
def test_jitter(draw: float, seconds: int) -> None:
    assert jittered(timedelta(seconds=100), draw) == timedelta(seconds=seconds)


@given(st.binary(), st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_a_value_comes_back_with_its_expiry(value: bytes, expires_at: datetime) -> None:
    found, at = unpacked(packed(value, expires_at))
    assert found == value
    assert abs(at - expires_at) <= timedelta(milliseconds=1)


@pytest.mark.parametrize("stored", [b"", b"short", b"\xff" * 20], ids=["empty", "too short", "a time beyond time"])
def test_foreign_bytes_are_no_value(stored: bytes) -> None:
    assert unpacked(stored) is None


def test_the_breaker_opens_at_failures_in_a_row_only() -> None:
    breaker = Breaker(limit=2)
    assert not breaker.fail()
    breaker.succeed()
    assert not breaker.fail()
    assert breaker.fail()
    assert breaker.is_open
    assert not breaker.fail(), "it was open already"
    breaker.succeed()
    assert breaker.is_open, "an answer that was under way proves nothing"
    breaker.close()
    assert not breaker.is_open
    assert not breaker.fail(), "the failures before are forgotten"


def test_probes_come_at_growing_intervals() -> None:
    delays = [delay / timedelta(milliseconds=1) for delay in islice(probe_delays(), 7)]
    assert delays == [100, 200, 400, 800, 1600, 2000, 2000]
