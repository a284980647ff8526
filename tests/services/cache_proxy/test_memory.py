"""The first level never passes its bounds and forgets in the right order."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from services.cache_proxy.keys import CacheName, KeyFields, cache_name
from services.cache_proxy.memory import ENTRY_OVERHEAD_BYTES, Eviction, MemoryCache

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def name_of(content: str, tenant: str = "", model: str = "m1") -> CacheName:
    return cache_name(KeyFields(tenant, "en", "es", "", "", model, content))


def filled(memory: MemoryCache, *contents: str, tenant: str = "") -> MemoryCache:
    for content in contents:
        memory.put(name_of(content, tenant), content.encode(), expires_at=NOON + HOUR, now=NOON)
    return memory


def known(memory: MemoryCache, *contents: str, tenant: str = "", now: datetime = NOON) -> list[bool]:
    return [memory.get(name_of(content, tenant), now=now) == content.encode() for content in contents]


ONE = ENTRY_OVERHEAD_BYTES + 1


def test_what_was_stored_is_found() -> None:
    assert known(filled(MemoryCache(10 * ONE, 10 * ONE), "a", "b"), "a", "b", "c") == [True, True, False]


def test_the_least_recently_used_goes_first() -> None:
    reasons: list[Eviction] = []
    memory = filled(MemoryCache(3 * ONE, 9 * ONE, reasons.append), "a", "b", "c")
    assert known(memory, "a") == [True]
    filled(memory, "d")
    assert known(memory, "a", "b", "c", "d") == [True, False, True, True]
    assert reasons == [Eviction.SIZE]


def test_storing_again_replaces() -> None:
    memory = filled(MemoryCache(3 * ONE, 3 * ONE), "a", "b", "a")
    assert (len(memory), memory.size) == (2, 2 * ONE)


@pytest.mark.parametrize(
    ("at", "found"),
    [
        pytest.param(NOON + HOUR - timedelta(microseconds=1), True, id="just before"),
        pytest.param(NOON + HOUR, False, id="at its expiry"),
        pytest.param(NOON + 2 * HOUR, False, id="later"),
    ],
)
def test_an_entry_is_gone_at_its_expiry(at: datetime, found: bool) -> None:
    reasons: list[Eviction] = []
    memory = filled(MemoryCache(3 * ONE, 3 * ONE, reasons.append), "a")
    assert known(memory, "a", now=at) == [found]
    assert (memory.size, reasons) == ((ONE, []) if found else (0, [Eviction.EXPIRED]))


def test_a_tenant_over_its_quota_loses_its_own_oldest() -> None:
    reasons: list[Eviction] = []
    memory = MemoryCache(10 * (ONE + 1), 2 * (ONE + 1), reasons.append)
    filled(memory, "a", "b", tenant="x")
    filled(memory, "a", tenant="y")
    filled(memory, "c", tenant="x")
    assert known(memory, "a", "b", "c", tenant="x") == [False, True, True]
    assert known(memory, "a", tenant="y") == [True]
    assert reasons == [Eviction.QUOTA]


@pytest.mark.parametrize(
    ("value", "expires_at"),
    [
        pytest.param(b"x" * 3 * ONE, NOON + HOUR, id="larger than the bound"),
        pytest.param(b"x" * 2 * ONE, NOON + HOUR, id="larger than the quota"),
        pytest.param(b"x", NOON, id="expired already"),
    ],
)
def test_what_is_not_taken_leaves_the_rest_alone(value: bytes, expires_at: datetime) -> None:
    memory = filled(MemoryCache(3 * ONE, 2 * ONE), "a")
    assert not memory.put(name_of("b"), value, expires_at=expires_at, now=NOON)
    assert known(memory, "a", "b") == [True, False]


@pytest.mark.parametrize(
    ("asked", "collides"),
    [
        pytest.param(name_of("p" * 128 + "other"), True, id="another text with the same beginning"),
        pytest.param(name_of("p" * 128 + "tail"), False, id="the text itself"),
        pytest.param(name_of("p" * 128 + "tail", model="m2"), False, id="the text for another version"),
        pytest.param(name_of("q" * 128), False, id="another beginning"),
    ],
)
def test_collision_of_prefixes(asked: CacheName, collides: bool) -> None:
    memory = filled(MemoryCache(10 * ONE, 10 * ONE), "p" * 128 + "tail")
    assert memory.holds_another_text(asked) is collides


def test_a_forgotten_text_collides_no_more() -> None:
    memory = filled(MemoryCache(2 * ONE + 300, 2 * ONE + 300), "p" * 128 + "tail", "a", "b")
    assert not memory.holds_another_text(name_of("p" * 128 + "other"))


class MemoryMachine(RuleBasedStateMachine):
    """Any sequence of stores, look-ups and passing time, beside a naive list that forgets in the same way."""

    names = st.builds(name_of, st.sampled_from("abcdefgh"), st.sampled_from(["", "x", "yy"]))

    @initialize(bound=st.integers(1, 6), quota=st.integers(1, 6))
    def begin(self, bound: int, quota: int) -> None:
        self.reasons: Counter[Eviction] = Counter()
        self.memory = MemoryCache(bound * 1_100, quota * 1_100, lambda reason: self.reasons.update([reason]))
        self.model: list[tuple[CacheName, bytes, datetime]] = []
        self.now = NOON

    @rule(name=names, value=st.binary(max_size=2_000), ttl_s=st.integers(-1, 20))
    def put(self, name: CacheName, value: bytes, ttl_s: int) -> None:
        expires_at = self.now + timedelta(seconds=ttl_s)
        taken = self.memory.put(name, value, expires_at=expires_at, now=self.now)
        fits = self._size(name, value) <= min(self.memory.max_bytes, self.memory.tenant_bytes)
        assert taken is (fits and ttl_s > 0)
        if taken:
            self.model = [item for item in self.model if item[0] != name]
            self._forget_oldest(self._size(name, value), self.memory.tenant_bytes, name.tenant)
            self._forget_oldest(self._size(name, value), self.memory.max_bytes, None)
            self.model.append((name, value, expires_at))

    @rule(name=names)
    def get(self, name: CacheName) -> None:
        item = next((item for item in self.model if item[0] == name), None)
        alive = item is not None and item[2] > self.now
        assert self.memory.get(name, now=self.now) == (item[1] if alive else None)
        if item is not None:
            self.model.remove(item)
            self.model.extend([item] if alive else [])

    @rule(seconds=st.integers(0, 10))
    def pass_time(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @invariant()
    def bounds_hold(self) -> None:
        sizes: Counter[str] = Counter()
        for name, value, _ in self.model:
            sizes[name.tenant] += self._size(name, value)
        assert len(self.memory) == len(self.model)
        assert self.memory.size == sizes.total() <= self.memory.max_bytes
        for tenant in ("", "x", "yy"):
            assert self.memory.tenant_size(tenant) == sizes[tenant] <= self.memory.tenant_bytes

    def _forget_oldest(self, coming: int, bound: int, tenant: str | None) -> None:
        def mine() -> list[tuple[CacheName, bytes, datetime]]:
            return [item for item in self.model if tenant is None or item[0].tenant == tenant]

        while sum(self._size(name, value) for name, value, _ in mine()) + coming > bound:
            self.model.remove(mine()[0])

    @staticmethod
    def _size(name: CacheName, value: bytes) -> int:
        return len(value) + len(name.tenant) + ENTRY_OVERHEAD_BYTES


TestMemoryMachine = MemoryMachine.TestCase
TestMemoryMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
