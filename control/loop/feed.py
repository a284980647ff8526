"""Who is told when a shift changes? Everybody who watches, at once: the store tells the feed, the feed tells them.

A watcher that is slow misses intermediate values, never the last one: a feed carries keys, and a key that waits is
not queued twice.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from control.ports import Store, Stored

ShiftKey = tuple[str, str]
"""Namespace and name of a shift."""


class Subscription:
    """The keys that changed since they were last taken. An async iterator; ends when the feed closes."""

    def __init__(self) -> None:
        self._waiting: dict[ShiftKey, None] = {}
        self._news = asyncio.Event()
        self._closed = False

    def put(self, key: ShiftKey) -> None:
        self._waiting[key] = None
        self._news.set()

    def close(self) -> None:
        self._closed = True
        self._news.set()

    async def __aiter__(self) -> AsyncIterator[ShiftKey]:
        while True:
            while self._waiting:
                key = next(iter(self._waiting))
                del self._waiting[key]
                yield key
            if self._closed:
                return
            self._news.clear()
            await self._news.wait()


class ChangeFeed:
    """Spreads the keys of changed shifts to all subscriptions."""

    def __init__(self) -> None:
        self._subscriptions: set[Subscription] = set()

    def subscribe(self) -> Subscription:
        subscription = Subscription()
        self._subscriptions.add(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        self._subscriptions.discard(subscription)

    def publish(self, key: ShiftKey) -> None:
        for subscription in self._subscriptions:
            subscription.put(key)

    def close(self) -> None:
        """Ends every subscription, so that watches end before the server does."""
        for subscription in self._subscriptions:
            subscription.close()


class ObservedStore:
    """A Store that publishes every change it made."""

    def __init__(self, store: Store, feed: ChangeFeed) -> None:
        self._store = store
        self._feed = feed

    async def load(self, namespace: str, name: str) -> Stored | None:
        return await self._store.load(namespace, name)

    async def list(self, namespace: str | None = None) -> Sequence[Stored]:
        return await self._store.list(namespace)

    async def save(
        self, namespace: str, name: str, *, spec: Mapping[str, Any], state: Mapping[str, Any], expect: int
    ) -> int:
        version = await self._store.save(namespace, name, spec=spec, state=state, expect=expect)
        self._feed.publish((namespace, name))
        return version

    async def delete(self, namespace: str, name: str, *, expect: int) -> None:
        await self._store.delete(namespace, name, expect=expect)
        self._feed.publish((namespace, name))

    async def record(self, namespace: str, name: str, entries: Sequence[Mapping[str, Any]]) -> None:
        await self._store.record(namespace, name, entries)

    async def journal(self, namespace: str, name: str, *, limit: int = 0) -> Sequence[Mapping[str, Any]]:
        return await self._store.journal(namespace, name, limit=limit)
